// Overlap of messages and gradients as a user gets it: the tables of a network's run, and refused
// studies.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

// The layers have 1568, 2, 20 and 10 of 1600 numbers, whose ring takes two rounds of 3200 bytes.
constexpr const char* kOverlapStudy = R"(schema = 1
name = "overlap"
[objective]
kind = "mlp"
data = "synthetic-images"
hidden = [2]
train_samples = 100
[workers]
count = 2
batch = 4
[protocol]
compute = 100
[aggregator]
kind = "dense"
algorithm = "ring"
[step]
value = 0.1
[budget]
iterations = 3
[probes]
times = false
every = 1
[network]
model = {{ name = "line", alpha_s = 0.5, beta_s_per_byte = 0.01 }}
overlap = "{}"
{}
)";
const std::string kLayerTimes = "layer_times = [1, 1, 0.5, 0.5]\n";

class OverlapRuns : public testing::Test {
 protected:
  void SetUp() override { RESIDUUM_NEEDS_NETWORKS(); }
  Finished run(const std::string& rule,
               const std::string& sections,
               std::vector<std::string> options = {}) const {
    folder_.write("s.toml", fmt::format(kOverlapStudy, rule, sections));
    options.insert(options.begin(), {"run", "s.toml", "--progress=none"});
    return residuum_program(options, folder_.path());
  }
  std::filesystem::path table(const std::string& name) const {
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_.path() / "results" / "overlap" / "runs")) {
      return entry.path() / name;
    }
    return {};
  }
  std::vector<double> column(const std::string& of_table, std::string_view name) const {
    reports::CsvReader rows(table(of_table));
    std::vector<double> values;
    while (rows.next()) {
      values.push_back(std::stod(rows.text(rows.column(name))));
    }
    return values;
  }

  TemporaryFolder folder_;
};

// In one exchange: 100 + 2 (0.5 + 32). Layer by layer, from 50 s on: 1.4 s for the last layer, 1.8
// for the one before; from 100 s on 1.08 and 63.72. Merged, the last two wait for each other, and
// so do the first two, which take 2 (0.5 + 31.4).
TEST_F(OverlapRuns, TellTheTimesOfTheSchedulesByHand) {
  const std::vector<std::pair<std::string, double>> rules{
      {"none", 165}, {"wfbp", 164.8}, {"merged", 163.8}};
  for (const auto& [rule, seconds] : rules) {
    std::filesystem::remove_all(folder_.path() / "results");
    const Finished finished = run(rule, kLayerTimes);
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto each = column("networks.csv", "iteration_s");
    ASSERT_EQ(each.size(), 3U);
    for (std::size_t t = 0; t < each.size(); ++t) {
      EXPECT_NEAR(each[t], seconds, 1e-9) << rule;
      EXPECT_NEAR(column("networks.csv", "compute_s")[t] + column("networks.csv", "wire_s")[t],
                  column("iterations.csv", "virtual_s")[t],
                  1e-9);
    }
    EXPECT_EQ(std::filesystem::exists(table("overlap.csv")), rule != "none");
    if (rule != "none") {
      const double exchanges = rule == "wfbp" ? 4 : 2;
      EXPECT_EQ(column("overlap.csv", "exchanges"), std::vector<double>(3, exchanges));
      EXPECT_EQ(column("layer_times.csv", "ready"), (std::vector<double>{1, 1, 0.5, 0.5}));
    }
  }
}

TEST_F(OverlapRuns, MeasureTheLayersWhereTheirTimesAreNotGiven) {
  ASSERT_EQ(run("wfbp", "").code, 0);
  const auto ready = column("layer_times.csv", "ready");
  ASSERT_EQ(ready.size(), 4U);
  for (const double fraction : ready) {
    EXPECT_GT(fraction, 0);
    EXPECT_LE(fraction, 1);
  }
  EXPECT_LT(ready[3], ready[0]) << "back-propagation has the last layer first";
  for (const double seconds : column("networks.csv", "iteration_s")) {
    EXPECT_GT(seconds, 100) << "the gradient alone";
    EXPECT_LT(seconds, 100 + 68) << "all exchanges at the end";
  }
  reports::CsvReader rows(table("iterations.csv"));
  while (rows.next()) {
    EXPECT_EQ(rows.text(rows.column("virtual_s")), "") << "times = false, and these were measured";
  }
}

TEST_F(OverlapRuns, ThatCannotBeAreRefusedWithACure) {
  const Finished finished = run("merged", "[sparsifier]\nkind = \"top-k\"\nk = 5\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("'network.overlap' at s.toml:"));
  EXPECT_THAT(finished.err, HasSubstr("set sparsifier.scope = \"layer\""));
}

}  // namespace
}  // namespace residuum
