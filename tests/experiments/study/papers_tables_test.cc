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

const std::filesystem::path kPrograms = RESIDUUM_STUDIES "/papers";

class OverSeeds : public testing::Test {
 protected:
  OverSeeds() {
    folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,2,5\nc,1,7\n");
    folder_.write("iterations.csv",
                  "run_id,iteration,delta\n"
                  "a,0,9\na,10,1\na,20,\nb,0,2\nb,10,3\nb,20,4\nc,0,0.5\n");
  }
  Finished over_seeds(std::vector<std::string> options) const {
    options.insert(options.begin(), {(kPrograms / "over_seeds").string(), folder_.path().string()});
    return run_program(options, folder_.path());
  }
  TemporaryFolder folder_;
};

// Two seeds: the half width is 12.7062 times half their difference.
TEST_F(OverSeeds, HasTheMeanAndStudentsIntervalOfOneNumberPerRun) {
  EXPECT_EQ(over_seeds({"delta", "last", "10"}).out,
            "sparsifier_k=5: 2 [-10.7062, 14.7062], 2 seeds\nsparsifier_k=7: 0.5, 1 seed\n");
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
    options.insert(
        options.begin(),
        {(kPrograms / "over_seeds").string(), (folder_.path() / "quarters.csv").string()});
    return run_program(options, folder_.path());
  };
  EXPECT_EQ(quarters({"delta", "last"}).out, "k=5: 2 [-10.7062, 14.7062], 2 seeds\n");
  EXPECT_THAT(quarters({"delta", "mean", "0"}).out, StartsWith("k=5: 5.5 ["));
  EXPECT_EQ(quarters({"loss", "last"}).err, "error: quarters.csv has no column loss\n");
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
  EXPECT_EQ(error("a,0,1\na,10"),
            "error: iterations.csv, line 3: there are 2 fields instead of 3\n");
  EXPECT_EQ(error("z,0,1\n"), "error: runs.csv has no run z\n");
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
    return run_program({(kPrograms / "per_iteration").string(), results}, folder_.path());
  };
  EXPECT_EQ(per_iteration(folder_.path().string()).out,
            "method,network,iteration_ms,compute_ms,select_ms,merge_ms,wire_ms\n"
            "sparsifier_k=5,1gbe,5500,3000,1000,500,1000\n");
  EXPECT_EQ(per_iteration("nowhere").code, 2);
  folder_.write("runs.csv", "run_id,seed,p_protocol_compute\na,1,\"lognormal:0.1,0.5\"\n");
  EXPECT_THAT(per_iteration(folder_.path().string()).out,
              HasSubstr("\nprotocol_compute=lognormal:0.1;0.5,1gbe,5500,"));
}

TEST_F(OverSeeds, NamesWhatIsNotThere) {
  const Finished finished = over_seeds({"dleta", "max"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.err, "error: iterations.csv has no column dleta\n");
  EXPECT_EQ(over_seeds({"delta", "median"}).code, 2);
}

class Paired : public testing::Test {
 protected:
  Paired() {
    folder_.write("runs.csv",
                  "run_id,seed,p_kind,p_workers,loss\n"
                  "a,1,base,4,1\nb,2,base,4,2\nc,1,other,4,1.5\nd,2,other,4,3.5\n"
                  "e,1,other,8,9\nf,1,base,8,4\ng,3,other,4,7\n");
  }
  Finished paired(const std::string& column, const std::string& baseline) const {
    return run_program({(kPrograms / "paired").string(),
                        folder_.path().string(),
                        column,
                        "kind",
                        baseline,
                        "workers"},
                       folder_.path());
  }
  TemporaryFolder folder_;
};

// The differences are 0.5 and 1.5 at four workers: mean 1, half width 12.7062 / 2, variance 0.5, so
// that 7.849 / 2 + 1.921 pairs would decide. The third seed has no baseline.
TEST_F(Paired, HasTheMeanDifferenceOfRunsOfTheSameSeed) {
  EXPECT_EQ(paired("loss", "base").out,
            "kind=other workers=4: 1 [-5.3531, 7.3531], 2 pairs; about 6 would decide\n"
            "kind=other workers=8: 5, 1 pair\n");
  EXPECT_EQ(paired("loss", "another").code, 2);
  EXPECT_EQ(paired("loss", "another").err, "error: no run with kind = another has a loss\n");
}

TEST_F(Paired, ComparesRunsThatDifferInOneKeyAlone) {
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_clip,p_workers,loss\n"
                "a,1,base,no,4,1\nb,1,base,yes,4,2\nc,1,other,no,4,4\nd,1,other,yes,4,7\n");
  const Finished all = run_program(
      {(kPrograms / "paired").string(), folder_.path().string(), "loss", "kind", "base", "all"},
      folder_.path());
  EXPECT_EQ(all.out,
            "kind=other clip=no workers=4: 3, 1 pair\nkind=other clip=yes workers=4: 5, 1 pair\n");
}

