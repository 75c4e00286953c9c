// Seeds of a study that are run one after the other add up to the tables that are kept of it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/table_prints.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Returns the text with "a1" for "a-000000000001", so that the expected text can be read.
std::string with_short_ids(const std::string& text) {
  return std::regex_replace(text, std::regex("([ab])-0{11}([0-9])"), "$1$2");
}
std::string with_whole_ids(const std::string& text) {
  return std::regex_replace(text, std::regex("\\b([ab])([0-9])\\b"), "$1-00000000000$2");
}

class KeepSeeds : public testing::Test {
 protected:
  /// Writes a file whose run ids are short.
  void put(const std::string& name, const std::string& text) const {
    folder_.write(with_whole_ids(name), with_whole_ids(text));
  }
  /// Writes the status of a run as the program does.
  void put_status(const std::string& run, const std::string& text) const {
    put("results/runs/" + run + "/status.json",
        reports::with_print(reports::Json::parse(text)).dump());
  }
  /// Leaves the tables of a study of two methods with one seed, whose run ids end with `id`.
  void leave(const std::string& seed, const std::string& id, const std::string& loss) const {
    const std::string a = "a" + id;
    const std::string b = "b" + id;
    for (const auto& run : {a, b}) {
      std::filesystem::create_directories(folder_.path() / "results/runs" / with_whole_ids(run));
    }
    put("results/runs.csv",
        "run_id,seed,iterations,p_kind,final_loss\n" + b + "," + seed + ",4,top," + loss + "\n" +
            a + "," + seed + ",4,dense," + loss + "\n");
    put("results/iterations.csv",
        "run_id,iteration,epoch,loss,delta,contraction,test_accuracy,xi\n" +  //
            b + ",0,0,9,0.5,,,\n" + b + ",1,0,,1.5,,,\n" + b + ",2,1," + loss + ",0.25,,0.75,\n" +
            b + ",3,1,,,,,\n" + a + ",0,0,9,,,,\n");
    put("results/networks.csv",
        "run_id,iteration,network,virtual_s\n" + b + ",1,1gbe,3\n" + b + ",2,1gbe,4\n" + b +
            ",2,10gbe,2\n");
    put("results/summary.json",
        R"({"provenance": {"command": "residuum run s.toml --set seeds=[)" + seed +
            R"(]", "CPU": "one"}, "timing": {"started_utc": "then"}})");
    put_status(b, R"({"provenance": {"residuum": "abc"}, "wall_s": 2})");
    put_status(a, R"({"provenance": {"residuum": "abc"}, "wall_s": 3})");
  }
  Finished keep(const std::vector<std::string>& options = {},
                const std::string& kept = "kept") const {
    std::vector<std::string> words{"keep", "results", kept};
    words.insert(words.end(), options.begin(), options.end());
    Finished finished = residuum_program(words, folder_.path());
    finished.err = with_short_ids(finished.err);
    return finished;
  }
  /// Returns why nothing is kept.
  std::string refusal() const {
    const Finished finished = keep();
    EXPECT_EQ(finished.code, 2);
    EXPECT_EQ(finished.out, "");
    return finished.err;
  }
  std::string kept(const std::string& name) const {
    return with_short_ids(read_text(folder_.path() / "kept" / name));
  }
  TemporaryFolder folder_;
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

// Runs of one id are the same: other numbers are of another program or of other data.
TEST_F(KeepSeeds, RefusesOtherNumbersOfARunThatIsThere) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  const std::string before = kept("iterations.csv");
  ASSERT_EQ(keep().code, 0);  // the same once more
  EXPECT_EQ(kept("iterations.csv"), before);
  leave("1", "1", "5");

  EXPECT_THAT(refusal(),
              StartsWith("error: 'kept/iterations.csv' has another row of b1, 2 than "
                         "'results/iterations.csv'; runs of one id are the same"));
  EXPECT_EQ(kept("iterations.csv"), before);
  EXPECT_THAT(kept("runs.csv"), HasSubstr("a1,1,4,dense,4\n"));
}

