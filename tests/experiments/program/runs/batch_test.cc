// Studies of many runs: failures, shards, locks, and being stopped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "experiments/program/runs/file_lock.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

class Batch : public TinyStudy {};

TEST_F(Batch, StopsOnASignalAndGoesOnLater) {
  std::string endless = kStudy;
  endless.replace(endless.find("iterations = 40"), 15, "iterations = 300000");
  const std::string file = folder_.write("s.toml", endless).string();
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder_.path().c_str()) == 0) {
      execl(RESIDUUM_PROGRAM, RESIDUUM_PROGRAM, "run", file.c_str(), "--progress=none", nullptr);
    }
    _exit(127);
  }
  // The signal is sent once the first run has begun; the wait is bounded.
  for (int tries = 0; tries < 600 && !std::filesystem::exists(results() / "runs"); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(child, SIGUSR1);
  int status = 0;
  waitpid(child, &status, 0);

  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 75);
  for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
    EXPECT_FALSE(std::filesystem::exists(entry.path() / "iterations.csv"));
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "checkpoint"));
  }
}

TEST_F(Batch, ShardsDoTheStudyBetweenThem) {
  const Finished first = run(kStudy, {"--shard", "1/3"});
  const Finished second = run(kStudy, {"--shard", "2/3"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  const auto states = [&] {
    std::string text = read_text(results() / "runs.csv");
    return std::count(text.begin(), text.end(), '\n') - 1 -
           static_cast<long>(text.find("missing") != std::string::npos);
  };
  EXPECT_EQ(states(), 3);  // of four: runs 1 and 4, then run 2

  const Finished last = run(kStudy, {"--shard", "3/3"});
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(states(), 4);
  EXPECT_THAT(run(kStudy).err, HasSubstr("4 of 4 runs were done before"));
}

TEST_F(Batch, AShardStandsAsideForTheWholeStudy) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto lock = FileLock::attempt(results() / kStudyLock, FileLock::Kind::exclusive);
  ASSERT_NE(lock, nullptr);

  const Finished finished = run(kStudy, {"--shard", "1/2"});

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("another process is writing"));
}

TEST_F(Batch, LeavesARunThatAnotherProcessIsAt) {
  const Finished plan = residuum_program(
      {"plan", folder_.write("s.toml", kStudy).string(), "--format", "json"}, folder_.path());
  const std::string id = nlohmann::json::parse(plan.out)[0]["run_id"];
  const auto lock = FileLock::attempt(results() / "runs" / id / ".lock", FileLock::Kind::exclusive);
  begin_folder();

  const Finished finished = run(kStudy, {"--shard", "1/4"});

  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("another process is at it"));
}

TEST_F(Batch, EndsAtTheTimeLimitAndGoesOnLater) {
  std::string endless = kStudy;
  endless.replace(endless.find("iterations = 40"), 15, "iterations = 10000000");

  const Finished finished = run(endless, {"--time-limit", "1s", "--progress=none"});

  EXPECT_EQ(finished.code, 124) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("out of time: the same command goes on from here"));
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("interrupted"));
}

TEST_F(Batch, GoesOnAfterARunThatFails) {
  const Finished plan = residuum_program(
      {"plan", folder_.write("s.toml", kStudy).string(), "--format", "json"}, folder_.path());
  const std::string id = nlohmann::json::parse(plan.out)[0]["run_id"];
  // A folder in the place of the table makes the run fail to write it.
  std::filesystem::create_directories(results() / "runs" / id / "iterations.csv.part" / "x");
  begin_folder();

  const Finished finished = run(kStudy);

  EXPECT_EQ(finished.code, 3);
  const auto summary = nlohmann::json::parse(read_text(results() / "summary.json"));
  ASSERT_EQ(summary["failures"].size(), 1U);
  EXPECT_EQ(summary["failures"][0]["run_id"], id);
  EXPECT_THAT(summary["failures"][0]["message"].get<std::string>(), HasSubstr("cannot write"));
  std::size_t finished_runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
    finished_runs += std::filesystem::exists(entry.path() / "iterations.csv") ? 1 : 0;
  }
  EXPECT_EQ(finished_runs, 3U);
}

// The third of four runs diverges: with --fail-fast the fourth is never begun.
TEST_F(Batch, EndsAtTheFirstFailureIfAskedTo) {
  std::string wild = kStudy;
  wild.replace(wild.find("\"feedback.putback\" = [\"captured\", \"published\"]"),
               47,
               "\"step.value\" = [0.2, 1e30]");
  const Finished finished = run(wild, {"--fail-fast"});

  EXPECT_EQ(finished.code, 3);
  const std::string text = read_text(results() / "runs.csv");
  EXPECT_THAT(text, HasSubstr("diverged"));
  EXPECT_THAT(text, HasSubstr("missing"));

  const Finished all = run(wild);
  EXPECT_EQ(all.code, 3);
  EXPECT_THAT(read_text(results() / "runs.csv"), Not(HasSubstr("missing")));
}

