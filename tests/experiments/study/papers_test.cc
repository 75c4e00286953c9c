// The committed studies of published experiments: each can be planned as it stands, says what is
// expected of it and how long it takes, and is named in the table of results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path kPapers = RESIDUUM_STUDIES "/papers";

std::vector<std::string> studies() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kPapers)) {
    if (entry.path().extension() == ".toml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Papers : public testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path path() const { return kPapers / (GetParam() + ".toml"); }
};

/// The data set that has to be there, empty for none.
std::string needed_data(const std::string& study) {
  static const std::regex line("(?:^|\n)data +=  *\"([^\"]+)\"");
  std::smatch found;
  if (!std::regex_search(study, found, line) || found[1].str().starts_with("synthetic-")) {
    return {};
  }
  return found[1];
}

TEST_P(Papers, CanBePlanned) {
  const std::string data = needed_data(read_text(path()));
  if (!data.empty() && !std::filesystem::exists(std::filesystem::path(RESIDUUM_TEST_DATA) / data)) {
    GTEST_SKIP() << "the data set '" << data << "' is not in " << RESIDUUM_TEST_DATA;
  }
  const TemporaryFolder folder;
  const Finished finished = residuum_program(
      {"plan", path().string(), "--data-dir", RESIDUUM_TEST_DATA, "--format", "json"},
      folder.path());

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_GE(nlohmann::json::parse(finished.out).size(), 2);
}

TEST_P(Papers, SayWhatIsExpectedAndHowLongTheyTake) {
  const std::string study = read_text(path());
  EXPECT_THAT(study, StartsWith("# "));
  const std::string head = study.substr(0, study.find("\nschema"));
  EXPECT_THAT(head, HasSubstr("\n# Expected"));
  EXPECT_THAT(head, HasSubstr("\n# Run time: "));
}

TEST_P(Papers, AreNamedInTheTableOfResults) {
  EXPECT_THAT(read_text(kPapers / "README.md"), HasSubstr("`" + GetParam() + ".toml`"));
}

INSTANTIATE_TEST_SUITE_P(All, Papers, testing::ValuesIn(studies()), [](const auto& study) {
  return study.param;
});

class OverSeeds : public testing::Test {
 protected:
  OverSeeds() {
    folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,2,5\nc,1,7\n");
    folder_.write("iterations.csv",
                  "run_id,iteration,delta\n"
                  "a,0,9\na,10,1\na,20,\nb,0,2\nb,10,3\nb,20,4\nc,0,0.5\n");
  }
  Finished over_seeds(std::vector<std::string> options) const {
    options.insert(options.begin(), {(kPapers / "over_seeds").string(), folder_.path().string()});
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
            "sparsifier_k=5: 10, 1 seed\nsparsifier_k=7: 0, 1 seed\n");
  EXPECT_EQ(over_seeds({"iteration", "until", "delta"}).code, 2);
  EXPECT_EQ(over_seeds({"iteration", "until", "delta", "low"}).code, 2);
  EXPECT_EQ(over_seeds({"iteration", "until", "dleta", "1"}).err,
            "error: iterations.csv has no column dleta\n");
}

TEST_F(OverSeeds, ReadsQuotedValuesWithCommas) {
  folder_.write("runs.csv", "run_id,p_note,p_sparsifier_k,seed\na,\"a, \"\"b\"\"\",5,1\nb,,5,2\n");
  EXPECT_THAT(over_seeds({"delta", "last", "10"}).out, StartsWith("note=a; b sparsifier_k=5: 1,"));
}

// After the first iteration: 7 - 1 seconds of gradients and so on, in two iterations.
TEST_F(OverSeeds, AreNotNeededForWhatAnIterationGoesTo) {
  folder_.write("networks.csv",
                "run_id,iteration,network,compute_s,select_s,merge_s,wire_s,virtual_s\n"
                "a,0,1gbe,1,2,0.5,3,6.5\na,1,1gbe,2,2,1,4,9\na,2,1gbe,7,4,1.5,5,17.5\n"
                "b,0,1gbe,1,2,3,4,10\n");
  const auto per_iteration = [&](const std::string& results) {
    return run_program({(kPapers / "per_iteration").string(), results}, folder_.path());
  };
  EXPECT_EQ(per_iteration(folder_.path().string()).out,
            "method,network,iteration_ms,compute_ms,select_ms,merge_ms,wire_ms\n"
            "sparsifier_k=5,1gbe,5500,3000,1000,500,1000\n");
  EXPECT_EQ(per_iteration("nowhere").code, 2);
  folder_.write("runs.csv", "run_id,seed,p_protocol_compute\na,1,\"lognormal:0.1,0.5\"\n");
  EXPECT_EQ(per_iteration(folder_.path().string()).code, 2);
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
    return run_program({(kPapers / "paired").string(),
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
            "kind=other workers=4: 1 [-5.353, 7.353], 2 pairs; about 6 would decide\n"
            "kind=other workers=8: 5, 1 pair\n");
  EXPECT_EQ(paired("loss", "another").code, 2);
  EXPECT_EQ(paired("loss", "another").err, "error: no run with kind = another has a loss\n");
}

TEST_F(Paired, ComparesRunsThatDifferInOneKeyAlone) {
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_clip,p_workers,loss\n"
                "a,1,base,no,4,1\nb,1,base,yes,4,2\nc,1,other,no,4,4\nd,1,other,yes,4,7\n");
  const Finished all = run_program(
      {(kPapers / "paired").string(), folder_.path().string(), "loss", "kind", "base", "all"},
      folder_.path());
  EXPECT_EQ(all.out,
            "kind=other clip=no workers=4: 3, 1 pair\nkind=other clip=yes workers=4: 5, 1 pair\n");
}

TEST_F(Paired, ComparesAllRunsOfASeedWithOne) {
  folder_.write("runs.csv",
                "run_id,seed,p_kind,p_density,loss\n"
                "a,1,base,,1\nb,2,base,,2\nc,1,other,5,4\nd,2,other,5,5\n");
  EXPECT_EQ(
      run_program(
          {(kPapers / "paired").string(), folder_.path().string(), "loss", "kind", "base", "none"},
          folder_.path())
          .out,
      "kind=other density=5: 3 [3, 3], 2 pairs\n");
}

TEST_F(Paired, NamesWhatIsNotThere) {
  EXPECT_EQ(paired("lss", "base").code, 2);
  EXPECT_EQ(paired("lss", "base").err, "error: runs.csv has no column lss\n");
  folder_.write("runs.csv", "run_id,seed,p_kind,p_workers,loss\na,1,\"base,b\",4,1\n");
  EXPECT_THAT(paired("loss", "base").err, HasSubstr("values in quotes"));
}

class AtCost : public Paired {
 protected:
  Finished at_cost(const std::string& cost, const std::string& budget) const {
    return run_program(
        {(kPapers / "at_cost").string(), folder_.path().string(), cost, budget, "equal"},
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
          "run_id,seed,p_kind,p_workers,loss,loss_at_cost,iteration_at_cost\na,1,base,4,1,3,1\n"));
  EXPECT_THAT(losses(), HasSubstr("c,1,other,4,1.5,4,0\n"));
  EXPECT_EQ(at_cost("bytes", "20").code, 0);
  EXPECT_THAT(losses(), HasSubstr("a,1,base,4,1,1,2\n"));
  EXPECT_THAT(losses(), HasSubstr("c,1,other,4,1.5,2,1\n"));
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

  const std::string header = "run_id,seed,iterations,final_loss,loss_at_cost,iteration_at_cost\n";
  EXPECT_EQ(at_cost("slow", "1.5").code, 0);
  EXPECT_EQ(losses(), header + "a,1,2,0.5,5,0\nb,1,2,0.6,,\n");
  EXPECT_EQ(at_cost("slow", "4").code, 0);  // run a has ended, and with its last f
  EXPECT_EQ(losses(), header + "a,1,2,0.5,0.5,2\nb,1,2,0.6,5,0\n");
  EXPECT_EQ(at_cost("fast", "0.8").code, 0);
  EXPECT_EQ(losses(), header + "a,1,2,0.5,0.5,2\nb,1,2,0.6,0.6,2\n");
}

TEST_F(AtCost, NamesWhatIsNotThere) {
  folder_.write("iterations.csv", "run_id,iteration,loss\na,0,5\n");
  EXPECT_THAT(at_cost("slow", "1").err, HasSubstr("has no networks.csv"));
  folder_.write("networks.csv", "run_id,iteration,network,virtual_s\na,0,fast,1\n");
  EXPECT_EQ(at_cost("slow", "1").err, "error: networks.csv has no network slow\n");
  EXPECT_EQ(at_cost("bytes", "1").err, "error: iterations.csv has no column total_uplink_bytes\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "equal/runs.csv.part"));
  const Finished itself = run_program(
      {(kPapers / "at_cost").string(), folder_.path().string(), "fast", "1", "."}, folder_.path());
  EXPECT_EQ(itself.err, "error: OUT is RESULTS, whose runs.csv would be lost; give another OUT\n");
  EXPECT_EQ(itself.code, 2);
}

class ByEpoch : public testing::Test {
 protected:
  ByEpoch() { folder_.write("runs.csv", "run_id,seed,p_sparsifier_k\na,1,5\nb,2,5\n"); }
  Finished by_epoch(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command{(kPapers / "by_epoch").string(), folder_.path().string()};
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

TEST_F(ByEpoch, NamesWhatIsNotThere) {
  folder_.write("iterations.csv", "run_id,iteration,epoch,loss\na,0,0,9\n");
  EXPECT_EQ(by_epoch().code, 2);
  EXPECT_EQ(by_epoch().err, "error: iterations.csv has no column delta\n");
}

}  // namespace
}  // namespace residuum