TEST_F(Paired, ComparesAllRunsOfASeedWithOne) {
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_density,loss\n"
                "a,1,base,,1\nb,2,base,,2\nc,1,other,5,4\nd,2,other,5,5\n");
  EXPECT_EQ(run_program({(kPrograms / "paired").string(),
                         folder_.path().string(),
                         "loss",
                         "kind",
                         "base",
                         "none"},
                        folder_.path())
                .out,
            "kind=other density=5: 3 [3, 3], 2 pairs\n");
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
    return run_program(
        {(kPrograms / "at_cost").string(), folder_.path().string(), cost, budget, "equal"},
        folder_.path());
  }
  std::string losses() const { return read_text(folder_.path() / "equal/runs.csv"); }
};

// A row's f is taken before its bytes are sent: run a has sent 10 before it measures 3, and 30 in
// all.
TEST_F(AtCost, TakesTheLossWithinABudgetOfBytes) {
  folder_.write("iterations.csv",
                "run_id,iteration,loss,uplink_bytes,total_uplink_bytes\n"
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
  EXPECT_EQ(at_cost("bytes", "1").err, "error: iterations.csv has no column total_uplink_bytes\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "equal/runs.csv.part"));
  folder_.write("equal/runs.csv", "of another budget");
  EXPECT_EQ(at_cost("bytes", "1").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "equal/runs.csv"));
  folder_.write("file", "");
  const Finished file =
      run_program({(kPrograms / "at_cost").string(), folder_.path().string(), "bytes", "1", "file"},
                  folder_.path());
  EXPECT_EQ(file.err, "error: file is no folder; give another OUT\n");
  EXPECT_EQ(file.code, 2);
  const Finished itself =
      run_program({(kPrograms / "at_cost").string(), folder_.path().string(), "fast", "1", "."},
                  folder_.path());
  EXPECT_EQ(itself.err, "error: OUT is RESULTS, whose runs.csv would be lost; give another OUT\n");
  EXPECT_EQ(itself.code, 2);
}

TEST_F(AtCost, ReadsQuotesAndTakesNoEndFromARunThatDiverged) {
  folder_.write("runs.csv",
                "run_id,status,p_kind,final_loss\na,finished,\"x, y\",0.5\nb,diverged,z,9e9\n");
  folder_.write("iterations.csv",
                "run_id,iteration,note,loss,uplink_bytes,total_uplink_bytes\n"
                "a,0,\"1, 2\",5,10,10\nb,0,,5,10,10\n");
  EXPECT_EQ(at_cost("bytes", "50").code, 0);
  EXPECT_THAT(losses(), EndsWith("\na,finished,\"x, y\",0.5,0.5,,0.5\nb,diverged,z,9e9,5,0,\n"));
}

class ByEpoch : public testing::Test {
 protected:
  ByEpoch() { folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,2,5\n"); }
  Finished by_epoch(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command{(kPrograms / "by_epoch").string(), folder_.path().string()};
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
