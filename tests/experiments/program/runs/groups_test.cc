// run --groups: several runs at once, each on a part of the processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/program/runs/file_lock.h"
#include "tests/experiments/resume.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

class Groups : public TinyStudy {
 protected:
  void SetUp() override { study_.replace(study_.find("every = 1"), 9, "every = 1\ntimes = false"); }

  std::vector<std::string> command(int processes,
                                   std::vector<std::string> options,
                                   const char* program = RESIDUUM_PROGRAM) const {
    std::vector<std::string> arguments{RESIDUUM_MPIRUN,
                                       "-n",
                                       std::to_string(processes),
                                       program,
                                       "run",
                                       folder_.write("s.toml", study_).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }
  Finished run_on(int processes, std::vector<std::string> options) const {
    return run_program(command(processes, std::move(options)), folder_.path());
  }
  void set_iterations(int iterations) {
    study_.replace(study_.find("iterations = 40"), 15, fmt::format("iterations = {}", iterations));
  }
  nlohmann::json status_of(const std::filesystem::path& run) const {
    return nlohmann::json::parse(read_text(run / "status.json"));
  }
  /// Folders of runs that have a status.
  std::vector<std::filesystem::path> begun() const {
    std::vector<std::filesystem::path> runs;
    if (std::filesystem::exists(results() / "runs")) {
      for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
        if (std::filesystem::exists(entry.path() / "status.json")) {
          runs.push_back(entry.path());
        }
      }
    }
    return runs;
  }

  std::string study_ = kStudy;
};

TEST_F(Groups, GiveTheSameBytesAsOneRunAfterTheOther) {
  ASSERT_EQ(run(study_, {"--out", "plain"}).code, 0);

  const Finished finished = run_on(5, {"--groups", "2", "--progress=bar"});

  ASSERT_EQ(finished.code, 0) << finished.err;
  for (const char* table : {"iterations.csv", "checks.csv"}) {
    EXPECT_EQ(read_text(results() / table), read_text(folder_.path() / "plain" / table)) << table;
  }
  for (const auto& run : begun()) {
    const auto processes = status_of(run)["processes"].get<int>();
    EXPECT_TRUE(processes == 2 || processes == 3) << processes;
  }
  EXPECT_THAT(finished.err, Not(HasSubstr("\r"))) << "a bar";
  EXPECT_FALSE(std::filesystem::exists(results() / ".next-1-of-1"));
  EXPECT_EQ(finished.err.find("results in"), finished.err.rfind("results in"));

  EXPECT_THAT(run_on(2, {"--groups", "2"}).err, HasSubstr("4 of 4 runs were done before"));
}

TEST_F(Groups, DivideAShardAndMayBeMoreThanItsRuns) {
  EXPECT_EQ(run_on(3, {"--groups", "3", "--shard", "1/2"}).code, 0);
  EXPECT_EQ(run_on(3, {"--groups", "3", "--shard", "2/2"}).code, 0);

  EXPECT_EQ(begun().size(), 4U);
  EXPECT_THAT(run(study_).err, HasSubstr("4 of 4 runs were done before"));
}

TEST_F(Groups, AreNoMoreThanProcessesAndAtLeastOne) {
  const Finished many = run_on(2, {"--groups", "3"});
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err,
              HasSubstr("error: --groups 3 on 2 processes: every group needs one of its "
                        "own, so use mpirun -n 3 or more\n"));
  EXPECT_EQ(many.err.find("error:"), many.err.rfind("error:")) << many.err;

  const Finished alone = run(study_, {"--groups", "2"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--groups 2 on 1 process:"));
  for (const char* groups : {"0", "-1", "1.5", "two"}) {
    const Finished finished = run(study_, {"--groups", groups});
    EXPECT_EQ(finished.code, 2) << groups;
    EXPECT_THAT(finished.err, HasSubstr("--groups: must be a whole number from 1 on"));
  }
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(Groups, OfMoreProcessesThanWorkersAreRefused) {
  const Finished finished = run_on(5, {"--groups", "2", "--set", "workers.count=2"});

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("3 processes for 2 workers"));
}

TEST_F(Groups, GoOnAfterARunThatFailsInOneOfThem) {
  const Finished plan = residuum_program(
      {"plan", folder_.write("s.toml", study_).string(), "--format", "json"}, folder_.path());
  const std::string id = nlohmann::json::parse(plan.out)[1]["run_id"];
  // A folder in the place of the table makes the run fail to write it.
  std::filesystem::create_directories(results() / "runs" / id / "iterations.csv.part" / "x");
  begin_folder();

  const Finished finished = run_on(4, {"--groups", "2"});

  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("run 2 of 4: captured seed=2: failed: cannot write"));
  for (const auto& run : begun()) {
    EXPECT_EQ(status_of(run)["state"], run.filename() == id ? "failed" : "finished");
  }
  EXPECT_EQ(begun().size(), 4U);
}