TEST_F(KeepSeeds, RefusesAStatusThatWasChanged) {
  leave("1", "1", "4");
  const auto file = folder_.path() / with_whole_ids("results/runs/a1/status.json");
  std::string status = read_text(file);
  status.replace(status.find("abc"), 3, "xyz");
  put("results/runs/a1/status.json", status);
  EXPECT_EQ(refusal(), "error: 'results/runs/a1/status.json' was changed since it was written\n");
}

TEST_F(KeepSeeds, KeepsSomeRowsOfARunFromItsFirstToItsLast) {
  leave("1", "1", "4");
  std::string iterations = "run_id,iteration,epoch,loss,delta,contraction,test_accuracy\n";
  std::string networks = "run_id,iteration,network,virtual_s\n";
  for (const int iteration : {0, 1, 2, 3, 6, 7, 10}) {  // half of the run is before 5
    iterations += fmt::format("b1,{},0,{},0.5,,\n", iteration, 20 - iteration);
    networks += fmt::format("b1,{},1gbe,{}\n", iteration, 2 * iteration);
  }
  put("results/iterations.csv", iterations + "b1,11,0,,2.5,,\na1,0,0,9,,,\n");
  put("results/networks.csv", networks);
  ASSERT_EQ(keep({"--rows", "3"}).err, "");

  EXPECT_EQ(kept("iterations.csv"),
            "run_id,iteration,epoch,loss,delta\n"
            "a1,0,0,9,\nb1,0,0,20,0.5\nb1,6,0,14,0.5\nb1,10,0,10,0.5\n");
  EXPECT_EQ(kept("networks.csv"),
            "run_id,iteration,network,virtual_s\nb1,0,1gbe,0\nb1,6,1gbe,12\nb1,10,1gbe,20\n");
  EXPECT_THAT(kept("epochs.csv"), HasSubstr("kind=top,1,0,8,"));  // of all iterations
  const Finished one = keep({"--rows", "1"});
  EXPECT_EQ(one.code, 2);
  EXPECT_EQ(one.err, "error: --rows is 1, but must be from 2 to 999999\n");
}

TEST_F(KeepSeeds, LeavesOutRunsThatWereNeverBegun) {
  leave("1", "1", "4");
  put("results/runs.csv", "run_id,status,seed,iterations\na1,missing,1,\nb1,finished,1,4\n");
  const Finished finished = keep();
  ASSERT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "1 run of results has not ended and is left out\n");
  EXPECT_EQ(kept("runs.csv"), "run_id,status,seed,iterations\nb1,finished,1,4\n");
}

TEST_F(KeepSeeds, LeavesOutRunsThatHaveNotEnded) {
  leave("1", "1", "4");
  put("results/runs.csv", "run_id,status,seed,iterations\na1,diverged,1,4\nb1,interrupted,1,4\n");
  ASSERT_EQ(keep().code, 0);
  EXPECT_EQ(kept("runs.csv"), "run_id,status,seed,iterations\na1,diverged,1,4\n");
  EXPECT_EQ(kept("iterations.csv"), "run_id,iteration,epoch,loss\na1,0,0,9\n");
  EXPECT_EQ(kept("epochs.csv"),
            "method,seed,epoch,measured,loss,delta,contraction,test_accuracy,test_perplexity,"
            "delta_max,delta_above_1\nall,1,0,1,9,,,,,,\n");
  put("results/runs.csv", "run_id,status,seed,iterations\na1,running,1,4\nb1,interrupted,1,4\n");
  EXPECT_EQ(refusal(), "error: no run of results has ended\n");
}

// Runs that were copied from another study's results say by which command they were made, and on
// which machine; the parts that --shard has cut a command into are one entry.
TEST_F(KeepSeeds, TakesTheCommandOfEachRun) {
  leave("1", "1", "4");
  put_status("a1",
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

  put_status("b1",
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
  put("results/runs.csv", "run_id,seed,iterations,p_kind,final_loss\na1,1,4,dense,5\n");
  put_status("a1", R"({"provenance": {"residuum": "def"}, "wall_s": 3})");
  ASSERT_EQ(keep().code, 0);
  const auto made = nlohmann::json::parse(kept("made.json"));
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0]["runs"], nlohmann::json::array({"b1"}));
  EXPECT_EQ(made[0]["programs"], nlohmann::json::array({"abc"}));
  EXPECT_EQ(made[1]["runs"], nlohmann::json::array({"a1"}));
  EXPECT_EQ(made[1]["programs"], nlohmann::json::array({"def"}));
}

