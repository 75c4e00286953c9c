// Errors of one process are written in the folder of the run, under the process's rank.

#include "experiments/program/runs/rank_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/cluster/world.h"
#include "experiments/program/runs/provenance.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const std::string kStamp = "[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+Z ";

class RankLogs : public TinyStudy {
 protected:
  Finished run_faulty(int processes, const std::string& fault, std::vector<std::string> options) {
    std::string study = kStudy.substr(0, kStudy.find("[sweep]"));
    const std::string top_k = "kind = \"top-k\"\nk = 2";
    study.replace(study.find(top_k), top_k.size(), "kind = \"faulty\"\nruns = 2\n" + fault);
    std::vector<std::string> arguments{RESIDUUM_MPIRUN,
                                       "-n",
                                       std::to_string(processes),
                                       RESIDUUM_FAULTY_PROGRAM,
                                       "run",
                                       folder_.write("s.toml", study).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments, folder_.path());
  }
  /// Text of the logs of all runs by their name.
  std::map<std::string, std::string> logs() const {
    std::map<std::string, std::string> texts;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(results() / "runs")) {
      if (entry.path().parent_path().filename() == "ranks") {
        texts[entry.path().filename()] += read_text(entry.path());
      }
    }
    return texts;
  }
  std::string log(int rank) const {
    return read_text(folder_.path() / "ranks" / fmt::format("rank-{:04}.log", rank));
  }
};

TEST_F(RankLogs, AreNotThereWhereThereIsNothingToWrite) {
  RankLog quiet(3, /*speaks=*/false);
  quiet.start_run(folder_.path());
  quiet.guard([] {});
  tell(NoteKind::note, "all processes find this");

  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "ranks"));
}

TEST_F(RankLogs, HoldWarningsAlsoFromBeforeTheRun) {
  RankLog own(3, /*speaks=*/false);
  tell(NoteKind::warning, "early");
  own.start_run(folder_.path());
  tell(NoteKind::warning, "late");

  EXPECT_THAT(log(3), MatchesRegex(kStamp + "warning: early\n" + kStamp + "warning: late\n"));
}

TEST_F(RankLogs, HoldWhatIsThrownHereAndNotWhatAllThrow) {
  RankLog own(12, /*speaks=*/false);
  own.start_run(folder_.path());
  EXPECT_THROW(own.guard([] { resource_error("disk full"); }), Error);
  EXPECT_THROW(own.guard([] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THROW(own.guard([] { throw SharedError(ExitCode::resource, "of another"); }), SharedError);

  EXPECT_THAT(log(12),
              MatchesRegex(kStamp + "error: disk full\n" + kStamp + "error: out of memory\n"));
}

TEST_F(RankLogs, AreNotForTheOneThatSpeaks) {
  testing::internal::CaptureStderr();
  {
    RankLog root(0, /*speaks=*/true);
    root.start_run(folder_.path());
    tell(NoteKind::warning, "a");
    tell(NoteKind::note, "b");
    EXPECT_THROW(root.guard([] { resource_error("disk full"); }), Error);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: a\nnote: b\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "ranks"));
}

TEST_F(RankLogs, TellWhichProcessCouldNotBeginARun) {
  const Finished finished = run_faulty(3, "fails_at = \"build\"\nfails_on = 2", {});

  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(
      finished.err,
      HasSubstr(fmt::format(" seed=1: failed: rank 2 on {}: no data on this node", host_name())));
  const auto texts = logs();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_THAT(texts.at("rank-0002.log"), MatchesRegex(kStamp + "error: no data on this node\n"));
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("finished"));
}

TEST_F(RankLogs, TellWhichProcessEndedTheJob) {
  const Finished finished = run_faulty(2, "fails_at = \"select\"\nfails_on = 1", {});

  EXPECT_EQ(finished.code, 6) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("error: no memory for worker 2"));
  const auto texts = logs();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_THAT(texts.at("rank-0001.log"), MatchesRegex(kStamp + "error: no memory for worker 2\n"));
}

// The other group is in the middle of an endless run.
TEST_F(RankLogs, NoGroupHangsWhereOneHasLostAProcess) {
  const Finished finished = run_faulty(
      4,
      "fails_at = \"select\"\nfails_on = 3",
      {"--groups", "2", "--set", "budget.iterations=1000000000", "--set", "probes.every=1000000"});

  EXPECT_EQ(finished.code, 6) << finished.err;
  const auto texts = logs();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_THAT(texts.at("rank-0003.log"), HasSubstr("error: no memory for worker"));
}

}  // namespace
}  // namespace residuum