// The first of four runs diverges while the second waits in the other group, which then must not
// take the third.
TEST_F(Groups, BeginNoRunAfterAFailureInAnotherIfAskedTo) {
  const std::string top_k = "kind = \"top-k\"\nk = 2";
  study_.replace(study_.find(top_k), top_k.size(), "kind = \"faulty\"\nwaits_for = \"go\"");
  const std::string sweep = "\"feedback.putback\" = [\"captured\", \"published\"]";
  study_.replace(study_.find(sweep), sweep.size(), "\"step.value\" = [1e30, 0.2, 0.1, 0.05]");
  study_.replace(study_.find("seeds = 2"), 9, "seeds = 1");
  const Started started(command(2, {"--groups", "2", "--fail-fast"}, RESIDUUM_FAULTY_PROGRAM),
                        folder_.path());
  const auto closed = [&] {
    return begun().size() == 2 && read_text(results() / ".next-1-of-1") == "4";
  };
  for (int tries = 0; tries < 600 && !closed(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(closed());
  folder_.write("go", "");
  const int status = started.wait();

  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3) << read_text(folder_.path() / "captured.err");
  std::vector<std::string> states;
  for (const auto& run : begun()) {
    states.push_back(status_of(run)["state"]);
  }
  EXPECT_THAT(states, testing::UnorderedElementsAre("diverged", "finished"));
}

TEST_F(Groups, StopAllOnASignalAndGoOnLater) {
  set_iterations(100'000'000);
  const auto arguments = command(4, {"--groups", "2", "--progress=none"});
  const Started started(arguments, folder_.path());
  const auto running = [&] { return begun().size() == 2 && started.children().size() == 4; };
  for (int tries = 0; tries < 1200 && !running(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(running());
  for (const pid_t process : started.children()) {
    kill(process, SIGTERM);  // mpirun would answer it itself, with exit code 1
  }
  const int status = started.wait();

  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 75) << read_text(folder_.path() / "captured.err");
  ASSERT_EQ(begun().size(), 2U);
  std::map<std::string, std::string> before;
  for (const auto& run : begun()) {
    EXPECT_EQ(status_of(run)["state"], "interrupted");
    before[run] = status_of(run)["started_utc"];
  }
  // At once out of time: every group does two iterations of the run it takes up.
  EXPECT_EQ(run_on(2, {"--groups", "2", "--time-limit", "0.000001s"}).code, 124);
  for (const auto& [run, started_utc] : before) {
    EXPECT_EQ(status_of(run)["started_utc"], started_utc) << "begun anew";
  }
}

TEST_F(Groups, StopInOrderOnASignalThatComesWhileMpiStarts) {
  ASSERT_EQ(setenv("FAULTY_STOPS_AT_START", "1", 1), 0);
  const Finished finished =
      run_program(command(2, {"--groups", "2"}, RESIDUUM_FAULTY_PROGRAM), folder_.path());
  ASSERT_EQ(unsetenv("FAULTY_STOPS_AT_START"), 0);

  EXPECT_EQ(finished.code, 75) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("stopped on request: the same command goes on from here"));
}

TEST_F(Groups, GoOnToTheSameBytesFromTheTimeLimit) {
  set_iterations(6);
  ASSERT_EQ(run(study_, {"--out", "plain"}).code, 0);
  int stops = 0;
  Finished part;
  do {
    part = run_on(2, {"--groups", "2", "--time-limit", "0.000001s"});
    stops += part.code == 124 ? 1 : 0;
  } while (part.code == 124 && stops < 50);

  ASSERT_EQ(part.code, 0) << part.err;
  EXPECT_GE(stops, 4);  // four runs of six iterations, at most two of them two iterations a start
  EXPECT_EQ(run_tables(results()), run_tables(folder_.path() / "plain"));
}

}  // namespace
}  // namespace residuum
