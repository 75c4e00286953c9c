// Seeds of a study that are run one after the other add up to the tables that are kept of it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::filesystem::path kKeepSeeds = RESIDUUM_STUDIES "/papers/keep_seeds";

class KeepSeeds : public testing::Test {
 protected:
  KeepSeeds() {
    if (run_program({"jq", "--version"}, folder_.path()).code != 0) {
      missing_ = "jq is not there";
    }
  }
  void SetUp() override {
    if (!missing_.empty()) {
      GTEST_SKIP() << missing_;
    }
  }

  /// Leaves the tables of a study of two methods with one seed, whose run ids end with `id`.
  void leave(const std::string& seed, const std::string& id, const std::string& loss) const {
    for (const char* run : {"a", "b"}) {
      std::filesystem::create_directories(folder_.path() / "results/runs" / (run + id));
    }
    const std::string a = "a" + id;
    const std::string b = "b" + id;
    folder_.write("results/runs.csv",
                  "run_id,seed,iterations,p_kind,final_loss\n" + b + "," + seed + ",4,top," + loss +
                      "\n" + a + "," + seed + ",4,dense," + loss + "\n");
    folder_.write("results/iterations.csv",
                  "run_id,iteration,epoch,loss,delta,contraction,test_accuracy,xi\n" +  //
                      b + ",0,0,9,0.5,,,\n" + b + ",1,0,,1.5,,,\n" + b + ",2,1," + loss +
                      ",0.25,,0.75,\n" + b + ",3,1,,,,,\n" + a + ",0,0,9,,,,\n");
    folder_.write("results/networks.csv",
                  "run_id,iteration,network,virtual_s\n" + b + ",1,1gbe,3\n" + b + ",2,1gbe,4\n" +
                      b + ",2,10gbe,2\n");
    folder_.write("results/summary.json",
                  R"({"provenance": {"command": "residuum run s.toml --set seeds=[)" + seed +
                      R"(]", "CPU": "one"}, "timing": {"started_utc": "then"}})");
    folder_.write("results/runs/" + b + "/status.json",
                  R"({"provenance": {"residuum": "abc"}, "wall_s": 2})");
    folder_.write("results/runs/" + a + "/status.json",
                  R"({"provenance": {"residuum": "abc"}, "wall_s": 3})");
  }
  Finished keep(const std::vector<std::string>& rows = {}) const {
    std::vector<std::string> words{kKeepSeeds.string(), "results", "kept"};
    words.insert(words.end(), rows.begin(), rows.end());
    return run_program(words, folder_.path());
  }
  std::string kept(const std::string& name) const {
    return read_text(folder_.path() / "kept" / name);
  }
  TemporaryFolder folder_;
  std::string missing_;
};

TEST_F(KeepSeeds, AddsTheRunsOfASeedToThoseThatAreThere) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().err, "");
  std::filesystem::remove_all(folder_.path() / "results");
  leave("2", "2", "6");
  ASSERT_EQ(keep().err, "");

  EXPECT_EQ(kept("runs.csv"),
            "run_id,seed,iterations,p_kind,final_loss\n"
            "a1,1,4,dense,4\na2,2,4,dense,6\nb1,1,4,top,4\nb2,2,4,top,6\n");
  EXPECT_EQ(kept("iterations.csv"),
            "run_id,iteration,epoch,loss,delta,test_accuracy\n"
            "a1,0,0,9,,\na2,0,0,9,,\n"
            "b1,0,0,9,0.5,\nb1,2,1,4,0.25,0.75\nb2,0,0,9,0.5,\nb2,2,1,6,0.25,0.75\n");
  EXPECT_EQ(kept("networks.csv"),
            "run_id,iteration,network,virtual_s\n"
            "b1,2,1gbe,4\nb1,2,10gbe,2\nb2,2,1gbe,4\nb2,2,10gbe,2\n");
  // By epoch nothing is left out: the delta of iteration 1 counts.
  EXPECT_EQ(kept("epochs.csv"),
            "method,seed,epoch,measured,loss,delta,contraction,test_accuracy,test_perplexity,"
            "delta_max,delta_above_1\n"
            "kind=dense,1,0,1,9,,,,,,\nkind=dense,2,0,1,9,,,,,,\n"
            "kind=top,1,0,2,9,1,,,,1.5,1\nkind=top,1,1,2,4,0.25,,0.75,,0.25,0\n"
            "kind=top,2,0,2,9,1,,,,1.5,1\nkind=top,2,1,2,6,0.25,,0.75,,0.25,0\n");
  // Each of the four iterations is a quarter.
  EXPECT_THAT(kept("quarters.csv"),
              HasSubstr("kind=top,1,0,1,9,0.5,,,,0.5,0\nkind=top,1,1,1,,1.5,,,,1.5,1\n"));
  const auto made = nlohmann::json::parse(kept("made.json"));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[1]["seeds"], nlohmann::json::array({2}));
  EXPECT_EQ(made[1]["command"], "residuum run s.toml --set seeds=[2]");
  EXPECT_EQ(made[1]["programs"], nlohmann::json::array({"abc"}));
  EXPECT_EQ(made[1]["run_s"], 5);
}

