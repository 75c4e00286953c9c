// `residuum epochs` prints the tables that a study leaves by epoch.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class ByEpoch : public testing::Test {
 protected:
  ByEpoch() { folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,2,5\n"); }
  Finished by_epoch(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words{"epochs", "."};
    words.insert(words.end(), options.begin(), options.end());
    return residuum_program(words, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(ByEpoch, AveragesDeltaAndKeepsTheLastLossOfEveryEpoch) {
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy,test_perplexity\n"
                "a,0,0,9,0.5,0.25,,\na,1,0.5,8,1.5,,,\na,2,1,,2,0.5,0.75,4\nb,0,0,7,,,,\n");
  EXPECT_EQ(by_epoch().out,
            "method,seed,epoch,measured,loss,delta,contraction,test_accuracy,test_perplexity,"
            "delta_max,delta_above_1\n"
            "sparsifier_k=5,1,0,2,8,1,0.25,,,1.5,1\n"
            "sparsifier_k=5,1,1,1,,2,0.5,0.75,4,2,1\n"
            "sparsifier_k=5,2,0,1,7,,,,,,\n");
}

TEST_F(ByEpoch, SaysWhatTheStudyCallsTheMethod) {
  folder_.write("runs.csv", "run_id,seed,p_sparsifier_k,label\na,1,5,\"five, kept\"\n");
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\na,0,0,9,0.5,,\n");
  EXPECT_THAT(by_epoch().out, testing::StartsWith("label,method,seed,epoch,"));
  EXPECT_THAT(by_epoch().out, EndsWith("\n\"five, kept\",sparsifier_k=5,1,0,1,9,0.5,,,,0.5,0\n"));
}

TEST_F(ByEpoch, TakesEqualPartsOfARun) {
  folder_.write("runs.csv", "run_id,seed,iterations,p_sparsifier_k\na,1,4,5\n");
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\n"
                "a,0,0,9,0.5,,\na,1,0,8,1.5,,\na,2,0,7,2,,\na,3,0,6,4,,\n");
  EXPECT_THAT(by_epoch({"--parts", "2"}).out,
              EndsWith("\nsparsifier_k=5,1,0,2,8,1,,,,1.5,1\nsparsifier_k=5,1,1,2,6,3,,,,4,2\n"));
  EXPECT_EQ(by_epoch({"--parts", "0"}).code, 2);
}

TEST_F(ByEpoch, ReadsQuotedValuesWithCommas) {
  folder_.write("runs.csv", "run_id,p_sparsifier_k,seed\na,\"[5, 6]\",1\n");
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\na,0,0,9,0.5,,\n");
  EXPECT_THAT(by_epoch().out, EndsWith("\n\"sparsifier_k=[5, 6]\",1,0,1,9,0.5,,,,0.5,0\n"));
}

TEST_F(ByEpoch, CountsNoDeltaThatIsNotFinite) {
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\n"
                "a,0,0,9,0.5,,\na,1,0,nan,nan,,\na,2,0,,inf,,\n");
  EXPECT_THAT(by_epoch().out, EndsWith("\nsparsifier_k=5,1,0,3,9,0.5,,,,0.5,0\n"));
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\na,0,0,9,big,,\n");
  EXPECT_EQ(by_epoch().err, "error: ./iterations.csv:2: 'big' in column 'delta' is not a number\n");
}

// The rows that are kept of a run are not all of its iterations, and their means would be others.
TEST_F(ByEpoch, PrintWhatWasKeptWhereNotEveryIterationIs) {
  folder_.write("iterations.csv", "run_id,iteration,epoch,loss\na,0,0,9\n");
  folder_.write("epochs.csv", "by epoch\n");
  EXPECT_EQ(by_epoch().out, "by epoch\n");
  EXPECT_EQ(by_epoch({"--parts", "4"}).code, 2);
  EXPECT_THAT(by_epoch({"--parts", "4"}).err, HasSubstr("has no quarters.csv"));
  folder_.write("quarters.csv", "by quarters\n");
  EXPECT_EQ(by_epoch({"--parts", "4"}).out, "by quarters\n");
  EXPECT_EQ(by_epoch({"--parts", "8"}).code, 2);
  EXPECT_THAT(by_epoch({"--parts", "8"}).err, HasSubstr("give 4 parts or none"));
}

TEST_F(ByEpoch, RefusesTablesThatAreBroken) {
  const auto error = [&](const std::string& iterations) {
    folder_.write("iterations.csv",
                  "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\n" + iterations);
    const Finished finished = by_epoch();
    EXPECT_EQ(finished.code, 2);
    EXPECT_EQ(finished.out, "");
    return finished.err;
  };
  EXPECT_EQ(error("a,0,0,1,1\n"), "error: ./iterations.csv:2: 5 fields where the header has 7\n");
  EXPECT_THAT(error("a,0,0,1,1,,"), HasSubstr("the last line has no end: the file was cut off"));
  EXPECT_EQ(error("z,0,0,1,1,,\n"), "error: ./iterations.csv:2: runs.csv has no run z\n");
  EXPECT_EQ(error("a,0,0,1,1,,\na,0,0,1,1,,\n"),
            "error: ./iterations.csv:3: iteration 0 of a comes after 0\n");
  EXPECT_EQ(error("a,x,0,1,1,,\n"),
            "error: ./iterations.csv:2: 'x' in column 'iteration' is not a number\n");
  EXPECT_THAT(error("a,\"0,0,1,1,,\n"), HasSubstr("./iterations.csv:2: a quote is not closed"));
  folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,1,5\n");
  EXPECT_EQ(error("a,0,0,1,1,,\n"),
            "error: './runs.csv' has two runs of seed 1 of sparsifier_k=5: a and b\n");
  folder_.write("runs.csv", "");
  EXPECT_THAT(error("a,0,0,1,1,,\n"), HasSubstr("'./runs.csv' is empty"));
}

TEST_F(ByEpoch, NamesWhatIsNotThere) {
  folder_.write("iterations.csv", "run_id,iteration,epoch,loss\na,0,0,9\n");
  EXPECT_EQ(by_epoch().code, 2);
  EXPECT_EQ(by_epoch().err, "error: './iterations.csv' has no column 'delta'\n");
}

}  // namespace
}  // namespace residuum
