// A search from its study to its sentence: what it runs, that it goes on, at any number of
// processes, and what it refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

// A density of 1 is dense training but for the order of its sums. A density of 1/10, two entries of
// 20, without error feedback, is far behind it.
const std::string kSearchStudy = R"(schema = 1
name = "tiny"
seeds = 8
[objective]
kind = "logistic"
rows = 200
features = 20
[workers]
count = 4
batch = 8
[sparsifier]
kind = "top-k"
[aggregator]
kind = "allgather"
[feedback]
kind = "none"
[step]
value = 0.5
[budget]
iterations = 30
[probes]
names = []
times = false
[search]
key = "sparsifier.density"
ratios = [1, 10, 20]
margin = 0.001
first = 4
)";

class SearchedStudy : public TinyStudy {
 protected:
  nlohmann::json found(const std::string& folder = "results/tiny") const {
    return nlohmann::json::parse(read_text(folder_.path() / folder / "summary.json")).at("search");
  }
  std::size_t runs_made() const {
    std::size_t runs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
      runs += std::filesystem::exists(entry.path() / "status.json") ? 1U : 0U;
    }
    return runs;
  }
};

TEST_F(SearchedStudy, EndsWithTheLargestRatioInASentence) {
  const auto finished = run(kSearchStudy);

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              HasSubstr("largest compression with no significant loss: 1 of 1, 10, 20; there the "
                        "loss is "));
  EXPECT_THAT(finished.out, HasSubstr(", n = 4; at 10 the loss is 0.0"));
  const auto search = found();
  EXPECT_EQ(search["largest_ratio"], 1.0);
  EXPECT_TRUE(search["over"]);
  EXPECT_EQ(search["sentence"].get<std::string>() + "\n",
            finished.out.substr(finished.out.find("largest compression")));
}

// Bisection looks at ratio 10 first, then at 1, each with four seeds: ratio 20 is never run.
TEST_F(SearchedStudy, RunsWhatItsLooksNeedAndNothingElse) {
  ASSERT_EQ(run(kSearchStudy).code, 0);

  EXPECT_EQ(runs_made(), 3 * 4);
  const std::string table = read_text(results() / "search.csv");
  EXPECT_THAT(table, HasSubstr("\n1,0.1,10,4,"));
  EXPECT_THAT(table, HasSubstr("\n2,1,1,4,"));
  EXPECT_THAT(table, Not(HasSubstr("\n3,")));
  EXPECT_THAT(read_text(results() / "study.resolved.json"), HasSubstr("\"search\""));
  EXPECT_THAT(read_text(results() / "datapackage.json"), HasSubstr("search.csv"));
}

TEST_F(SearchedStudy, GoesOnWhereItWasStoppedAndRepeatsNoRun) {
  const auto whole = run(kSearchStudy, {"--out", "whole"});
  ASSERT_EQ(whole.code, 0);
  ASSERT_EQ(run(kSearchStudy).code, 0);
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
    folders.push_back(entry.path());
  }
  std::filesystem::remove_all(folders.front());
  std::filesystem::remove(results() / "search.csv");
  std::filesystem::remove(results() / "summary.json");

  const auto again = run(kSearchStudy);

  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("11 of 12 runs were done before"));
  EXPECT_EQ(again.out, whole.out);
  EXPECT_EQ(read_text(results() / "search.csv"),
            read_text(folder_.path() / "whole" / "search.csv"));
}

TEST_F(SearchedStudy, GoesOnAfterARequestToStop) {
  ASSERT_EQ(run(kSearchStudy, {"--out", "whole"}).code, 0);
  const auto stopped = run(kSearchStudy, {"--time-limit", "0.001"});
  EXPECT_EQ(stopped.code, 124) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("the search for the largest compression is not over"));

  const auto again = run(kSearchStudy);

  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read_text(results() / "search.csv"),
            read_text(folder_.path() / "whole" / "search.csv"));
}

