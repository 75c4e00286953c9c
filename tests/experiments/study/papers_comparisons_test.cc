// The programs beside the published experiments compare runs, at their ends or at equal cost.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Paired : public testing::Test {
 protected:
  Paired() {
    folder_.write("runs.csv",
                  "run_id,seed,p_kind,p_workers,loss\n"
                  "a,1,base,4,1\nb,2,base,4,2\nc,1,other,4,1.5\nd,2,other,4,3.5\n"
                  "e,1,other,8,9\nf,1,base,8,4\ng,3,other,4,7\n");
  }
  Finished paired(const std::string& column,
                  const std::string& baseline,
                  const std::vector<std::string>& tests = {}) const {
    std::vector<std::string> command{
        paper_program("paired"), folder_.path().string(), column, "kind", baseline, "workers"};
    command.insert(command.end(), tests.begin(), tests.end());
    return run_program(command, folder_.path());
  }
  TemporaryFolder folder_;
};

// The differences are 0.5 and 1.5 at four workers: mean 1, half width 12.7062 / 2, variance 0.5, so
// that 7.849 / 2 + 1.921 pairs would decide. The third seed has no baseline.
TEST_F(Paired, HasTheMeanDifferenceOfRunsOfTheSameSeed) {
  EXPECT_EQ(
      paired("loss", "base").out,
      "kind=other workers=4: 1 [-5.3531, 7.3531], 2 pairs; 1 without a baseline; about 6 would "
      "decide\n"
      "kind=other workers=8: 5, 1 pair\n");
  EXPECT_EQ(paired("loss", "another").code, 2);
  EXPECT_EQ(paired("loss", "another").err, "error: no run with kind = another has a loss\n");
}

// Student's t with one degree of freedom is tan(pi / 2 - pi 0.025 / 8) = 101.856 for one of eight
// tests, and the normal quantile 2.73437: 12.788 / 2 + 3.738 pairs would decide.
TEST_F(Paired, WidensIntervalsForTheNumberOfTests) {
  EXPECT_EQ(
      paired("loss", "base", {"8"}).out,
      "kind=other workers=4: 1 [-49.928, 51.928], 2 pairs; 1 without a baseline; about 11 would "
      "decide\n"
      "kind=other workers=8: 5, 1 pair\n");
  EXPECT_EQ(paired("loss", "base", {"1"}).out, paired("loss", "base").out);
  for (const char* wrong : {"0", "-3", "2.5", "x", ""}) {
    const auto refused = paired("loss", "base", {wrong});
    EXPECT_EQ(refused.code, 2) << wrong;
    EXPECT_EQ(
        refused.err,
        "error: TESTS is '" + std::string(wrong) + "'; it has to be a number from 1 to 999999\n");
  }
  EXPECT_THAT(paired("loss", "base", {"8", "9"}).err, HasSubstr("paired RESULTS COLUMN KEY"));
}

// With two degrees of freedom t = a sqrt(2 / (1 - a^2)) for a probability a of the middle; the
// variance of 1, 2 and 3 is 1. With three, the tables of t have 3.182446, and that of 0, 1, 2 and 3
// is 5 / 3; with 40, t is 2.0210754.
TEST_F(Paired, HasStudentsIntervalOfAnyNumberOfPairs) {
  const auto interval_of = [&](const std::vector<int>& differences) {
    std::string rows = "run_id,seed,p_kind,p_workers,loss\n";
    for (std::size_t seed = 0; seed < differences.size(); ++seed) {
      rows += fmt::format("a{0},{0},base,4,0\nb{0},{0},other,4,{1}\n", seed, differences[seed]);
    }
    folder_.write("runs.csv", rows);
    return paired("loss", "base").out;
  };
  EXPECT_THAT(interval_of({1, 2, 3}), HasSubstr(": 2 [-0.48414, 4.4841], 3 pairs"));
  EXPECT_THAT(interval_of({0, 1, 2, 3}), HasSubstr(": 1.5 [-0.55426, 3.5543], 4 pairs"));
  std::vector<int> signs(41, 1);
  std::fill(signs.begin(), signs.begin() + 20, -1);
  signs.back() = 0;  // the squares add up to 40, so that the half width is t / sqrt(41)
  EXPECT_THAT(interval_of(signs), HasSubstr(" [-0.31564, 0.31564], 41 pairs"));
}