TEST_F(KeepSeeds, ReplacesARunThatIsThere) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  leave("1", "1", "5");
  ASSERT_EQ(keep().code, 0);

  EXPECT_EQ(kept("runs.csv"),
            "run_id,seed,iterations,p_kind,final_loss\na1,1,4,dense,5\nb1,1,4,top,5\n");
  EXPECT_EQ(kept("iterations.csv"),
            "run_id,iteration,epoch,loss,delta,test_accuracy\n"
            "a1,0,0,9,,\nb1,0,0,9,0.5,\nb1,2,1,5,0.25,0.75\n");
  EXPECT_EQ(nlohmann::json::parse(kept("made.json")).size(), 1U);
}

TEST_F(KeepSeeds, KeepsSomeRowsOfARunFromItsFirstToItsLast) {
  leave("1", "1", "4");
  std::string iterations = "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\n";
  std::string networks = "run_id,iteration,network,virtual_s\n";
  for (const int iteration : {0, 1, 2, 3, 6, 7, 10}) {  // half of the run is before 5
    iterations += fmt::format("b1,{},0,{},0.5,,\n", iteration, 20 - iteration);
    networks += fmt::format("b1,{},1gbe,{}\n", iteration, 2 * iteration);
  }
  folder_.write("results/iterations.csv", iterations + "b1,11,0,,2.5,,\na1,0,0,9,,,\n");
  folder_.write("results/networks.csv", networks);
  ASSERT_EQ(keep({"3"}).err, "");

  EXPECT_EQ(kept("iterations.csv"),
            "run_id,iteration,epoch,loss,delta\n"
            "a1,0,0,9,\nb1,0,0,20,0.5\nb1,6,0,14,0.5\nb1,10,0,10,0.5\n");
  EXPECT_EQ(kept("networks.csv"),
            "run_id,iteration,network,virtual_s\nb1,0,1gbe,0\nb1,6,1gbe,12\nb1,10,1gbe,20\n");
  EXPECT_THAT(kept("epochs.csv"), HasSubstr("kind=top,1,0,8,"));  // of all iterations
  const Finished one = keep({"1"});
  EXPECT_EQ(one.code, 2);
  EXPECT_EQ(one.err, "error: ROWS is '1'; it has to be a number from 2 on\n");
}

TEST_F(KeepSeeds, LeavesOutRunsThatWereNeverBegun) {
  leave("1", "1", "4");
  folder_.write("results/runs.csv",
                "run_id,status,seed,iterations\na1,missing,1,\nb1,finished,1,4\n");
  const Finished finished = keep();
  ASSERT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "1 run of results has not ended and is left out\n");
  EXPECT_EQ(kept("runs.csv"), "run_id,status,seed,iterations\nb1,finished,1,4\n");
}

TEST_F(KeepSeeds, LeavesOutRunsThatHaveNotEnded) {
  leave("1", "1", "4");
  folder_.write("results/runs.csv",
                "run_id,status,seed,iterations\na1,diverged,1,4\nb1,interrupted,1,4\n");
  ASSERT_EQ(keep().code, 0);
  EXPECT_EQ(kept("runs.csv"), "run_id,status,seed,iterations\na1,diverged,1,4\n");
  EXPECT_EQ(kept("iterations.csv"), "run_id,iteration,epoch,loss\na1,0,0,9\n");
  EXPECT_EQ(kept("epochs.csv"),
            "method,seed,epoch,measured,loss,delta,contraction,test_accuracy,test_perplexity,"
            "delta_max,delta_above_1\nall,1,0,1,9,,,,,,\n");
  folder_.write("results/runs.csv",
                "run_id,status,seed,iterations\na1,running,1,4\nb1,interrupted,1,4\n");
  EXPECT_EQ(keep().err, "error: no run of results has ended\n");
  EXPECT_EQ(keep().code, 2);
}

