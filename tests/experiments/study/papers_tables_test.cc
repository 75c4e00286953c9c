// The programs beside the published experiments read the tables that a study leaves.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class OverSeeds : public testing::Test {
 protected:
  OverSeeds() {
    folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,2,5\nc,1,7\n");
    folder_.write("iterations.csv",
                  "run_id,iteration,delta\n"
                  "a,0,9\na,10,1\na,20,\nb,0,2\nb,10,3\nb,20,4\nc,0,0.5\n");
  }
  Finished over_seeds(std::vector<std::string> options) const {
    options.insert(options.begin(), {paper_program("over_seeds"), folder_.path().string()});
    return run_program(options, folder_.path());
  }
  TemporaryFolder folder_;
};

// Two seeds: the half width is 12.7062 times half their difference.
TEST_F(OverSeeds, HasTheMeanAndStudentsIntervalOfOneNumberPerRun) {
  EXPECT_EQ(over_seeds({"delta", "last", "10"}).out,
            "sparsifier_k=5: 2 [-10.706205, 14.706205], 2 seeds\nsparsifier_k=7: 0.5, 1 seed\n");
  EXPECT_THAT(over_seeds({"delta", "last"}).out, StartsWith("sparsifier_k=5: 2.5 ["));  // 1, 4
  EXPECT_THAT(over_seeds({"delta", "max"}).out, StartsWith("sparsifier_k=5: 6.5 ["));   // 9, 4
  EXPECT_THAT(over_seeds({"delta", "mean"}).out, StartsWith("sparsifier_k=5: 4 ["));    // 5, 3
  EXPECT_THAT(over_seeds({"delta", "mean", "5-10"}).out,
              StartsWith("sparsifier_k=5: 2 ["));  // 1, 3
  EXPECT_EQ(over_seeds({"delta", "mean", "5-"}).code, 2);
  EXPECT_EQ(over_seeds({"delta", "mean", "30-40"}).err,
            "error: delta has no value in these rows\n");
}

TEST_F(OverSeeds, HasTheValueWhereAnotherColumnFallsToALimit) {
  // Run b is never at 1 or below; run c is at its first row.
  EXPECT_EQ(over_seeds({"iteration", "until", "delta", "1"}).out,
            "sparsifier_k=5: 10, 1 seed; 1 never\nsparsifier_k=7: 0, 1 seed\n");
  EXPECT_EQ(over_seeds({"iteration", "until", "delta", "0.4"}).out,
            "sparsifier_k=5: no value; 2 never\nsparsifier_k=7: no value; 1 never\n");
  EXPECT_EQ(over_seeds({"iteration", "until", "delta"}).code, 2);
  EXPECT_EQ(over_seeds({"iteration", "until", "delta", "low"}).code, 2);
  EXPECT_EQ(over_seeds({"iteration", "until", "dleta", "1"}).err,
            "error: iterations.csv has no column dleta\n");
}

TEST_F(OverSeeds, ReadsQuotedValuesWithCommas) {
  folder_.write("runs.csv",
                "run_id,p_note,p_sparsifier_k,seed\na,\"a, \"\"b\"\"\",5,1\nb,,5,2\nc,,5,3\n");
  EXPECT_THAT(over_seeds({"delta", "last", "10"}).out, StartsWith("note=a; b sparsifier_k=5: 1,"));
}

TEST_F(OverSeeds, CountsRunsWhoseLastValueIsNoEnd) {
  folder_.write("runs.csv",
                "run_id,status,seed,p_sparsifier_k\na,interrupted,1,5\nb,finished,2,5\n"
                "c,diverged,1,7\nd,missing,2,7\n");
  EXPECT_EQ(over_seeds({"delta", "last"}).out,
            "sparsifier_k=5: 4, 1 seed; 1 interrupted\n"
            "sparsifier_k=7: no value; 1 diverged; 1 missing\n");
}

TEST_F(OverSeeds, CountRunsWithoutTheColumn) {
  EXPECT_EQ(over_seeds({"delta", "last", "20-20"}).out,
            "sparsifier_k=5: 4, 1 seed; 1 without it\nsparsifier_k=7: no value; 1 without it\n");
}

TEST_F(OverSeeds, CountNumbersThatAreNotFinite) {
  folder_.write("iterations.csv",
                "run_id,iteration,delta\na,0,9\na,10,nan\nb,0,inf\nb,10,3\nc,0,0.5\n");
  EXPECT_EQ(over_seeds({"delta", "last"}).out,
            "sparsifier_k=5: 3, 1 seed; 1 not finite\nsparsifier_k=7: 0.5, 1 seed\n");
  EXPECT_EQ(over_seeds({"delta", "mean"}).out,
            "sparsifier_k=5: no value; 2 not finite\nsparsifier_k=7: 0.5, 1 seed\n");
}