TEST_F(Paired, ComparesRunsThatDifferInOneKeyAlone) {
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_clip,p_workers,loss\n"
                "a,1,base,no,4,1\nb,1,base,yes,4,2\nc,1,other,no,4,4\nd,1,other,yes,4,7\n");
  const Finished all =
      run_program({paper_program("paired"), folder_.path().string(), "loss", "kind", "base", "all"},
                  folder_.path());
  EXPECT_EQ(all.out,
            "clip=no kind=other workers=4: 3, 1 pair\nclip=yes kind=other workers=4: 5, 1 pair\n");
}

// Which column comes first depends on the runs of a table, and must not make two methods of one.
TEST_F(Paired, NamesAMethodByItsKeysInTheirOrder) {
  folder_.write("runs.csv", "run_id,seed,p_workers,p_kind,loss\na,1,4,base,1\nb,1,4,other,3\n");
  EXPECT_EQ(paired("loss", "base").out, "kind=other workers=4: 2, 1 pair\n");
}

TEST_F(Paired, ComparesAllRunsOfASeedWithOne) {
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_density,loss\n"
                "a,1,base,,1\nb,2,base,,2\nc,1,other,5,4\nd,2,other,5,5\n");
  EXPECT_EQ(run_program(
                {paper_program("paired"), folder_.path().string(), "loss", "kind", "base", "none"},
                folder_.path())
                .out,
            "density=5 kind=other: 3 [3, 3], 2 pairs\n");
}

TEST_F(Paired, NamesWhatIsNotThere) {
  EXPECT_EQ(paired("lss", "base").code, 2);
  EXPECT_EQ(paired("lss", "base").err, "error: runs.csv has no column lss\n");
  folder_.write("runs.csv", "run_id,seed,p_kind,p_workers,loss\na,1,base,4,1\nb,2,other,4,1\n");
  EXPECT_EQ(paired("loss", "base").code, 2);
  EXPECT_EQ(paired("loss", "base").err,
            "error: no run has a baseline of the same seed and workers\n");
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_workers,loss\na,1,base,4,1\nb,1,other,4,2\nc,1,other,4,3\n");
  EXPECT_EQ(paired("loss", "base").err,
            "error: runs.csv has two runs of seed 1 of kind=other workers=4: b and c\n");
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_workers,p_x,loss\na,1,base,4,1,1\nb,1,base,4,2,1\n");
  EXPECT_EQ(
      paired("loss", "base").err,
      "error: several runs are the baseline of seed 1; give the key in which they differ as BY, "
      "or all\n");
}

TEST_F(Paired, CountsPairsWithoutBothEnds) {
  folder_.write("runs.csv",
                "run_id,status,seed,p_kind,p_workers,loss\n"
                "a,finished,1,base,4,1\nb,finished,2,base,4,2\nc,finished,1,other,4,1.5\n"
                "d,diverged,2,other,4,9e9\ne,finished,1,\"third, last\",4,nan\n");
  EXPECT_EQ(paired("loss", "base").out,
            "kind=other workers=4: 0.5, 1 pair; 1 without both ends\n"
            "kind=third; last workers=4: no value; 1 without both ends\n");
}

class AtCost : public Paired {
 protected:
  Finished at_cost(const std::string& cost, const std::string& budget) const {
    return run_program({paper_program("at_cost"), folder_.path().string(), cost, budget, "equal"},
                       folder_.path());
  }
  std::string losses() const { return read_text(folder_.path() / "equal/runs.csv"); }
};