// Runs that were copied from another study's results say by which command they were made, and on
// which machine; the parts that --shard has cut a command into are one entry.
TEST_F(KeepSeeds, TakesTheCommandOfEachRun) {
  leave("1", "1", "4");
  folder_.write("results/runs/a1/status.json",
                R"({"provenance": {"residuum": "abc", "command": "residuum run t.toml --shard 3/4",
                    "CPU": "another"}, "started_utc": "before", "wall_s": 3})");
  ASSERT_EQ(keep().err, "");
  auto made = nlohmann::json::parse(kept("made.json"));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0]["command"], "residuum run s.toml --set seeds=[1]");
  EXPECT_EQ(made[0]["runs"], nlohmann::json::array({"b1"}));
  EXPECT_EQ(made[0]["run_s"], 2);
  EXPECT_EQ(made[1]["command"], "residuum run t.toml --shard 3/4");
  EXPECT_EQ(made[1]["runs"], nlohmann::json::array({"a1"}));
  EXPECT_EQ(made[1]["CPU"], "another");
  EXPECT_EQ(made[1]["started_utc"], "before");

  folder_.write("results/runs/b1/status.json",
                R"({"provenance": {"residuum": "abc", "command": "residuum run t.toml --shard 1/4",
                    "CPU": "another"}, "wall_s": 2})");
  ASSERT_EQ(keep().err, "");
  made = nlohmann::json::parse(kept("made.json"));
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0]["command"], "residuum run t.toml");
  EXPECT_EQ(made[0]["runs"].size(), 2U);
  EXPECT_EQ(made[0]["run_s"], 5);
}

// A run that another program made again is no longer of the first one, whose other runs stay its
// own.
TEST_F(KeepSeeds, SaysOfEveryRunWhichProgramMadeIt) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  folder_.write("results/runs.csv", "run_id,seed,iterations,p_kind,final_loss\na1,1,4,dense,5\n");
  folder_.write("results/runs/a1/status.json",
                R"({"provenance": {"residuum": "def"}, "wall_s": 3})");
  ASSERT_EQ(keep().code, 0);
  const auto made = nlohmann::json::parse(kept("made.json"));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0]["runs"], nlohmann::json::array({"b1"}));
  EXPECT_EQ(made[0]["programs"], nlohmann::json::array({"abc"}));
  EXPECT_EQ(made[1]["runs"], nlohmann::json::array({"a1"}));
  EXPECT_EQ(made[1]["programs"], nlohmann::json::array({"def"}));
}

// Files without a word, a table that ends before its run, and what is kept in part are refused.
TEST_F(KeepSeeds, RefusesWhatIsCutShort) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  const std::string before = kept("quarters.csv");
  for (const char* file :
       {"results/summary.json", "results/runs/a1/status.json", "kept/made.json"}) {
    const std::string whole = read_text(folder_.path() / file);
    folder_.write(file, "");
    EXPECT_EQ(keep().code, 2) << file;
    EXPECT_THAT(keep().err, testing::StartsWith("error: " + std::string(file) + " is ")) << file;
    folder_.write(file, whole);
  }
  folder_.write("results/iterations.csv",
                "run_id,iteration,epoch,loss\nb1,0,0,9\nb1,1,0,4\na1,0,0,9\n");
  EXPECT_EQ(keep().code, 2);
  EXPECT_EQ(keep().err,
            "error: iterations.csv ends at iteration 1 of b1, which made 4; run residuum report "
            "again\n");
  EXPECT_EQ(kept("quarters.csv"), before);
  leave("1", "1", "4");
  std::filesystem::remove(folder_.path() / "kept/epochs.csv");
  EXPECT_EQ(keep().code, 2);
  EXPECT_EQ(keep().err, "error: kept has a runs.csv and no epochs.csv; restore it\n");
}

TEST_F(KeepSeeds, NamesWhatIsNotThereAndLeavesWhatIsKept) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  const std::string before = kept("runs.csv");
  std::filesystem::remove(folder_.path() / "results/summary.json");
  EXPECT_EQ(keep().code, 2);
  EXPECT_EQ(keep().err, "error: results has no summary.json; run residuum report results first\n");
  folder_.write("results/summary.json", R"({"provenance": )");
  EXPECT_EQ(keep().code, 2);
  EXPECT_EQ(keep().err,
            "error: results/summary.json is broken or says nothing of the program; run residuum "
            "report results\n");
  leave("1", "1", "4");
  folder_.write("results/runs/a1/status.json", "{}");
  EXPECT_EQ(keep().code, 2);
  EXPECT_EQ(keep().err,
            "error: results/runs/a1/status.json is not there, is broken or says nothing of the "
            "program\n");
  leave("1", "1", "4");
  const Finished itself =
      run_program({(kKeepSeeds).string(), "results", "./results"}, folder_.path());
  EXPECT_EQ(itself.err,
            "error: ./results cannot be the folder of what is kept; give another KEPT\n");
  EXPECT_EQ(itself.code, 2);
  // A run of the same method and seed with another configuration is not a second one of it.
  leave("1", "9", "4");
  EXPECT_EQ(keep().code, 2);
  EXPECT_EQ(keep().err, "error: runs.csv has two runs of seed 1 of kind=dense: a1 and a9\n");
  folder_.write("results/runs.csv", "run_id,p_kind\na1,dense\n");
  EXPECT_EQ(keep().code, 2);
  EXPECT_EQ(keep().err, "error: runs.csv has no column seed\n");
  EXPECT_EQ(kept("runs.csv"), before);
}

}  // namespace
}  // namespace residuum
