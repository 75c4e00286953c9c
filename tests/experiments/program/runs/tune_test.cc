// A tuned study from its file to its tables. On f(w) = (lambda/2) w^2 gradient descent with step
// eta multiplies w by 1 - eta lambda, so that f falls by (1 - eta lambda)^2 in an iteration, and
// grows where eta is above 2/lambda.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kIterations = 10;
const std::vector<double> kSteps{0.01, 0.03, 0.1, 0.3, 0.8};

/// Two methods: lambda = 2 with the best step 0.3 of kSteps, and lambda = 20 with 0.03.
const std::string kTwoCurvatures = R"(schema = 1
name = "tuned"
seeds = 3
[objective]
kind = "matrix-quadratic"
minimizers = [0.0]
start = [1.0]
precision = "float64"
[workers]
count = 1
[budget]
iterations = 10
loss_bound = 1000
[probes]
names = []
times = false
[sweep]
"objective.matrix" = [[[2.0]], [[20.0]]]
[tune]
"step.value" = [0.01, 0.03, 0.1, 0.3, 0.8]
seeds = [11, 12]
)";

/// Logistic regression on drawn batches: seeds differ, and runs are long enough to be killed.
const std::string kNoisyStudy = R"(schema = 1
name = "tuned"
seeds = 3
[objective]
kind = "logistic"
rows = 200
features = 20
[workers]
count = 4
batch = 8
[sparsifier]
kind = "top-k"
k = 2
[budget]
iterations = 1500
[probes]
names = ["delta"]
every = 50
times = false
[sweep]
"aggregator.kind" = ["gtopk-tree", "allgather"]
[tune]
"step.value" = "log:0.01..1:3"
)";

double loss_at(double lambda, double step) {
  return lambda / 2 * std::pow(1 - step * lambda, 2 * kIterations);
}

class TunedRuns : public testing::Test {
 protected:
  Finished run(const std::string& study, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{"run", folder_.write("s.toml", study).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return residuum_program(arguments, folder_.path());
  }
  std::filesystem::path results(const std::string& name = "results/tuned") const {
    return folder_.path() / name;
  }
  nlohmann::json summary(const std::string& name = "results/tuned") const {
    return nlohmann::json::parse(read_text(results(name) / "summary.json"));
  }
  nlohmann::json tuning(std::size_t method) const {
    return summary().at("tuning").at("methods").at(method);
  }
  /// The tables that must be the same however a study was made.
  std::map<std::string, std::string> tables(const std::string& name = "results/tuned") const {
    std::map<std::string, std::string> all;
    for (const char* table : {"iterations.csv", "checks.csv", "tuning.csv"}) {
      all[table] = read_text(results(name) / table);
    }
    all["tuning"] = summary(name).at("tuning").dump();
    all["groups"] = std::to_string(summary(name).at("groups").size());
    return all;
  }
  std::size_t runs_made(const std::string& name = "results/tuned") const {
    std::size_t runs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(results(name) / "runs")) {
      runs += std::filesystem::exists(entry.path() / "iterations.csv") ? 1U : 0U;
    }
    return runs;
  }
  /// Starts a study and kills it once `ended` of its runs have ended; returns how many had.
  std::size_t kill_after(const std::string& study, std::size_t ended) const {
    const std::string file = folder_.write("s.toml", study).string();
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.path().c_str()) == 0) {
        execl(RESIDUUM_PROGRAM, RESIDUUM_PROGRAM, "run", file.c_str(), "--progress=none", nullptr);
      }
      _exit(127);
    }
    for (int tries = 0; tries < 60000; ++tries) {
      if (std::filesystem::exists(results() / "runs") && runs_made() >= ended) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return runs_made();
  }
  TemporaryFolder folder_;
};