// A row's f is taken before its bytes are sent: run a has sent 10 before it measures 3, and 30 in
// all.
TEST_F(AtCost, TakesTheLossWithinABudgetOfBytes) {
  folder_.write("iterations.csv",
                "run_id,iteration,loss,sent_bytes,total_sent_bytes\n"
                "a,0,5,10,10\na,1,3,10,20\na,2,1,10,30\nc,0,4,20,20\nc,1,2,20,40\ng,0,9,1,1\n");

  EXPECT_EQ(at_cost("bytes", "19").code, 0);
  EXPECT_THAT(
      losses(),
      StartsWith(
          "run_id,seed,p_kind,p_workers,loss,loss_at_cost,iteration_at_cost,loss_interpolated\n"
          "a,1,base,4,1,3,1,1.2"));                             // 3 at 10 bytes, 1 at 20
  EXPECT_THAT(losses(), HasSubstr("c,1,other,4,1.5,4,0,2.1"));  // 4 at none, 2 at 20
  EXPECT_EQ(at_cost("bytes", "20").code, 0);
  EXPECT_THAT(losses(), HasSubstr("a,1,base,4,1,1,2,\n"));  // nothing is measured later
  EXPECT_THAT(losses(), HasSubstr("c,1,other,4,1.5,2,1,\n"));
  EXPECT_EQ(at_cost("bytes", "many").code, 2);
}

// Iterations 0 and 1 of run a end after 1 and 2 seconds on the slow network, those of run b after 4
// and 8.
TEST_F(AtCost, TakesTheLossWithinABudgetOfSecondsOnANetwork) {
  folder_.write("runs.csv", "run_id,seed,iterations,final_loss\na,1,2,0.5\nb,1,2,0.6\n");
  folder_.write("iterations.csv", "run_id,iteration,loss\na,0,5\na,1,3\nb,0,5\nb,1,4\n");
  folder_.write("networks.csv",
                "run_id,iteration,network,virtual_s\n"
                "a,0,slow,1\na,0,fast,0.1\na,1,slow,2\na,1,fast,0.2\n"
                "b,0,slow,4\nb,0,fast,0.4\nb,1,slow,8\nb,1,fast,0.8\n");

  const std::string header =
      "run_id,seed,iterations,final_loss,loss_at_cost,iteration_at_cost,loss_interpolated\n";
  EXPECT_EQ(at_cost("slow", "1.5").code, 0);
  EXPECT_EQ(losses(), header + "a,1,2,0.5,5,0,4\nb,1,2,0.6,,,\n");
  EXPECT_EQ(at_cost("slow", "4").code, 0);  // run a has ended, and with its last f
  EXPECT_EQ(losses(), header + "a,1,2,0.5,0.5,2,0.5\nb,1,2,0.6,5,0,5\n");
  EXPECT_EQ(at_cost("fast", "0.8").code, 0);
  EXPECT_EQ(losses(), header + "a,1,2,0.5,0.5,2,0.5\nb,1,2,0.6,0.6,2,0.6\n");
}

TEST_F(AtCost, NamesWhatIsNotThere) {
  folder_.write("iterations.csv", "run_id,iteration,loss\na,0,5\n");
  EXPECT_THAT(at_cost("slow", "1").err, HasSubstr("has no networks.csv"));
  folder_.write("networks.csv", "run_id,iteration,network,virtual_s\na,0,fast,1\n");
  EXPECT_EQ(at_cost("slow", "1").err, "error: networks.csv has no network slow\n");
  EXPECT_EQ(at_cost("bytes", "1").err, "error: iterations.csv has no column total_sent_bytes\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "equal/runs.csv.part"));
  folder_.write("equal/runs.csv", "of another budget");
  EXPECT_EQ(at_cost("bytes", "1").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "equal/runs.csv"));
  folder_.write("file", "");
  const Finished file = run_program(
      {paper_program("at_cost"), folder_.path().string(), "bytes", "1", "file"}, folder_.path());
  EXPECT_EQ(file.err, "error: file is no folder for a runs.csv; give another OUT\n");
  EXPECT_EQ(file.code, 2);
  const Finished itself = run_program(
      {paper_program("at_cost"), folder_.path().string(), "fast", "1", "."}, folder_.path());
  EXPECT_EQ(itself.err, "error: OUT is RESULTS, whose runs.csv would be lost; give another OUT\n");
  EXPECT_EQ(itself.code, 2);
}

