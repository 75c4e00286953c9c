// A run that diverges is a result of its batch: what it says of itself, and what becomes of the
// others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

// f = sum_j (w_j^2 / 2 - w_j) without noise, from 0: w_t = 1 - (1 - eta)^t in every entry.
const std::string kDivergingStudy = R"(schema = 1
name = "wild"
seeds = 1
[objective]
kind = "quadratic"
dimension = 4
curvature_ratio = 1
noise_variance = 0
heterogeneity = 0
[workers]
count = 4
[budget]
iterations = 2000
[probes]
every = 1
evaluate = 1
[sweep]
"step.value" = [3, 0.5]
)";

class Divergences : public testing::Test {
 protected:
  Finished run(const std::vector<std::string>& options, int processes = 1) const {
    std::vector<std::string> arguments{RESIDUUM_PROGRAM,
                                       "run",
                                       folder_.write("s.toml", kDivergingStudy).string(),
                                       "--progress=lines"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    if (processes > 1) {
      arguments.insert(arguments.begin(), {RESIDUUM_MPIRUN, "-n", std::to_string(processes)});
    }
    return run_program(arguments, folder_.path());
  }

  /// The runs' status.json by their step size.
  std::map<double, Json> statuses(const std::string& results) const {
    std::map<double, Json> found;
    for (const auto& run : std::filesystem::directory_iterator(folder_.path() / results / "runs")) {
      const Json config = Json::parse(read_text(run.path() / "config.json"));
      found[config["config"]["step"]["value"].get<double>()] =
          Json::parse(read_text(run.path() / "status.json"));
    }
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(Divergences, SayWhereAndWhyInTheSameWordsAtAnyNumberOfProcesses) {
  for (const int processes : {1, 3}) {
    const std::string out = "on" + std::to_string(processes);
    const Finished finished = run({"--out", out}, processes);

    EXPECT_EQ(finished.code, 3) << finished.err;
    auto runs = statuses(out);
    EXPECT_EQ(runs[0.5]["state"], "finished");
    EXPECT_FALSE(runs[0.5].contains("diverged"));
    EXPECT_EQ(runs[3]["state"], "diverged");
    // G = -(-2)^t: the sum of four workers' 3 * 2^125 is beyond the largest float, 2^128.
    const std::string message =
        "sum of the workers' messages overflows objective.precision at iteration 125: entry 0 is "
        "inf";
    EXPECT_EQ(runs[3]["message"], message);
    EXPECT_EQ(runs[3]["iterations"], 126);
    EXPECT_EQ(runs[3]["diverged"],
              (Json{{"reason", "sum"},
                    {"iteration", 125},
                    {"layer", "w"},
                    {"index", 0},
                    {"value", "inf"}}));
    EXPECT_THAT(finished.err, HasSubstr(message));
    const auto results = folder_.path() / out;
    EXPECT_THAT(read_text(results / "runs.csv"), HasSubstr(message));
    EXPECT_THAT(read_text(results / "summary.json"), HasSubstr(message));
  }
}

TEST_F(Divergences, IncludeALossAboveTheBound) {
  const Finished finished = run({"--out", "r", "--set", "budget.loss_bound=1e4"});

  EXPECT_EQ(finished.code, 3) << finished.err;
  auto runs = statuses("r");
  EXPECT_EQ(runs[0.5]["state"], "finished");
  EXPECT_EQ(runs[3]["state"], "diverged");
  // f(w_t) = 2 (4^t - 1).
  EXPECT_EQ(runs[3]["message"], "loss 32766 at iteration 7 is above the bound 10000");
  EXPECT_EQ(runs[3]["diverged"], (Json{{"reason", "loss"}, {"iteration", 7}, {"value", 32766.0}}));

  // Its rows stand, and it is not made again.
  const auto again = run({"--out", "r", "--set", "budget.loss_bound=1e4"});
  EXPECT_EQ(again.code, 3);
  EXPECT_THAT(again.err, HasSubstr("2 of 2 runs were done before"));
  const std::string table = read_text(folder_.path() / "r" / "iterations.csv");
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = table.find("quadratic-", at)) != std::string::npos; ++at) {
    ++rows;
  }
  EXPECT_EQ(rows, 2000U + 7U);
}

// In float64 the gap is 16 digits below the iterate's steps, and the quotient of their squares less
// than any double.
TEST_F(Divergences, BreakNoInvariantOnTheirWayToTheLargestNumbers) {
  const Finished finished = run({"--out", "r", "--set", "objective.precision=float64"});

  EXPECT_EQ(finished.code, 3) << finished.err;
  // (-2)^t: 2^495 is 1.02e149.
  EXPECT_EQ(statuses("r")[3]["message"],
            "model is too large to be measured at iteration 495: entry 0 is 1.02293e+149");
}

TEST_F(Divergences, AreNotAskedForByABoundThatCannotBeMeant) {
  for (const auto& [bound, message] :
       {std::pair("-1", "'budget.loss_bound' at --set must be positive, got -1"),
        std::pair("0", "must be positive, got 0"),
        std::pair("nan", "must be a finite number, got nan"),
        std::pair("\"L\"", "must be a finite number")}) {
    const Finished finished =
        run({"--out", "r", "--set", std::string("budget.loss_bound=") + bound});

    EXPECT_EQ(finished.code, 2) << bound;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "r"));
  }
}

}  // namespace
}  // namespace residuum
