// Runs that the machine cannot prepare this time: they fail, and their files of an earlier start
// stay.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Unprepared : public Hostile {
 protected:
  void SetUp() override {
    std::string study = kStudy;
    const std::string top_k = "kind = \"top-k\"\nk = 2";
    study.replace(study.find(top_k), top_k.size(), "kind = \"faulty\"");
    study.replace(study.find("gtopk-tree"), 10, "allgather");
    folder_.write("s.toml", study);
  }
  /// `where`: on which rank no run can be prepared, "all" or "none".
  Finished run_where(const std::string& where, int processes = 1) const {
    std::vector<std::string> words{"env", "FAULTY_UNPREPARED=" + where};
    if (processes > 1) {
      words.insert(words.end(), {RESIDUUM_MPIRUN, "-n", std::to_string(processes)});
    }
    words.insert(words.end(), {RESIDUUM_FAULTY_PROGRAM, "run", "s.toml"});
    return run_program(words, folder_.path());
  }
  std::string runs() const { return read_text(results() / "runs.csv"); }
};

TEST_F(Unprepared, ThatAreDoneStayDone) {
  ASSERT_EQ(run_where("none").code, 0);
  const std::string before = runs();
  const std::string rows = read_text(results() / "iterations.csv");

  const Finished again = run_where("all");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("4 of 4 runs were done before"));
  EXPECT_EQ(runs(), before);
  EXPECT_EQ(read_text(results() / "iterations.csv"), rows);
}

TEST_F(Unprepared, SayWhyAlsoWhereNoProgressIsShown) {
  const Finished failed = run_program(
      {"env", "FAULTY_UNPREPARED=all", RESIDUUM_FAULTY_PROGRAM, "run", "s.toml", "--progress=none"},
      folder_.path());
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(failed.err, HasSubstr("seed=2: failed: "));
  EXPECT_THAT(failed.err, Not(HasSubstr(" %")));
  const Finished done =
      run_program({RESIDUUM_FAULTY_PROGRAM, "run", "s.toml", "--progress=none"}, folder_.path());
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(lines_of(done.err), 1) << done.err << "where the results are, and nothing else";
}

TEST_F(Unprepared, AreComparedWithoutAListOfAllTheirKeys) {
  ASSERT_EQ(run_where("none").code, 0);
  std::filesystem::rename(results(), folder_.path() / "before");
  ASSERT_EQ(run_where("all").code, 3);
  const Finished compared = run_program(
      {RESIDUUM_FAULTY_PROGRAM, "compare", "before", results().string()}, folder_.path());
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(compared.out, ContainsRegex("\nnote: [0-9]+ other keys differ in all [0-9]+ runs\n"));
  EXPECT_THAT(compared.out, Not(HasSubstr("the configurations differ at")));
}

TEST_F(Unprepared, FailUnderTheIdThatTheyHadBefore) {
  ASSERT_EQ(run_where("none").code, 0);
  const auto one = run_folders().front();
  std::filesystem::remove(one / "status.json");

  const Finished failed = run_where("all");
  EXPECT_EQ(failed.code, 3) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("failed: no memory here"));
  EXPECT_THAT(runs(), AllOf(HasSubstr(one.filename().string()), Not(HasSubstr("unprepared"))));
  EXPECT_EQ(summary()["counts"]["finished"], 3);

  const Finished made = run_where("none");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(summary()["counts"]["finished"], 4);
}

TEST_F(Unprepared, LeaveNothingBehindOnceTheyAreMade) {
  const Finished failed = run_where("all");
  EXPECT_EQ(failed.code, 3) << failed.err;
  EXPECT_THAT(runs(), AllOf(HasSubstr("unprepared-s1-"), HasSubstr("failed,no memory here")));
  ASSERT_EQ(run_folders().size(), 4U);

  const Finished made = run_where("none");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(runs(), Not(HasSubstr("unprepared")));
  for (const auto& run : run_folders()) {
    EXPECT_THAT(run.filename().string(), Not(HasSubstr("unprepared")));
  }
}

TEST_F(Unprepared, OnOneProcessFailOnAll) {
  for (const char* rank : {"0", "1"}) {
    const Finished failed = run_where(rank, 2);
    EXPECT_EQ(failed.code, 3) << failed.err;
    EXPECT_EQ(summary()["counts"]["failed"], 4);
    EXPECT_THAT(
        runs(),
        HasSubstr(*rank == '0' ? "no memory here" : "another process could not prepare it"));
  }
  EXPECT_EQ(run_where("none", 2).code, 0);
}

TEST_F(Unprepared, AreListedByAPlan) {
  const Finished plan = run_program(
      {"env", "FAULTY_UNPREPARED=all", RESIDUUM_FAULTY_PROGRAM, "plan", "s.toml"}, folder_.path());
  EXPECT_EQ(plan.code, 6) << plan.err;
  EXPECT_THAT(plan.out,
              AllOf(HasSubstr("unprepared unprepared-s2-"), HasSubstr("4 runs, 4 to do")));
  EXPECT_THAT(plan.err, HasSubstr("seed=1 cannot be prepared: no memory here"));
}

}  // namespace
}  // namespace residuum