// Files without a word, a table that ends before its run, and a partly kept study are refused.
TEST_F(KeepSeeds, RefusesWhatIsCutShort) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  const std::string before = kept("quarters.csv");
  for (const char* file :
       {"results/summary.json", "results/runs/a1/status.json", "kept/made.json"}) {
    const std::string whole = read_text(folder_.path() / with_whole_ids(file));
    put(file, "");
    EXPECT_THAT(refusal(), StartsWith("error: '" + std::string(file) + "' is not valid JSON"));
    put(file, whole);
  }
  put("results/iterations.csv", "run_id,iteration,epoch,loss\nb1,0,0,9\nb1,1,0,4\na1,0,0,9\n");
  EXPECT_EQ(refusal(),
            "error: 'results/iterations.csv' ends at iteration 1 of b1, which made 4; run residuum "
            "report results again\n");
  EXPECT_EQ(kept("quarters.csv"), before);
  leave("1", "1", "4");
  std::filesystem::remove(folder_.path() / "kept/epochs.csv");
  EXPECT_EQ(refusal(), "error: kept has a runs.csv and no epochs.csv; restore it\n");
}

TEST_F(KeepSeeds, NamesWhatIsNotThereAndLeavesWhatIsKept) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  const std::string before = kept("runs.csv");
  std::filesystem::remove(folder_.path() / "results/summary.json");
  EXPECT_EQ(refusal(), "error: results has no summary.json; run residuum report results first\n");
  put("results/summary.json", R"({"provenance": )");
  EXPECT_EQ(refusal(),
            "error: 'results/summary.json' is not valid JSON at byte 16; was it written to the "
            "end?\n");
  put("results/summary.json", "{}");
  EXPECT_EQ(refusal(),
            "error: 'results/summary.json' says nothing of the program; run residuum report "
            "results\n");
  leave("1", "1", "4");
  put_status("a1", "{}");
  EXPECT_EQ(refusal(),
            "error: 'results/runs/a1/status.json' says nothing of the program, or not how long the "
            "run took\n");
  leave("1", "1", "4");
  const Finished itself = keep({}, "./results");
  EXPECT_EQ(itself.err,
            "error: './results' cannot be the folder of what is kept; give another KEPT\n");
  EXPECT_EQ(itself.code, 2);
  // A run of the same method and seed with another configuration is not a second one of it.
  leave("1", "9", "4");
  EXPECT_EQ(refusal(), "error: 'runs.csv' has two runs of seed 1 of kind=dense: a1 and a9\n");
  put("results/runs.csv", "run_id,p_kind\na1,dense\n");
  EXPECT_EQ(refusal(), "error: 'results/runs.csv' has no column 'seed'\n");
  put("results/runs.csv", "run_id,seed\n../a1,1\n");
  EXPECT_EQ(refusal(), "error: runs.csv names a run that is no run_id: ../a1\n");
  EXPECT_EQ(kept("runs.csv"), before);
}

TEST_F(KeepSeeds, RefusesTablesThatAreBroken) {
  leave("1", "1", "4");
  put("results/networks.csv", "run_id,iteration,network,virtual_s\nb1,2,1gbe");
  EXPECT_EQ(refusal(),
            "error: results/networks.csv:2: the last line has no end: the file was cut off\n");
  put("results/networks.csv", "run_id,iteration,network,virtual_s\nb1,2,a,1\nb1,2,a,2\n");
  EXPECT_EQ(refusal(), "error: 'results/networks.csv' has the row b1, 2, a twice\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept"));
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  put("kept/epochs.csv", "method,seed,epoch\nkind=dense,1\n");
  EXPECT_EQ(refusal(), "error: kept/epochs.csv:2: 2 fields where the header has 3\n");
}

