// A study that came from elsewhere executes nothing unasked.

#include "experiments/program/study/foreign_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/experiments/program/foreign/command_study.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ForeignStudy : public CommandStudy {
 protected:
  /// The command leaves a trace.
  static std::string study() {
    return own_study(command_of({"sh", "-c", "touch executed; cat > /dev/null"}), 5);
  }
  bool was_executed() const { return std::filesystem::exists(folder_.path() / "executed"); }

  /// Returns the one line of a study that is refused before it begins.
  std::string refusal(const std::string& sparsifier) const {
    const Finished finished = run(own_study(sparsifier, 5));
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(results())) << sparsifier;
    return finished.err;
  }
};

TEST_F(ForeignStudy, RunAndVerifyAskForTheFlagAndBeginNothingWithoutIt) {
  for (const char* command : {"run", "verify"}) {
    const Finished finished = run_program(words_of(study(), {}, command), folder_.path());

    EXPECT_EQ(finished.code, 2);
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_THAT(finished.err,
                AllOf(HasSubstr("'sparsifier.command' at "),
                      HasSubstr("executes 'sh -c touch executed; cat > /dev/null'"),
                      HasSubstr("add --allow-commands")));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "results"));
  }
  EXPECT_FALSE(was_executed());
}

TEST_F(ForeignStudy, PlanSaysWhatARunWouldExecuteAndByWhichFlag) {
  for (const char* format : {"table", "json", "slurm"}) {
    const Finished finished =
        run_program(words_of(study(), {"--format", format}, "plan"), folder_.path());

    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.err,
                AllOf(HasSubstr("would execute 'sh -c touch executed; cat > /dev/null'"),
                      HasSubstr("--allow-commands")));
  }
  EXPECT_FALSE(was_executed());
}

TEST_F(ForeignStudy, AResumeAsksAgainAndNothingElseExecutesIt) {
  ASSERT_EQ(run(study(), {"--set", "sparsifier.timeout_s=1"}).code, 3);
  ASSERT_TRUE(was_executed());
  std::filesystem::remove(folder_.path() / "executed");

  EXPECT_EQ(run_program(words_of(study(), {}), folder_.path()).code, 2);
  const std::vector<std::vector<std::string>> commands{
      {"report", "results/own"},
      {"watch", "results/own", "--once"},
      {"compare", "results/own", "results/own"},
      {"export", "results/own", "--join"},
      {"list"},
      {"falsify",
       "--aggregator",
       "allgather",
       "--workers",
       "2",
       "--k",
       "1",
       "--dim",
       "2",
       "--evaluations",
       "10"},
      {"inspect", "worst.npy", "--aggregator", "allgather", "--k", "1"},
      {"inspect", "worst.npy", "--aggregator", "allgather", "--sparsifier", "command"}};
  for (const auto& words : commands) {
    residuum_program(words, folder_.path());
  }
  EXPECT_FALSE(was_executed());
}

TEST_F(ForeignStudy, WrongKeysAreRefusedInOneLineBeforeAnythingBegins) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"kind = \"command\"\n", "missing key 'sparsifier.command'"},
      {"kind = \"command\"\ncommand = []\n", "must be a list of words"},
      {"kind = \"command\"\ncommand = \"python3 mine.py\"\n", "must be a list of words"},
      {"kind = \"command\"\ncommand = [\"sh\", 3]\n", "the word 3 is not a text"},
      {"kind = \"command\"\ncommand = [\"\"]\n", "the program has no name"},
      {command_of({"no-such-program-here"}),
       "cannot start 'no-such-program-here': there is no such program on the PATH"},
      {command_of({"./missing.py"}), "cannot start './missing.py': there is no such program"},
      {command_of({"sh"}) + "timeout_s = 0\n", "must be seconds above 0"},
      {command_of({"sh"}) + "contraction = 1.0\n", "must be from 0 to below 1"},
      {command_of({"sh"}) + "omega = -1\n", "must be a number from 0 up"},
      {command_of({"sh"}) + "omega = 1\ncontraction = 0.5\n", "give one of them"},
      {command_of({"sh"}) + "k = 21\n", "there are only 20 parameters"},
      {command_of({"sh"}) + "k = 2\nschedule = [0.5]\n", "no schedule can change it"},
      {command_of({"sh"}) + "unbiased = true\ndeterministic = true\n", "exclude each other"},
      {command_of({"sh"}) + "memory = true\n", "'sparsifier.memory' at "}};
  for (const auto& [sparsifier, message] : cases) {
    EXPECT_THAT(refusal(sparsifier), HasSubstr(message));
  }
}

TEST(ForeignCode, NamesEveryCommandOfASweepOnceAndNoneOfAnotherKind) {
  const std::string sweep = "[sweep]\n\"sparsifier.kind\" = [\"top-k\", \"command\"]\n";
  const Study study = parse_study(
      own_study("k = 3\ncommand = [\"a\", \"b\"]\n", 5, sweep + "\"workers.count\" = [2, 4]\n"),
      "s.toml",
      {});
  const Study without =
      parse_study(own_study("kind = \"top-k\"\nk = 3\ncommand = [\"a\"]\n", 5), "s.toml", {});

  const auto found = foreign_code(study);

  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().text, "a b");
  EXPECT_EQ(found.front().program, "a");
  EXPECT_THAT(found.front().where, HasSubstr("'sparsifier.command' at s.toml:"));
  EXPECT_TRUE(foreign_code(without).empty());
  EXPECT_EQ(foreign_code_note(without), "");
  EXPECT_NO_THROW(require_allowed(without, false));
  EXPECT_THROW(require_allowed(study, false), Error);
}

TEST(ForeignCode, NamesTheModelOfAnObjectiveThatLoadsOne) {
  const Study study = parse_study(
      "schema = 1\nname = \"s\"\n[objective]\nkind = \"torchscript\"\nmodel = \"mine.pt\"\n"
      "[aggregator]\nkind = \"dense\"\n[step]\nvalue = 0.1\n[budget]\niterations = 1\n",
      "s.toml",
      {});

  const auto found = foreign_code(study);

  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().text, "mine.pt");
  EXPECT_EQ(found.front().program, "");
  EXPECT_THAT(found.front().where, HasSubstr("'objective.model' at s.toml:5"));
  EXPECT_THROW(require_allowed(study, false), Error);
  EXPECT_NO_THROW(require_allowed(study, true));
}

}  // namespace
}  // namespace residuum
