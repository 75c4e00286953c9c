// Commands that read several folders of results as one: a study whose seeds were run apart.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFoldersStudy = R"(schema = 1
name = "tiny"
seeds = [1, 2]
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 2
[step]
value = 0.1
[budget]
iterations = 20
)";

class SeveralFolders : public TinyStudy {
 protected:
  void SetUp() override {
    ASSERT_EQ(run(kFoldersStudy, {"--out", "a"}).code, 0);
    ASSERT_EQ(run(kFoldersStudy, {"--out", "b", "--set", "seeds=[3]"}).code, 0);
  }
  Finished command(const std::vector<std::string>& words) const {
    return residuum_program(words, folder_.path());
  }
  nlohmann::json summary_in(const std::string& folder) const {
    return nlohmann::json::parse(read_text(folder_.path() / folder / "summary.json"));
  }
};

TEST_F(SeveralFolders, HaveTheReportOfTheWholeStudy) {
  ASSERT_EQ(run(kFoldersStudy, {"--out", "whole", "--set", "seeds=[1, 2, 3]"}).code, 0);

  const Finished report = command({"report", "a", "b", "--out", "both"});

  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "both" / "report.html"));
  auto both = summary_in("both").at("groups");
  auto whole = summary_in("whole").at("groups");
  for (auto* groups : {&both, &whole}) {
    groups->at(0).at("metrics").erase("wall_s");
  }
  EXPECT_EQ(both, whole);
  EXPECT_THAT(read_text(folder_.path() / "both" / "report.html"),
              AllOf(HasSubstr("The study file of a"), HasSubstr("The study file of b")));
  EXPECT_EQ(command({"report", "b", "a", "--out", "both"}).code, 0) << "it is ours";
}

TEST_F(SeveralFolders, AreNamedInThePlaceOfTheirReport) {
  ASSERT_EQ(command({"report", "a", "b", "--out", "both"}).code, 0);
  for (const char* name : {"report", "watch"}) {
    const Finished refused = command({name, "both"});
    EXPECT_EQ(refused.code, 2) << name;
    EXPECT_THAT(refused.err, HasSubstr("'both' is the report of other folders")) << name;
  }
  const Finished figure = command({"figure", "both", "delta", "--out", "delta.svg"});
  EXPECT_EQ(figure.code, 2);
  EXPECT_THAT(figure.err, HasSubstr("is the report of other folders"));
  EXPECT_THAT(command({"keep", "both", "kept"}).err, HasSubstr("is the report of other folders"));
  folder_.write("both/sources.json", R"({"schema": 5, "folders": ["a", "b"]})");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"table", "both", "final_loss"},
        {"report", "a", "b", "--out", "both"}}) {
    const Finished refused = command(words);
    EXPECT_EQ(refused.code, 2) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("was written by another version of Residuum"));
  }
}

TEST_F(SeveralFolders, NeedAFolderOfTheirOwnForTheReport) {
  Finished refused = command({"report", "a", "b"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err, "error: several folders: name the folder of their report with --out\n");
  refused = command({"report", "a", "b", "--out", "a"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("'a' is not empty and holds no report of other folders"));
  std::filesystem::create_directory(folder_.path() / "mine");
  folder_.write("mine/sources.json", "{}");
  folder_.write("mine/workers.csv", "mine");
  EXPECT_EQ(command({"report", "a", "b", "--out", "mine"}).code, 2);
  EXPECT_EQ(read_text(folder_.path() / "mine" / "workers.csv"), "mine");
}

TEST_F(SeveralFolders, AreComparedSideBySide) {
  const Finished same = command({"compare", "a", "b", "--with", "b", "a", "--json"});

  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(command({"compare", "a"}).code, 2);
  EXPECT_EQ(command({"compare", "a", "b", "a"}).code, 2);
}

TEST_F(SeveralFolders, AreExportedAndWatchedAsOne) {
  EXPECT_EQ(command({"export", "a", "b", "--join"}).code, 2) << "where to?";
  ASSERT_EQ(command({"export", "a", "b", "--join", "--out", "all.csv"}).code, 0);
  const std::string all = read_text(folder_.path() / "all.csv");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1 + 3 * 20);

  const Finished watch = command({"watch", "--once", "a", "b"});
  EXPECT_EQ(watch.code, 0) << watch.err;
  EXPECT_THAT(watch.out, HasSubstr("3 finished"));
}

}  // namespace
}  // namespace residuum
