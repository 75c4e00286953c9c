// A network whose gradients are exchanged at low rank, as a user runs, checks and misuses it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/results/csv.h"
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
  void SetUp() override {
    RESIDUUM_NEEDS_NETWORKS();
    folder_.write("s.toml", kLowRankStudy);
  }
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
    EXPECT_EQ(number("sent_bytes"), 4 * (62 + 332 + 1040 + 408 + 188 + 236) * 4.0);
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

// The accumulators are u v^T and 2 u v^T with u = (1, 2, 3) and v = (1, 0, -1, 2), so that their
// sum has rank 1 and nothing is left. Up and down the chain of two workers go 3 and 4 float32
// numbers.
TEST_F(LowRankRun, IsInspectedOnMatrices) {
  folder_.write("a.csv",
                "1,0,-1,2,2,0,-2,4,3,0,-3,6\n"
                "2,0,-2,4,4,0,-4,8,6,0,-6,12\n");
  const auto inspected = call({"inspect",
                               "a.csv",
                               "--aggregator",
                               "powersgd",
                               "--rows",
                               "3",
                               "--rank",
                               "1",
                               "--json",
                               "--entries"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  const auto json = nlohmann::json::parse(inspected.out);
  EXPECT_EQ(json["sent_bytes"], 2 * (3 + 4) * 4);
  EXPECT_LT(json["contraction"].get<double>(), 1e-30);
  EXPECT_TRUE(json["delta"].is_null());
  EXPECT_TRUE(json["k"].is_null());
  const std::vector<double> sum{3, -3, 6, 6, -6, 12, 9, -9, 18};  // without zeros
  ASSERT_EQ(json["update"].size(), sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(json["update"][i].get<double>(), sum[i], 1e-13);
  }
}

// P P^T projects, so that the gap cannot grow; it stays as it is where P is orthogonal to the sum.
TEST_F(LowRankRun, IsSearchedForCounterexamples) {
  const auto searched = call({"falsify",
                              "--aggregator",
                              "powersgd",
                              "--workers",
                              "2",
                              "--dim",
                              "12",
                              "--rows",
                              "3",
                              "--rank",
                              "1",
                              "--against",
                              "contraction",
                              "--out",
                              "w.npy",
                              "--evaluations",
                              "2000"});
  ASSERT_EQ(searched.code, 0) << searched.err;
  const auto json = nlohmann::json::parse(searched.out);
  EXPECT_TRUE(json["k"].is_null());
  EXPECT_GT(json["worst"].get<double>(), 0.5);
  EXPECT_LE(json["worst"].get<double>(), 1 + 1e-12);
  const auto inspected = call(
      {"inspect", "w.npy", "--aggregator", "powersgd", "--rows", "3", "--rank", "1", "--json"});
  EXPECT_EQ(nlohmann::json::parse(inspected.out)["contraction"], json["worst"]);
}

TEST_F(LowRankRun, SaysWhichMatricesItTakes) {
  folder_.write("a.csv", "1,0,-1,2,2,0,-2,4,3,0,-3,6\n");
  const auto complaint = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"inspect", "a.csv", "--aggregator"});
    const auto finished = call(options);
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  EXPECT_THAT(complaint({"powersgd"}), HasSubstr("say with --rows how many rows they have"));
  EXPECT_THAT(complaint({"powersgd", "--rows", "5"}), HasSubstr("must divide the 12 entries"));
  EXPECT_THAT(complaint({"powersgd", "--rows", "3", "--rank", "2"}), HasSubstr("at most 1"));
  EXPECT_THAT(complaint({"powersgd", "--rows", "3", "--k", "1"}), HasSubstr("sends no entries"));
  EXPECT_THAT(complaint({"gtopk-tree", "--rows", "3", "--k", "1"}), HasSubstr("--rows goes with"));
  EXPECT_THAT(complaint({"gtopk-tree", "--rank", "1", "--k", "1"}), HasSubstr("--rank goes with"));
  EXPECT_THAT(complaint({"powersgd", "--rows", "12"}), HasSubstr("into a matrix"));
  const auto searched = call({"falsify",
                              "--aggregator",
                              "powersgd",
                              "--workers",
                              "2",
                              "--dim",
                              "12",
                              "--rows",
                              "3",
                              "--against",
                              "delta"});
  EXPECT_EQ(searched.code, 2);
  EXPECT_THAT(searched.err, HasSubstr("compares with random entries"));
}

}  // namespace
}  // namespace residuum