TEST_F(SearchedStudy, EndsAtARunThatFailsAndMakesItAgainAtTheNextStart) {
  ASSERT_EQ(run(kSearchStudy).code, 0);
  const std::string table = read_text(results() / "search.csv");
  const auto ids =
      nlohmann::json::parse(read_text(results() / "study.resolved.json")).at("search").at("runs");
  const auto folder = results() / "runs" / ids.at(2).at(0).get<std::string>();
  std::filesystem::remove_all(folder);
  std::ofstream(folder) << "in the way";

  const auto failed = run(kSearchStudy);
  EXPECT_EQ(failed.code, 3) << failed.err;
  EXPECT_THAT(failed.out,
              HasSubstr("is not decided: compression number 2 failed with seed number 1"));

  std::filesystem::remove(folder);
  EXPECT_EQ(run(kSearchStudy).code, 0);
  EXPECT_EQ(read_text(results() / "search.csv"), table);
}

TEST_F(SearchedStudy, FindsTheSameOnProcessesInGroups) {
  ASSERT_EQ(run(kSearchStudy).code, 0);
  const auto file = folder_.write("s.toml", kSearchStudy);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--groups", "2"}}) {
    const std::string out = options.empty() ? "together" : "groups";
    std::vector<std::string> line{
        RESIDUUM_MPIRUN, "-n", "2", RESIDUUM_PROGRAM, "run", file.string(), "--out", out};
    line.insert(line.end(), options.begin(), options.end());

    const auto finished = run_program(line, folder_.path());

    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(read_text(folder_.path() / out / "search.csv"), read_text(results() / "search.csv"));
  }
}

TEST_F(SearchedStudy, IsPlannedWithTheMostThatItMayRun) {
  const auto plan =
      residuum_program({"plan", folder_.write("s.toml", kSearchStudy).string()}, folder_.path());

  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("32 runs, 32 to do"));
  EXPECT_THAT(plan.out, HasSubstr("a search makes 24 of them at most"));
}

TEST_F(SearchedStudy, CannotBeToldToEnginesOrDividedIntoShares) {
  const auto file = folder_.write("s.toml", kSearchStudy).string();
  for (const char* engine : {"slurm", "parallel", "snakemake"}) {
    const auto plan = residuum_program({"plan", file, "--format", engine}, folder_.path());
    EXPECT_EQ(plan.code, 2);
    EXPECT_THAT(plan.err, HasSubstr("a search decides run by run"));
  }
  const auto share = run(kSearchStudy, {"--shard", "1/2"});
  EXPECT_EQ(share.code, 2);
  EXPECT_THAT(share.err, HasSubstr("--shard: a search decides run by run"));
}

// Runs of one plan must not be looked at by another: its error would be larger than it says.
TEST_F(SearchedStudy, RefusesAnotherPlanInItsFolder) {
  ASSERT_EQ(run(kSearchStudy).code, 0);

  const auto other = run(kSearchStudy + "alpha = 0.2\n");

  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("holds a search with another plan"));
}

TEST_F(SearchedStudy, SaysWhyItIsNotDecided) {
  std::string text = kSearchStudy;
  text.replace(text.find("\"logistic\""), 10, "\"nonconvex-logistic\"");
  text.replace(text.find("margin"), 6, "quantity = \"loss-gap\"\nmargin");

  const auto finished = run(text);

  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out,
              HasSubstr("the search for the largest compression is not decided: dense training has "
                        "not measured the quantity with seed number 1"));
}

TEST_F(SearchedStudy, IsToldFirstByTheReport) {
  ASSERT_EQ(run(kSearchStudy).code, 0);

  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);

  EXPECT_THAT(read_text(results() / "report.html"),
              HasSubstr("<p class=\"answer\">Largest compression with no significant loss: 1 "));
}

TEST_F(SearchedStudy, NamesAKeyThatNoRunReads) {
  std::string text = kSearchStudy;
  text.replace(text.find("key = \"sparsifier.density\""), 26, "key = \"sparsifier.densty\"");
  text.replace(text.find("ratios"), 6, "values");
  text.replace(text.find("kind = \"top-k\""), 14, "kind = \"top-k\"\nk = 2");

  const auto finished = run(text);

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("'sparsifier.densty' at 'search.key' at "));
  EXPECT_THAT(finished.err, HasSubstr("did you mean 'sparsifier.density'?"));
}

}  // namespace
}  // namespace residuum