TEST_F(TunedRuns, RunsEachMethodAtTheStepThatIsBestByHand) {
  const auto finished = run(kTwoCurvatures);

  ASSERT_EQ(finished.code, 0) << finished.err;
  const std::vector<double> lambdas{2, 20};
  const std::vector<double> best{0.3, 0.03};
  for (std::size_t method = 0; method < 2; ++method) {
    const auto found = tuning(method);
    EXPECT_EQ(found.at("best").at("values").at("step.value"), best[method]);
    ASSERT_EQ(found.at("levels").size(), kSteps.size());
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      const double loss = loss_at(lambdas[method], kSteps[i]);
      const auto& level = found.at("levels").at(i);
      const bool diverges = kSteps[i] > 2 / lambdas[method];
      EXPECT_EQ(level.at("diverged_or_missed"), diverges ? 2 : 0) << kSteps[i];
      if (!diverges) {
        EXPECT_NEAR(level.at("mean").get<double>() / loss, 1, 1e-9) << kSteps[i];
      }
    }
    EXPECT_FALSE(found.at("at_edge"));
    const auto group = summary().at("groups").at(method);
    EXPECT_NEAR(group.at("metrics").at("final_loss").at("mean").get<double>() /
                    loss_at(lambdas[method], best[method]),
                1,
                1e-9);
  }
  EXPECT_THAT(finished.out, HasSubstr(" runs at step.value = 0.03, tuned by loss: "));
  EXPECT_EQ(runs_made(), 2 * 5 * 2 + 2 * 3);
}

// The numbers of a method are of the study's own seeds: tuning runs stand in tuning.csv alone.
TEST_F(TunedRuns, KeepsTuningRunsOutOfEveryNumber) {
  ASSERT_EQ(run(kTwoCurvatures).code, 0);

  const auto all = summary();
  EXPECT_EQ(all.at("counts").at("runs"), 6);
  EXPECT_EQ(all.at("counts").at("diverged"), 0);
  for (const auto& group : all.at("groups")) {
    EXPECT_EQ(group.at("seeds"), 3);
    EXPECT_EQ(group.at("metrics").at("final_loss").at("n"), 3);
  }
  const std::string runs = read_text(results() / "runs.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 1 + 6);
  EXPECT_THAT(runs, HasSubstr(",tuned_step_value,tuned_on\n"));
  EXPECT_THAT(runs,
              HasSubstr(",0.3,\"loss, seeds 11 12, step.value of 5 values from 0.01 to 0.8\"\n"));
  const std::string tuning = read_text(results() / "tuning.csv");
  EXPECT_EQ(std::count(tuning.begin(), tuning.end(), '\n'), 1 + 2 * 5 * 2);
  EXPECT_THAT(tuning, HasSubstr(",0.8,1,12,diverged,,1,0\n"));
  EXPECT_THAT(read_text(results() / "datapackage.json"), HasSubstr("tuning.csv"));
  for (const auto& run :
       nlohmann::json::parse(read_text(results() / "study.resolved.json")).at("tuning_runs")) {
    const auto id = run.get<std::string>();
    EXPECT_THAT(tuning, HasSubstr(id));
    for (const char* table : {"runs.csv", "iterations.csv", "checks.csv"}) {
      EXPECT_THAT(read_text(results() / table), Not(HasSubstr(id))) << table;
    }
  }
}

TEST_F(TunedRuns, ShowsTheCurveAndWarnsAtTheEdge) {
  std::string text = kTwoCurvatures;
  text.replace(text.find("[0.01, 0.03, 0.1, 0.3, 0.8]"), 27, "[0.01, 0.03]");
  const auto finished = run(text);
  ASSERT_EQ(finished.code, 0);
  EXPECT_THAT(finished.err,
              HasSubstr("warning: the best step.value of objective.matrix=[[2.0]], 0.03, is the "
                        "largest that was tried: larger ones may be better"));

  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  const std::string page = read_text(results() / "report.html");
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"tuning\""), HasSubstr("Warning:"), HasSubstr("chosen")));
  EXPECT_THAT(read_text(results() / "figures/tuning-1.csv"), HasSubstr("0.03,"));
  EXPECT_THAT(read_text(results() / "tables/tuning.csv"), HasSubstr(",yes\n"));
}