// Of a small study numbers are kept, made anew by every call; b1 is the only run that finished.
TEST_F(KeepSeeds, KeepsNumbersOfFinishedRunsInsteadOfTheirRows) {
  leave("1", "1", "4");
  put("results/runs.csv", "run_id,status,seed,p_kind\na1,diverged,2,dense\nb1,finished,1,top\n");
  const Finished finished = keep(
      {"--numbers", "loss,delta:mean", "--numbers", "loss:at:0", "--tables", "networks.virtual_s"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.err, "1 run of results has not finished and is left out\n");
  EXPECT_EQ(kept("runs.csv"), "run_id,seed,p_kind,loss,delta:mean,loss:at:0\nb1,1,top,4,0.75,9\n");
  EXPECT_EQ(kept("networks.csv"),
            "run_id,iteration,network,virtual_s\nb1,2,1gbe,4\nb1,2,10gbe,2\n");
  const auto made = nlohmann::json::parse(kept("made.json"));
  EXPECT_EQ(made["command"], "residuum run s.toml --set seeds=[1]");
  EXPECT_EQ(made["seeds"], nlohmann::json::array({1, 2}));
  EXPECT_EQ(made["programs"], nlohmann::json::array({"abc"}));
  EXPECT_EQ(made["CPU"], "one");
  EXPECT_EQ(made["started_utc"], "then");

  const std::string before = kept("runs.csv");
  const Finished unknown = keep({"--numbers", "loss,los:mean"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err, "error: iterations.csv has no column 'los'; did you mean 'loss'?\n");
  const Finished both = keep({"--numbers", "loss", "--rows", "9"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--rows excludes --numbers"));
  EXPECT_EQ(kept("runs.csv"), before);
}

TEST_F(KeepSeeds, RefusesNumbersWhereRowsAreKept) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().code, 0);
  const std::string before = kept("runs.csv");
  const Finished refused = keep({"--numbers", "loss"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "error: kept keeps iterations of runs; give another KEPT, or none of --numbers, "
            "--tables and --figures\n");
  EXPECT_EQ(kept("runs.csv"), before);
}

TEST_F(KeepSeeds, KeepsTablesOfTheReport) {
  leave("1", "1", "4");
  auto summary = nlohmann::json::parse(read_text(folder_.path() / "results/summary.json"));
  summary["groups"] =
      nlohmann::json::parse(R"([{"label": "tree", "varying": {"workers.count": 4}, "theorems": [
      {"name": "bsp", "verdict": "holds", "seeds": 2, "iterations": 9, "lhs": 0.5, "rhs": 2,
       "slack": 4, "terms": [{"attribution": "noise", "share": 0.25},
                             {"attribution": "residual", "share": 0.75}]},
      {"name": "tight-ef14", "verdict": "not applicable", "lhs": null}],
      "checks": {"ef21-distortion": {"worst_ratio": 0.75}, "delta": {}}}])");
  summary["rates"] = nlohmann::json::parse(
      R"([{"label": "tree", "against": "workers.count", "slope": -0.5, "interval": [-0.75, -0.25],
           "seeds": 8}])");
  put("results/summary.json", summary.dump());
  ASSERT_EQ(keep({"--tables", "theorems,checks,rates"}).err, "");
  EXPECT_EQ(
      kept("theorems.csv"),
      "method,p_workers_count,theorem,verdict,seeds,iterations,lhs,rhs,slack,largest_term,share\n"
      "tree,4,bsp,holds,2,9,0.5,2,4,residual,0.75\n"
      "tree,4,tight-ef14,not applicable,,,,,,,\n");
  EXPECT_EQ(kept("checks.csv"),
            "method,p_workers_count,check,worst_ratio\ntree,4,ef21-distortion,0.75\n");
  EXPECT_EQ(kept("rates.csv"),
            "method,against,slope,lower,upper,seeds\ntree,workers.count,-0.5,-0.75,-0.25,8\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept/runs.csv"));  // of no run
  EXPECT_EQ(keep({"--tables", "equal"}).err,
            "error: the report of results has nothing for equal.csv\n");
  EXPECT_EQ(keep({"--tables", "rate"}).err,
            "error: --tables: unknown 'rate' in 'rate'; did you mean 'rates'?\n");
}