TEST_F(OverSeeds, ReadATableByEpoch) {
  folder_.write("quarters.csv",
                "method,seed,epoch,measured,delta\nk=5,1,0,10,9\nk=5,1,1,10,1\nk=5,2,0,10,2\n"
                "k=5,2,1,10,3\nk=7,1,0,10,\n");
  const auto quarters = [&](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {paper_program("over_seeds"), (folder_.path() / "quarters.csv").string()});
    return run_program(options, folder_.path());
  };
  EXPECT_EQ(quarters({"delta", "last"}).out,
            "k=5: 2 [-10.706205, 14.706205], 2 seeds\nk=7: no value; 1 without it\n");
  EXPECT_THAT(quarters({"delta", "mean", "0"}).out, StartsWith("k=5: 5.5 ["));
  EXPECT_EQ(quarters({"loss", "last"}).err, "error: quarters.csv has no column loss\n");
}

TEST_F(OverSeeds, ReadATableOfRuns) {
  folder_.write(
      "runs.csv",
      "run_id,status,seed,p_k,loss\na,finished,1,5,1\nb,finished,2,5,3\nc,diverged,1,7,9\n");
  EXPECT_EQ(
      run_program(
          {paper_program("over_seeds"), (folder_.path() / "runs.csv").string(), "loss", "last"},
          folder_.path())
          .out,
      "k=5: 2 [-10.706205, 14.706205], 2 seeds\nk=7: no value; 1 diverged\n");
}

// A decimal comma of the user's language, a folder whose name awk takes for a setting, line ends of
// another system and a search path for cd change no number.
TEST_F(OverSeeds, AreTheSameWhereverTheyAreCalled) {
  const std::string expected =
      "sparsifier_k=5: 2 [-10.706205, 14.706205], 2 seeds\nsparsifier_k=7: 0.5, 1 seed\n";
  std::string iterations = read_text(folder_.path() / "iterations.csv");
  for (std::size_t at = 0; (at = iterations.find('\n', at)) != std::string::npos; at += 2) {
    iterations.replace(at, 1, "\r\n");
  }
  std::filesystem::create_directory(folder_.path() / "k=5");
  folder_.write("k=5/iterations.csv", iterations);
  folder_.write("k=5/runs.csv", read_text(folder_.path() / "runs.csv"));
  EXPECT_EQ(
      run_program({paper_program("over_seeds"), "k=5", "delta", "last", "10"}, folder_.path()).out,
      expected);
  EXPECT_EQ(run_program({"env",
                         "LC_ALL=de_DE.UTF-8",
                         "CDPATH=/",
                         paper_program("over_seeds"),
                         folder_.path().string(),
                         "delta",
                         "last",
                         "10"},
                        folder_.path())
                .out,
            expected);
}

// The seeds are 0 to 30, of variance 248 / 3; t of 30 degrees of freedom is 2.042272.
TEST_F(OverSeeds, HaveIntervalsOfManySeeds) {
  std::string runs = "run_id,seed,p_k\n";
  std::string iterations = "run_id,iteration,delta\n";
  for (int seed = 0; seed <= 30; ++seed) {
    runs += fmt::format("r{0},{0},5\n", seed);
    iterations += fmt::format("r{0},0,{0}\n", seed);
  }
  folder_.write("runs.csv", runs);
  folder_.write("iterations.csv", iterations);
  EXPECT_THAT(over_seeds({"delta", "last"}).out, StartsWith("k=5: 15 [11.66498"));
}

TEST_F(OverSeeds, RefuseTablesThatAreBroken) {
  const auto error = [&](const std::string& iterations) {
    folder_.write("iterations.csv", "run_id,iteration,delta\n" + iterations);
    const Finished finished = over_seeds({"delta", "last"});
    EXPECT_EQ(finished.code, 2);
    EXPECT_EQ(finished.out, "");
    return finished.err;
  };
  EXPECT_EQ(error("a,0,1\na,10,many\n"),
            "error: iterations.csv, line 3: delta is \"many\", which is no number\n");
  EXPECT_EQ(error("a,0,1\na,10\n"),
            "error: iterations.csv, line 3: there are 2 fields instead of 3\n");
  EXPECT_THAT(error("a,0,1\na,10,15"), HasSubstr("is cut short: its last line does not end"));
  EXPECT_EQ(error("z,0,1\n"), "error: runs.csv has no run z\n");
  EXPECT_EQ(error("a,0,1\na,0,1\n"),
            "error: iterations.csv, line 3: iteration 0 of a comes after 0\n");
  EXPECT_EQ(error("a,x,1\n"),
            "error: iterations.csv, line 2: iteration is \"x\", which is no number\n");
  EXPECT_THAT(error("a,\"0,1\n"), HasSubstr("line 2: a quote is not closed"));
  folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,1,5\n");
  EXPECT_EQ(error("a,0,1\n"),
            "error: runs.csv has two runs of seed 1 of sparsifier_k=5: a and b\n");
  folder_.write("runs.csv", "");
  EXPECT_THAT(error("a,0,1\n"), HasSubstr("runs.csv is empty"));
  folder_.write("runs.csv", "run_id,p_sparsifier_k\na,5\n");
  EXPECT_EQ(error("a,0,1\n"), "error: runs.csv has no column seed\n");
}