// From 0.01 and 0.02 on, 0.64 contracts most of the doubled steps for lambda = 2: by 0.28.
TEST_F(TunedRuns, GoesOnPastTheGridToTheBest) {
  std::string text = kTwoCurvatures;
  text.replace(text.find("[0.01, 0.03, 0.1, 0.3, 0.8]"), 27, "[0.01, 0.02]");
  text.replace(text.find("[[[2.0]], [[20.0]]]"), 19, "[[[2.0]]]");
  ASSERT_EQ(run(text + "extend = true\nextend_by = 8\n").code, 0);
  EXPECT_EQ(tuning(0).at("best").at("values").at("step.value"), 0.64);
  EXPECT_FALSE(tuning(0).at("at_edge"));
  EXPECT_EQ(tuning(0).at("levels").size(), 8) << "up to 1.28, which diverges";

  const auto short_of_it = run(text + "extend = true\nextend_by = 3\n");
  EXPECT_EQ(tuning(0).at("best").at("values").at("step.value"), 0.16);
  EXPECT_TRUE(tuning(0).at("at_edge"));
  EXPECT_THAT(short_of_it.err, HasSubstr("larger ones may be better"));
}

// Five values run for 3 of 10 iterations, the better three for 5, and the better two for all. f
// falls by a constant factor, so the order is the same in every round.
TEST_F(TunedRuns, HalvesTheValuesOnGrowingBudgets) {
  const auto finished = run(kTwoCurvatures + "halving = 2\n");

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(runs_made(), 2 * (5 + 3 + 2) * 2 + 2 * 3);
  const std::vector<double> best{0.3, 0.03};
  for (std::size_t method = 0; method < 2; ++method) {
    const auto found = tuning(method);
    EXPECT_EQ(found.at("best").at("values").at("step.value"), best[method]);
    EXPECT_EQ(found.at("best").at("budget_share"), 1);
    EXPECT_EQ(found.at("left_out"), 3);
    EXPECT_EQ(found.at("levels").at(0).at("budget_share"), 0.25);
  }
  // lambda = 2, step 0.1, after ceil(10/4) iterations
  EXPECT_NEAR(tuning(0).at("levels").at(2).at("mean").get<double>() / std::pow(0.8, 6), 1, 1e-9);
  EXPECT_THAT(finished.out, HasSubstr("; halving left out 3 values on a part of the budget, "));
  EXPECT_THAT(read_text(results() / "tuning.csv"), HasSubstr(",0.25,11,"));

  const auto plan =
      residuum_program({"plan", (folder_.path() / "s.toml").string()}, folder_.path());
  EXPECT_THAT(plan.out, HasSubstr("tuning: 40 runs, 0 to do"));
  std::filesystem::remove_all(results());
  const auto before =
      residuum_program({"plan", (folder_.path() / "s.toml").string()}, folder_.path());
  EXPECT_THAT(before.out, HasSubstr("tuning: 20 runs, 20 to do"));
  EXPECT_THAT(before.out, HasSubstr("in later rounds of halving: at most 20 further tuning runs"));
}

TEST_F(TunedRuns, GoesOnWithHalvingAfterAKill) {
  const std::string study = kNoisyStudy + "halving = 2\n";
  ASSERT_EQ(run(study, {"--out", "whole"}).code, 0);
  ASSERT_GE(kill_after(study, 5), 5U);
  ASSERT_EQ(run(study).code, 0);
  EXPECT_EQ(tables(), tables("whole"));
}

// All steps above 1 diverge for lambda = 2; of values that are equally bad it goes to smaller ones.
TEST_F(TunedRuns, GoesDownWhereEveryStepDiverges) {
  std::string text = kTwoCurvatures;
  text.replace(text.find("[0.01, 0.03, 0.1, 0.3, 0.8]"), 27, "[3.2, 6.4]");
  text.replace(text.find("[[[2.0]], [[20.0]]]"), 19, "[[[2.0]]]");
  text.replace(text.find("loss_bound = 1000"), 17, "loss_bound = 1.5");
  ASSERT_EQ(run(text + "extend = true\n").code, 0);
  EXPECT_EQ(tuning(0).at("best").at("values").at("step.value"), 0.4);
  EXPECT_FALSE(tuning(0).at("at_edge"));
}

TEST_F(TunedRuns, ChoosesByWhatIsSpentUntilATarget) {
  // f is below 1e-3 after t iterations with 0.4^(2t) < 1e-3 at 0.3, and later at the others.
  std::string text = kTwoCurvatures + "quantity = \"iterations\"\ntarget = 1e-3\n";
  text.replace(text.find("names = []"), 10, "names = [\"delta\"]");
  ASSERT_EQ(run(text).code, 0);
  const auto best = tuning(0).at("best");
  EXPECT_EQ(best.at("values").at("step.value"), 0.3);
  EXPECT_EQ(best.at("mean"), 4);
  EXPECT_EQ(tuning(0).at("levels").at(0).at("diverged_or_missed"), 2) << "0.98^20 misses it";
}