/// Plans a study of this folder for Slurm; bash must be able to read what it prints.
class SlurmPlan : public Batch {
 protected:
  std::string plan(const std::string& study, std::vector<std::string> options = {}) const {
    folder_.write("my study.toml", study);
    options.insert(options.begin(), {"plan", "my study.toml", "--format", "slurm"});
    const Finished planned = residuum_program(options, folder_.path());
    EXPECT_EQ(planned.code, 0) << planned.err;
    folder_.write("job", planned.out);
    const Finished read = run_program({"bash", "-n", "job"}, folder_.path());
    EXPECT_EQ(read.code, 0) << read.err << planned.out;
    return planned.out;
  }
  std::string here() const { return std::filesystem::canonical(folder_.path()).string(); }
};

TEST_F(SlurmPlan, IsAJobArrayNamedByTheStudyWithAbsolutePaths) {
  const std::string job =
      plan(kStudy, {"--set", "seeds=[1, 2, 3]", "--tasks", "6", "--processes", "4"});

  EXPECT_THAT(job, HasSubstr("#SBATCH --job-name=tiny\n"));
  EXPECT_THAT(job, HasSubstr("#SBATCH --array=1-6\n"));
  EXPECT_THAT(job, HasSubstr("#SBATCH --ntasks=4\n"));
  EXPECT_THAT(job,
              HasSubstr("srun residuum run '" + here() +
                        "/my study.toml' --progress=lines --set 'seeds=[1, 2, 3]' --out " + here() +
                        "/results/tiny --data-dir "));
  EXPECT_THAT(job, HasSubstr(" --shard \"$SLURM_ARRAY_TASK_ID/6\"\n"));
  for (const char* const unasked : {"--time", "--mem", "--partition", "--account", "eval"}) {
    EXPECT_THAT(job, Not(HasSubstr(unasked)));
  }
}

TEST_F(SlurmPlan, PacksShortRunsIntoATaskOfOneProcess) {
  const std::string job = plan(kStudy);
  EXPECT_THAT(job, HasSubstr("#SBATCH --array=1\n"));
  EXPECT_THAT(job, HasSubstr("#SBATCH --ntasks=1\n"));

  // 4 runs of 4 workers with 1e9 iterations take hours: each has a task, with a process a worker.
  const std::string longer =
      plan(kStudy, {"--set", "budget.iterations=1000000000", "--set", "probes.every=1000000"});
  EXPECT_THAT(longer, HasSubstr("#SBATCH --array=1-4\n"));
  EXPECT_THAT(longer, HasSubstr("#SBATCH --ntasks=4\n"));
}

TEST_F(SlurmPlan, HasWhatTheUserKnowsOfTheCluster) {
  const std::string job = plan(kStudy,
                               {"--time",
                                "1-02:30",
                                "--mem",
                                "16G",
                                "--partition",
                                "cpu,long",
                                "--account",
                                "group_7",
                                "--before",
                                "module load openmpi",
                                "--before",
                                "echo a; true"});
  for (const char* const line : {"#SBATCH --time=1-02:30\n",
                                 "#SBATCH --mem=16G\n",
                                 "#SBATCH --partition=cpu,long\n",
                                 "#SBATCH --account=group_7\n",
                                 "eval 'module load openmpi' || exit\n",
                                 "eval 'echo a; true' || exit\n"}) {
    // Once for the array, once for the job that reports.
    const auto first = job.find(line);
    ASSERT_NE(first, std::string::npos) << line << job;
    EXPECT_NE(job.find(line, first + 1), std::string::npos) << line << job;
  }
}

TEST_F(SlurmPlan, TakesNoValueThatWouldBeMoreThanAValue) {
  folder_.write("s.toml", kStudy);
  const auto refused = [&](const char* option, const std::string& value) {
    const Finished planned =
        residuum_program({"plan", "s.toml", "--format", "slurm", option, value}, folder_.path());
    EXPECT_EQ(planned.code, 2) << option << ' ' << value << planned.out;
    EXPECT_EQ(planned.out, "");
    EXPECT_THAT(planned.err, HasSubstr(option));
    EXPECT_EQ(std::count(planned.err.begin(), planned.err.end(), '\n'), 1) << planned.err;
  };
  for (const char* const option : {"--time", "--mem", "--partition", "--account"}) {
    for (const char* const value : {"", "a b", "1\n#SBATCH --wrap=x", "$(id)", "-x", "1;id"}) {
      refused(option, value);
    }
  }
  refused("--time", "soon");
  refused("--mem", "much");
  refused("--tasks", "0");
  refused("--processes", "5");  // the runs have four workers
  refused("--before", "echo 1\nREPORT");
  refused("--before", "");
  for (const char* const open :
       {"echo 'an open quote", "echo \"a", "if true; then", "echo $(date"}) {
    refused("--before", open);
  }
  for (const char* const time :
       {"10:99:00", "10:00:60", "1-24", "1-00:60", "1:2:3:4", "1-", ":30"}) {
    refused("--time", time);
  }
  for (const char* const time : {"90", "90:30", "100:00:00", "2-23", "2-23:59", "2-23:59:59"}) {
    EXPECT_EQ(
        residuum_program({"plan", "s.toml", "--format", "slurm", "--time", time}, folder_.path())
            .code,
        0)
        << time;
  }

  const Finished elsewhere =
      residuum_program({"plan", "s.toml", "--format", "table", "--mem", "1G"}, folder_.path());
  EXPECT_EQ(elsewhere.code, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("are for --format slurm"));
}