// After the first iteration: 7 - 1 seconds of gradients and so on, in two iterations.
TEST_F(OverSeeds, AreNotNeededForWhatAnIterationGoesTo) {
  folder_.write("networks.csv",
                "run_id,iteration,network,compute_s,select_s,merge_s,wire_s,virtual_s\n"
                "a,0,1gbe,1,2,0.5,3,6.5\na,1,1gbe,2,2,1,4,9\na,2,1gbe,7,4,1.5,5,17.5\n"
                "b,0,1gbe,1,2,3,4,10\n");
  const auto per_iteration = [&](const std::string& results) {
    return run_program({paper_program("per_iteration"), results}, folder_.path());
  };
  EXPECT_EQ(per_iteration(folder_.path().string()).out,
            "method,network,iteration_ms,compute_ms,select_ms,merge_ms,wire_ms\n"
            "sparsifier_k=5,1gbe,5500,3000,1000,500,1000\n");
  EXPECT_EQ(per_iteration("nowhere").code, 2);
  folder_.write("runs.csv", "run_id,seed,p_protocol_compute\na,1,\"lognormal:0.1,0.5\"\nb,2,\n");
  EXPECT_THAT(per_iteration(folder_.path().string()).out,
              HasSubstr("\nprotocol_compute=lognormal:0.1;0.5,1gbe,5500,"));
}

TEST_F(OverSeeds, NamesWhatIsNotThere) {
  const Finished finished = over_seeds({"dleta", "max"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.err, "error: iterations.csv has no column dleta\n");
  EXPECT_EQ(over_seeds({"delta", "median"}).code, 2);
}

class ByEpoch : public testing::Test {
 protected:
  ByEpoch() { folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,2,5\n"); }
  Finished by_epoch(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command{paper_program("by_epoch"), folder_.path().string()};
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command, folder_.path());
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

TEST_F(ByEpoch, TakesEqualPartsOfARun) {
  folder_.write("runs.csv", "run_id,seed,iterations,p_sparsifier_k\na,1,4,5\n");
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\n"
                "a,0,0,9,0.5,,\na,1,0,8,1.5,,\na,2,0,7,2,,\na,3,0,6,4,,\n");
  EXPECT_THAT(by_epoch({"2"}).out,
              EndsWith("\nsparsifier_k=5,1,0,2,8,1,,,,1.5,1\nsparsifier_k=5,1,1,2,6,3,,,,4,2\n"));
  EXPECT_EQ(by_epoch({"0"}).code, 2);
}

TEST_F(ByEpoch, ReadsQuotedValuesWithCommas) {
  folder_.write("runs.csv", "run_id,p_sparsifier_k,seed\na,\"[5, 6]\",1\n");
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\na,0,0,9,0.5,,\n");
  EXPECT_THAT(by_epoch().out, EndsWith("\nsparsifier_k=[5; 6],1,0,1,9,0.5,,,,0.5,0\n"));
}

TEST_F(ByEpoch, CountsNoDeltaThatIsNotFinite) {
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\n"
                "a,0,0,9,0.5,,\na,1,0,nan,nan,,\na,2,0,,inf,,\n");
  EXPECT_THAT(by_epoch().out, EndsWith("\nsparsifier_k=5,1,0,3,9,0.5,,,,0.5,0\n"));
  folder_.write("iterations.csv",
                "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\na,0,0,9,big,,\n");
  EXPECT_EQ(by_epoch().err,
            "error: iterations.csv, line 2: delta is \"big\", which is no number\n");
}

// The rows that are kept of a run are not all of its iterations, and their means would be others.
TEST_F(ByEpoch, PrintWhatWasKeptWhereNotEveryIterationIs) {
  folder_.write("iterations.csv", "run_id,iteration,epoch,loss\na,0,0,9\n");
  folder_.write("epochs.csv", "by epoch\n");
  EXPECT_EQ(by_epoch().out, "by epoch\n");
  EXPECT_EQ(by_epoch({"4"}).code, 2);
  EXPECT_THAT(by_epoch({"4"}).err, HasSubstr("has no quarters.csv"));
  folder_.write("quarters.csv", "by quarters\n");
  EXPECT_EQ(by_epoch({"4"}).out, "by quarters\n");
  EXPECT_EQ(by_epoch({"8"}).code, 2);
  EXPECT_THAT(by_epoch({"8"}).err, HasSubstr("give 4 or no PARTS"));
}

TEST_F(ByEpoch, NamesWhatIsNotThere) {
  folder_.write("iterations.csv", "run_id,iteration,epoch,loss\na,0,0,9\n");
  EXPECT_EQ(by_epoch().code, 2);
  EXPECT_EQ(by_epoch().err, "error: iterations.csv has no column delta\n");
}

}  // namespace
}  // namespace residuum