TEST_F(TunedRuns, GoesOnAfterAKillInEitherPhase) {
  ASSERT_EQ(run(kNoisyStudy, {"--out", "whole"}).code, 0);
  const auto whole = tables("whole");
  const std::size_t tuning_runs = 2 * 3 * 2;
  for (const std::size_t ended : {std::size_t{3}, tuning_runs + 2}) {
    std::filesystem::remove_all(results());
    const std::size_t found = kill_after(kNoisyStudy, ended);
    ASSERT_GE(found, ended);
    ASSERT_LT(found, tuning_runs + 2 * 3) << "it was to be killed before its end";

    const auto finished = run(kNoisyStudy);

    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(tables(), whole) << "killed after " << found;
  }
}

TEST_F(TunedRuns, StopsInTheTuningWithTablesThatSaySo) {
  const auto stopped = run(kNoisyStudy, {"--time-limit", "0.001"});
  EXPECT_EQ(stopped.code, 124) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("gtopk-tree is not tuned yet"));
  EXPECT_FALSE(summary().at("tuning").at("over"));
  EXPECT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  const auto watched = residuum_program({"watch", results().string(), "--once"}, folder_.path());
  EXPECT_EQ(watched.code, 0) << watched.err;
  EXPECT_THAT(watched.out, HasSubstr("tuning: "));
}

TEST_F(TunedRuns, HasTheTablesOfOneFromTwoShards) {
  ASSERT_EQ(run(kNoisyStudy, {"--out", "whole"}).code, 0);

  const auto first = run(kNoisyStudy, {"--shard", "1/2"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("it needs runs of other shares"));
  ASSERT_EQ(run(kNoisyStudy, {"--shard", "2/2"}).code, 0);
  const auto again = run(kNoisyStudy, {"--shard", "1/2"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("it needs runs of other shares")));

  EXPECT_EQ(tables(), tables("whole"));
}

TEST_F(TunedRuns, HasTheSameTablesOnProcessesAndInGroups) {
  ASSERT_EQ(run(kNoisyStudy, {"--out", "whole"}).code, 0);
  const auto file = folder_.write("s.toml", kNoisyStudy).string();
  const auto grouped = run_program({RESIDUUM_MPIRUN,
                                    "-n",
                                    "2",
                                    RESIDUUM_PROGRAM,
                                    "run",
                                    file,
                                    "--out",
                                    "groups",
                                    "--groups",
                                    "2"},
                                   folder_.path());
  ASSERT_EQ(grouped.code, 0) << grouped.err;
  EXPECT_EQ(tables("groups"), tables("whole"));

  const auto verified = residuum_program({"verify", file, "--ranks", "1,2"}, folder_.path());
  EXPECT_EQ(verified.code, 0) << verified.err << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("PASS"));
}

// Shares that lie in folders of their own are joined: what each has not seen, the report chooses.
TEST_F(TunedRuns, IsChosenAnewFromTheFoldersOfTwoShares) {
  ASSERT_EQ(run(kNoisyStudy, {"--out", "whole"}).code, 0);
  for (const std::string share : {"1/2", "2/2"}) {
    const std::string out = share.substr(0, 1);
    ASSERT_EQ(run(kNoisyStudy, {"--shard", share, "--out", out}).code, 0);
    EXPECT_FALSE(summary(out).at("tuning").at("over"));
  }

  const auto joined = residuum_program(
      {"report", results("1").string(), results("2").string(), "--out", "both"}, folder_.path());

  ASSERT_EQ(joined.code, 0) << joined.err;
  EXPECT_EQ(summary("both").at("tuning"), summary("whole").at("tuning"));
  EXPECT_EQ(read_text(results("both") / "tuning.csv"), read_text(results("whole") / "tuning.csv"));
}