TEST_F(KeepSeeds, KeepsFiguresWithTheirNumbers) {
  leave("1", "1", "4");
  std::filesystem::create_directory(folder_.path() / "results/figures");
  put("results/figures/loss.svg", "<svg/>");
  put("results/figures/loss.csv", "x,y\n");
  put("results/figures/loss.pdf", "%PDF");
  ASSERT_EQ(keep({"--figures", "loss"}).err, "");
  EXPECT_EQ(kept("loss.svg"), "<svg/>");
  EXPECT_EQ(kept("loss.csv"), "x,y\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept/loss.pdf"));
  EXPECT_EQ(keep({"--figures", "los"}).err,
            "error: results has no figure los; residuum report results makes its figures\n");
  EXPECT_EQ(keep({"--figures", "../loss"}).err,
            "error: --figures: '../loss' is no figure's name\n");
}

// A comma within a value ends no field.
TEST_F(KeepSeeds, KeepsValuesInQuotes) {
  leave("1", "1", "4");
  put("results/runs.csv",
      "run_id,seed,iterations,p_kind\nb1,1,4,\"[5, 6]\"\na1,1,4,\"say \"\"k\"\"\"\n");
  for (int times = 0; times < 2; ++times) {
    ASSERT_EQ(keep().err, "");
    EXPECT_EQ(kept("runs.csv"),
              "run_id,seed,iterations,p_kind\na1,1,4,\"say \"\"k\"\"\"\nb1,1,4,\"[5, 6]\"\n");
    EXPECT_THAT(kept("epochs.csv"), HasSubstr("\n\"kind=[5, 6]\",1,0,2,9,1,,,,1.5,1\n"));
    EXPECT_THAT(kept("epochs.csv"), HasSubstr("\n\"kind=say \"\"k\"\"\",1,0,1,9,,,,,,\n"));
  }
}

TEST_F(KeepSeeds, KeepsTheOrderOfSeedsOfWhichOneIsReplaced) {
  for (const char* seed : {"2", "1", "2"}) {
    leave(seed, seed, "4");
    ASSERT_EQ(keep().err, "");
  }
  EXPECT_THAT(kept("epochs.csv"),
              HasSubstr("\nkind=dense,2,0,1,9,,,,,,\nkind=dense,1,0,1,9,,,,,,\n"));
}

// No link leads a write out of the folder, and nothing is left beside the tables.
TEST_F(KeepSeeds, LeavesWhatALinkLeadsTo) {
  leave("1", "1", "4");
  ASSERT_EQ(keep().err, "");
  const auto link = folder_.path() / "kept/epochs.csv";
  std::filesystem::rename(link, folder_.path() / "other");
  std::filesystem::create_symlink("../other", link);
  const std::string before = read_text(folder_.path() / "other");
  leave("2", "2", "4");
  ASSERT_EQ(keep().err, "");
  EXPECT_EQ(read_text(folder_.path() / "other"), before);
  EXPECT_FALSE(std::filesystem::is_symlink(link));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "kept")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << entry.path();
  }
}

// Adding a seed changes no byte of the rows that are there.
TEST(KeptTables, AreWrittenAsTheyAreRead) {
  int files = 0;
  const std::filesystem::path kept = RESIDUUM_STUDIES "/studies/papers/kept";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kept)) {
    const auto& path = entry.path();
    if (path.extension() == ".csv") {
      EXPECT_TRUE(reports::csv_text(reports::read_text_table(path)) == read_text(path)) << path;
    } else if (path.extension() == ".json") {
      EXPECT_EQ(reports::indented_text(reports::read_json_list(path)) + "\n", read_text(path));
    } else {
      continue;
    }
    ++files;
  }
  EXPECT_GT(files, 30);
}

}  // namespace
}  // namespace residuum