TEST_F(SlurmPlan, HasNoArrayWhereNoRunIsLeft) {
  ASSERT_EQ(run(kStudy).code, 0);
  const std::string job = plan(kStudy, {});

  EXPECT_THAT(job, HasSubstr("0 of 4 runs are left"));
  EXPECT_THAT(job, Not(HasSubstr("--array")));
  const Finished read = run_program({"bash", "job"}, folder_.path());
  EXPECT_EQ(read.out, "no run of the study tiny is left to do\n") << read.err;
}

// The job is run as `bash job`, with an sbatch in PATH that records its arguments.
TEST_F(SlurmPlan, SubmitsItsArrayAndThenAJobThatReports) {
  plan(kStudy, {"--before", "true"});
  ASSERT_EQ(run(kStudy).code, 0);
  folder_.write("sbatch",
                "#!/bin/bash\n"
                "echo \"$@\" >>sbatch.calls\n"
                "case $1 in --parsable) echo '17;cluster' ;; *) cat >report.job ;; esac\n");
  const std::string program = std::filesystem::path(RESIDUUM_PROGRAM).parent_path();
  const Finished submitted = run_program({"bash",
                                          "-c",
                                          "chmod +x sbatch && PATH=$PWD:" + program +
                                              ":$PATH && bash job --nodes=1 && bash report.job"},
                                         folder_.path());

  EXPECT_EQ(submitted.code, 0) << submitted.err;
  EXPECT_EQ(read_text(folder_.path() / "sbatch.calls"),
            "--parsable --nodes=1 job\n--dependency=afterany:17 --nodes=1\n");
  const std::string report = read_text(folder_.path() / "report.job");
  EXPECT_THAT(report, testing::StartsWith("#!/bin/bash\n#SBATCH --job-name=tiny-report\n"));
  EXPECT_THAT(report, testing::EndsWith("residuum report " + here() + "/results/tiny\n"));
  EXPECT_TRUE(std::filesystem::exists(results() / "report.html"));
}

// Slurm sets the count to that of the tasks that are submitted: 2 for --array=3,7.
TEST_F(Batch, KeepsTheSharesOfAPartOfAJobArrayThatIsSubmittedAgain) {
  const std::string study = folder_.write("s.toml", kStudy).string();
  const std::vector<std::string> words{"plan", study, "--format", "slurm", "--tasks", "4"};
  const Finished plan = residuum_program(words, folder_.path());
  ASSERT_EQ(plan.code, 0) << plan.err;
  std::string job = plan.out;
  const auto line = job.find("srun residuum");
  ASSERT_NE(line, std::string::npos) << job;
  job.replace(line, 13, std::string("srun ") + RESIDUUM_PROGRAM);
  folder_.write("job", "srun() { \"$@\"; }\nscontrol() { true; }\n" + job);

  const Finished finished = run_program(
      {"env", "SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_COUNT=1", "bash", "job"}, folder_.path());

  EXPECT_EQ(finished.code, 0) << finished.err;
  const Finished after = residuum_program({"plan", study, "--format", "parallel"}, folder_.path());
  const Finished shares = residuum_program(words, folder_.path());
  EXPECT_THAT(after.out, Not(HasSubstr("--shard 3/4")));
  EXPECT_THAT(after.out, HasSubstr("--shard 1/4"));
  // The shares of the study stay what they were; those with nothing left are not in the array.
  EXPECT_THAT(shares.out, HasSubstr("3 of 4 runs are left, in 4 shares"));
  EXPECT_THAT(shares.out, HasSubstr("#SBATCH --array=1-2,4\n"));
}

// MaxArraySize, 1001 by default, is one more than the largest index.
TEST_F(Batch, DividesMoreRunsThanASlurmArrayMayHaveAmongItsTasks) {
  const std::string study = folder_.write("s.toml", kStudy).string();
  for (const auto& [seeds, tasks] : {std::pair{"500", "1000"}, {"501", "1000"}, {"7", "14"}}) {
    const Finished plan = residuum_program({"plan",
                                            study,
                                            "--format",
                                            "slurm",
                                            "--tasks",
                                            "2000",
                                            "--set",
                                            std::string("seeds=") + seeds},
                                           folder_.path());

    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_THAT(plan.out, HasSubstr(std::string("#SBATCH --array=1-") + tasks + "\n"));
    EXPECT_THAT(plan.out,
                HasSubstr(std::string("--shard \"$SLURM_ARRAY_TASK_ID/") + tasks + "\"\n"));
  }
}

TEST_F(Batch, CallsADivergedRunAResult) {
  std::string wild = kStudy;
  wild.replace(wild.find("value = 0.2"), 11, "value = 1e30");

  const Finished finished = run(wild);

  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("is not finite at iteration"));
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("diverged"));
}

}  // namespace
}  // namespace residuum