TEST_F(TunedRuns, AreNotJoinedWithRunsThatWereTunedOtherwise) {
  ASSERT_EQ(run(kTwoCurvatures, {"--out", "one"}).code, 0);
  std::string other = kTwoCurvatures;
  other.replace(other.find("seeds = [11, 12]"), 16, "seeds = [11, 13]");
  ASSERT_EQ(run(other, {"--out", "other"}).code, 0);

  const auto joined = residuum_program(
      {"report", results("one").string(), results("other").string(), "--out", "both"},
      folder_.path());

  EXPECT_EQ(joined.code, 2);
  EXPECT_THAT(joined.err, HasSubstr("are tuned by different plans; report each by itself"));
}

TEST_F(TunedRuns, AreKeptWithTheRunsThatTuned) {
  std::string text = kTwoCurvatures;
  text.replace(text.find("names = []"), 10, "names = [\"delta\"]");
  ASSERT_EQ(run(text).code, 0);
  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  const auto kept = folder_.path() / "kept";

  const auto finished =
      residuum_program({"keep", results().string(), kept.string()}, folder_.path());

  ASSERT_EQ(finished.code, 0) << finished.err;
  const std::string tuning = read_text(kept / "tuning.csv");
  EXPECT_EQ(std::count(tuning.begin(), tuning.end(), '\n'), 1 + 2 * 5 * 2);
  const std::string runs = read_text(kept / "runs.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 1 + 6);
  EXPECT_THAT(runs, HasSubstr("tuned_step_value"));
}

TEST_F(TunedRuns, IsPlannedWithTuningAndFinalRunsApart) {
  const auto file =
      folder_.write("s.toml", kNoisyStudy + "extend = true\nextend_by = 1\n").string();
  const auto plan = residuum_program({"plan", file}, folder_.path());
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("tuning: 12 runs, 12 to do: 72000 worker-iterations\n"));
  EXPECT_THAT(plan.out,
              HasSubstr("at the best values: 6 runs, 6 to do: 36000 worker-iterations; 2 of 2 "
                        "methods have no best value yet\n"));
  EXPECT_THAT(plan.out, HasSubstr("past the edges of the grid: at most 8 further tuning runs"));

  const auto slurm = residuum_program({"plan", file, "--format", "slurm"}, folder_.path());
  EXPECT_EQ(slurm.code, 0) << slurm.err;
  EXPECT_THAT(slurm.out, HasSubstr("sbatch --parsable --dependency=\"afterany:${job%%;*}\""));
  const auto parallel = residuum_program({"plan", file, "--format", "parallel"}, folder_.path());
  EXPECT_EQ(parallel.code, 2);
  EXPECT_THAT(parallel.err, HasSubstr("runs at the best values begin when the tuning has ended"));
}

TEST_F(TunedRuns, ArePlannedAsDoneAndComparedWithThemselves) {
  ASSERT_EQ(run(kTwoCurvatures).code, 0);
  const auto plan =
      residuum_program({"plan", (folder_.path() / "s.toml").string()}, folder_.path());
  EXPECT_THAT(plan.out, HasSubstr("tuning: 20 runs, 0 to do"));
  EXPECT_THAT(plan.out, HasSubstr("at the best values: 6 runs, 0 to do: 0 worker-iterations\n"));
  const auto compared =
      residuum_program({"compare", results().string(), results().string()}, folder_.path());
  EXPECT_EQ(compared.code, 0) << compared.err;
  const auto watched = residuum_program({"watch", results().string()}, folder_.path());
  EXPECT_EQ(watched.code, 0) << "nothing is left to wait for" << watched.err;
}

TEST_F(TunedRuns, SaysWhichTuningRunFailedAndMakesItAgain) {
  ASSERT_EQ(run(kTwoCurvatures).code, 0);
  const auto before = tables();
  const auto ids =
      nlohmann::json::parse(read_text(results() / "study.resolved.json")).at("tuning_runs");
  const auto folder = results() / "runs" / ids.at(1).get<std::string>();
  std::filesystem::remove_all(folder);
  std::ofstream(folder) << "in the way";

  const auto failed = run(kTwoCurvatures);
  EXPECT_EQ(failed.code, 3) << failed.err;
  EXPECT_THAT(failed.out,
              HasSubstr("is not tuned: the run at step.value = 0.01 with seed 12 failed"));

  std::filesystem::remove(folder);
  EXPECT_EQ(run(kTwoCurvatures).code, 0);
  EXPECT_EQ(tables(), before);
}

}  // namespace
}  // namespace residuum