TEST_F(AtCost, LeavesTheRunsOfAnotherStudy) {
  folder_.write("iterations.csv",
                "run_id,iteration,loss,sent_bytes,total_sent_bytes\na,0,5,10,20\n");
  std::filesystem::create_directory(folder_.path() / "equal");
  folder_.write("equal/iterations.csv", "");
  folder_.write("equal/runs.csv", "of a study");
  EXPECT_EQ(at_cost("bytes", "50").code, 2);
  EXPECT_THAT(at_cost("bytes", "50").err, HasSubstr("OUT has an iterations.csv"));
  EXPECT_EQ(losses(), "of a study");
}

TEST_F(AtCost, RefusesTotalsThatFall) {
  folder_.write("iterations.csv",
                "run_id,iteration,loss,sent_bytes,total_sent_bytes\na,0,5,10,20\na,1,3,10,10\n");
  EXPECT_EQ(at_cost("bytes", "50").err,
            "error: iterations.csv, line 3: total_sent_bytes of a falls to 10\n");
  folder_.write("networks.csv",
                "run_id,iteration,network,virtual_s\na,0,fast,2\na,0,slow,1\na,1,fast,1\n");
  const auto falling = at_cost("fast", "1");
  EXPECT_EQ(falling.code, 2);
  EXPECT_EQ(falling.err, "error: networks.csv, line 4: virtual_s of a falls to 1\n");
}

// The table has only two of run a's ten iterations: that it had spent no more is not known.
TEST_F(AtCost, TakesNoEndFromATableThatIsCutShort) {
  folder_.write("runs.csv", "run_id,seed,iterations,final_loss\na,1,10,0.5\n");
  folder_.write("iterations.csv",
                "run_id,iteration,loss,sent_bytes,total_sent_bytes\na,0,5,10,10\na,1,3,10,20\n");
  EXPECT_EQ(at_cost("bytes", "50").code, 0);
  EXPECT_THAT(losses(), EndsWith("\na,1,10,0.5,3,1,\n"));
  folder_.write("runs.csv", "run_id,seed,iterations,final_loss\na,1,2,0.5\n");
  EXPECT_EQ(at_cost("bytes", "50").code, 0);
  EXPECT_THAT(losses(), EndsWith("\na,1,2,0.5,0.5,2,0.5\n"));
}

// sent_bytes of a row are of its iteration, those of runs.csv of the whole run.
TEST_F(AtCost, TakesAnotherColumnAsItsRowsHaveIt) {
  folder_.write("runs.csv", "run_id,seed,iterations,final_loss,sent_bytes\na,1,2,0.5,20\n");
  folder_.write("iterations.csv",
                "run_id,iteration,loss,sent_bytes,total_sent_bytes\na,0,5,10,10\na,1,3,10,20\n");
  EXPECT_EQ(
      run_program(
          {paper_program("at_cost"), folder_.path().string(), "bytes", "50", "equal", "sent_bytes"},
          folder_.path())
          .code,
      0);
  EXPECT_THAT(losses(), EndsWith("sent_bytes_interpolated\na,1,2,0.5,20,10,2,10\n"));
}

TEST_F(AtCost, ReadsQuotesAndTakesNoEndFromARunThatDiverged) {
  folder_.write("runs.csv",
                "run_id,status,p_kind,final_loss\na,finished,\"x, y\",0.5\nb,diverged,z,9e9\n");
  folder_.write("iterations.csv",
                "run_id,iteration,note,loss,sent_bytes,total_sent_bytes\n"
                "a,0,\"1, 2\",5,10,10\nb,0,,5,10,10\n");
  EXPECT_EQ(at_cost("bytes", "50").code, 0);
  EXPECT_THAT(losses(), EndsWith("\na,finished,\"x, y\",0.5,0.5,,0.5\nb,diverged,z,9e9,5,0,\n"));
}

}  // namespace
}  // namespace residuum
