// A network whose gradients are exchanged at low rank, as a user runs, checks and misuses it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/tables/csv_reader.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using reports::CsvReader;
using testing::HasSubstr;

const std::string kLowRankStudy = R"(schema = 1
name = "low-rank"
[objective]
kind = "lenet"
data = "synthetic-images"
rows = 60
[workers]
count = 3
batch = 4
[aggregator]
kind = "powersgd"
[step]
value = 0.02
[budget]
iterations = 6
[probes]
times = false
every = 1
full_gradient = false
layers = "all"
[network]
model = "1gbe"
[sweep]
"feedback.kind" = ["ef14", "ef21"]
)";

class LowRankRun : public testing::Test {
 protected:
  void SetUp() override { folder_.write("s.toml", kLowRankStudy); }
  Finished call(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }
  std::filesystem::path results() const { return folder_.path() / "results" / "low-rank"; }

  TemporaryFolder folder_;
};

// Rank 2 takes 2 (6 + 25), 2 (16 + 150), 2 (120 + 400), 2 (84 + 120) and 2 (10 + 84) numbers for
// the five matrices of LeNet-5; the biases have 6 + 16 + 120 + 84 + 10. Three workers in a chain
// send each number 4 times, in two sums of 4 rounds.
TEST_F(LowRankRun, SendsTwoFactorsOfEachMatrixAndTheBiases) {
  const Finished run = call({"run", "s.toml", "--progress=none"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("PASS"));

  CsvReader rows(results() / "iterations.csv");
  std::size_t count = 0;
  for (; rows.next(); ++count) {
    const auto number = [&](const char* name) { return rows.number(rows.column(name)).value(); };
    EXPECT_EQ(number("uplink_bytes"), 4 * (62 + 332 + 1040 + 408 + 188 + 236) * 4.0);
    EXPECT_EQ(number("rounds"), 8);
    EXPECT_EQ(number("lost_mass_norm_sq"), 0);
    EXPECT_GT(number("captured_energy"), 0.01);
    EXPECT_LT(number("captured_energy"), 1);
    EXPECT_FALSE(rows.number(rows.column("delta")).has_value()) << "no k applies";
  }
  EXPECT_EQ(count, 12U);
  CsvReader checks(results() / "checks.csv");
  std::size_t exact = 0;
  while (checks.next()) {
    const std::string name(checks.text(checks.column("check")));
    if (name == "lost-mass" || name == "conservation" || name == "bytes") {
      ++exact;
      EXPECT_EQ(checks.text(checks.column("holds")), "1") << name;
    }
  }
  EXPECT_EQ(exact, 3U * 12);
}

TEST_F(LowRankRun, IsTheSameAtAnyNumberOfProcesses) {
  const Finished verify = call({"verify", "s.toml", "--ranks", "1,2,3"});
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("PASS"));
}

TEST_F(LowRankRun, RefusesASelectionAQuantiserMaskingAndLateGradientsInOneLine) {
  const auto refused = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> words{"plan", "s.toml"};
    for (const auto& setting : settings) {
      words.insert(words.end(), {"--set", setting});
    }
    const Finished plan = call(words);
    EXPECT_EQ(plan.code, 2);
    EXPECT_EQ(std::count(plan.err.begin(), plan.err.end(), '\n'), 1) << plan.err;
    return plan.err;
  };
  EXPECT_THAT(refused({"sparsifier.kind=top-k", "sparsifier.k=3"}),
              HasSubstr("'sparsifier.kind' at --set: aggregator 'powersgd' compresses whole "
                        "accumulators itself"));
  EXPECT_THAT(refused({"quantiser.kind=sign"}), HasSubstr("sums messages on their way"));
  EXPECT_THAT(refused({"feedback.kind=dgc"}), HasSubstr("take the masking out"));
  EXPECT_THAT(refused({"protocol.kind=asp"}), HasSubstr("each message is applied whole"));
}

TEST_F(LowRankRun, IsNothingToInspectOrFalsify) {
  const auto found = call({"falsify",
                           "--aggregator",
                           "gtopk-exact",
                           "--workers",
                           "2",
                           "--k",
                           "1",
                           "--dim",
                           "3",
                           "--evaluations",
                           "10",
                           "--out",
                           "w.npy"});
  ASSERT_NE(found.code, 2) << found.err;
  const std::string line =
      "error: aggregator 'powersgd' approximates whole accumulators layer by layer, and vectors "
      "that are given have no layers; use `residuum run` with a network\n";
  const auto inspected = call({"inspect", "w.npy", "--aggregator", "powersgd", "--k", "1"});
  EXPECT_EQ(inspected.code, 2);
  EXPECT_EQ(inspected.err, line);
  const auto falsified =
      call({"falsify", "--aggregator", "powersgd", "--workers", "2", "--k", "1", "--dim", "3"});
  EXPECT_EQ(falsified.code, 2);
  EXPECT_EQ(falsified.err, line);
}

}  // namespace
}  // namespace residuum
