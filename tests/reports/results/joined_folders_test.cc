// Several folders are read as one study.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/results/comparable_rows.h"
#include "reports/summaries/collect.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::AllOf;
using testing::change_status;
using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Returns both methods of the study, with `seeds` seeds from `first_seed` on.
SyntheticStudy study_of(int first_seed, int seeds) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{}, SyntheticMethod{.putback = "published", .leaks = true}};
  study.first_seed = first_seed;
  study.seeds = seeds;
  return study;
}

class JoinedFolders : public ::testing::Test {
 protected:
  ResultFolder joined() const { return read_result_folders({a_.path(), b_.path()}); }
  std::string complaint() const {
    try {
      (void)joined();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no complaint";
  }
  static std::filesystem::path run_in(const TemporaryFolder& folder, int seed) {
    return folder.path() / "runs" / SyntheticStudy::run_id(0, seed);
  }
  static void replace(const std::filesystem::path& file,
                      std::string_view from,
                      std::string_view to) {
    std::string text = read_file(file);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_file_atomically(file, text.replace(at, from.size(), to));
  }

  TemporaryFolder a_;  // NOLINT(misc-non-private-member-variables-in-classes): tests fill it
  TemporaryFolder b_;  // NOLINT(misc-non-private-member-variables-in-classes): and this one
};

TEST_F(JoinedFolders, HaveTheNumbersOfOneStudyWithAllSeeds) {
  const TemporaryFolder whole;
  study_of(1, 5).write(whole.path());
  study_of(1, 2).write(a_.path());
  study_of(3, 3).write(b_.path());
  const Summary of_one = summarise(whole.path());

  const Summary summary = summarise(joined());

  ASSERT_EQ(summary.groups.size(), of_one.groups.size());
  for (std::size_t i = 0; i < of_one.groups.size(); ++i) {
    const auto& expected = of_one.groups[i];
    const auto& found = summary.groups[i];
    EXPECT_EQ(found.group.label, expected.group.label);
    EXPECT_EQ(found.group.runs.size(), 5U);
    ASSERT_EQ(found.metrics.size(), expected.metrics.size());
    for (std::size_t m = 0; m < expected.metrics.size(); ++m) {
      EXPECT_EQ(found.metrics[m].second.mean, expected.metrics[m].second.mean);
    }
  }
}

TEST_F(JoinedFolders, HaveTheirTablesInTheFolderThatIsNamed) {
  study_of(1, 2).write(a_.path());
  SyntheticStudy other = study_of(3, 1);
  other.name = "other";  // of another study
  other.write(b_.path());
  const TemporaryFolder target;
  ResultFolder folder = joined();
  folder.path = target.path();

  (void)collect(std::move(folder));

  EXPECT_TRUE(std::filesystem::exists(target.path() / "iterations.csv"));
  EXPECT_FALSE(std::filesystem::exists(a_.path() / "iterations.csv"));
  const std::string runs = read_file(target.path() / "runs.csv");
  EXPECT_THAT(runs,
              AllOf(HasSubstr(SyntheticStudy::run_id(0, 1)),
                    HasSubstr(SyntheticStudy::run_id(1, 3) + ",other,")));
}

TEST_F(JoinedFolders, TakeARunThatBothHaveOnce) {
  study_of(1, 3).write(a_.path());
  study_of(2, 3).write(b_.path());

  EXPECT_EQ(joined().runs.size(), 8U);  // two methods, four seeds
}

TEST_F(JoinedFolders, RefuseARunThatIsNotTheSameInBoth) {
  study_of(1, 3).write(a_.path());
  study_of(3, 1).write(b_.path());
  replace(run_in(b_, 3) / "iterations.csv", ",0.05,", ",0.06,");

  EXPECT_THAT(complaint(),
              AllOf(HasSubstr(run_in(a_, 3).string()),
                    HasSubstr(run_in(b_, 3).string()),
                    HasSubstr("are of one run and differ: iterations.csv: first difference in "
                              "row 1; join folders")));
}

TEST_F(JoinedFolders, RefuseARunWithOtherRecordsInBoth) {
  const std::string id = SyntheticStudy::run_id(0, 3);
  for (const auto& [part, value] : std::vector<std::pair<std::string, Json>>{
           {"state", "diverged"}, {"k", 99}, {"laws", {{"update", {{"momentum", 0.9}}}}}}) {
    study_of(1, 3).write(a_.path());
    study_of(3, 1).write(b_.path());
    change_status(b_.path(), id, [&part = part, &value = value](Json& status) {
      status.merge_patch({{part, value}});
    });

    EXPECT_THAT(complaint(), HasSubstr("are of one run and their records differ in '" + part));
  }
}

TEST_F(JoinedFolders, TakeTheCopyThatHasComeToItsEnd) {
  study_of(1, 1).write(a_.path());
  study_of(1, 1).write(b_.path());
  change_status(a_.path(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status["state"] = "interrupted";
  });

  const ResultFolder folder = joined();

  EXPECT_EQ(folder.runs[0].state, "finished");
  EXPECT_EQ(folder.runs[0].folder, run_in(b_, 1));
  EXPECT_EQ(folder.runs[1].folder.parent_path(), a_.path() / "runs");
}

// Neither study sweeps the density, which is another in each of them.
TEST_F(JoinedFolders, KeepMethodsApartThatDifferInNoFolder) {
  SyntheticStudy one;
  one.seeds = 1;
  one.write(a_.path());
  SyntheticStudy other;
  other.methods = {SyntheticMethod{.density = 0.5}, SyntheticMethod{.density = 0.5}};
  other.first_seed = 2;
  other.seeds = 1;
  other.write(b_.path());
  for (const auto& folder : {&a_, &b_}) {
    for (const auto& run : std::filesystem::directory_iterator(folder->path() / "runs")) {
      Json config = read_json(run.path() / "config.json");
      config["varying"].erase("sparsifier.density");
      write_json_atomically(run.path() / "config.json", with_print(config));
    }
  }

  const ResultFolder folder = joined();

  EXPECT_EQ(folder.runs.front().varying.at("sparsifier.density"), SyntheticMethod{}.density);
  EXPECT_EQ(folder.runs.back().varying.at("sparsifier.density"), 0.5);
  EXPECT_EQ(group_runs(folder).size(), 2U);
}

TEST_F(JoinedFolders, RefuseSearchesByOtherPlans) {
  study_of(1, 1).write(a_.path());
  study_of(2, 1).write(b_.path());
  replace(b_.path() / "study.resolved.json", "{", R"({"search": {"key": "sparsifier.k"},)");

  EXPECT_THAT(complaint(), HasSubstr("hold searches by different plans; report each by itself"));
}

TEST(ComparableRows, MayHaveOtherWallTimes) {
  const TemporaryFolder folder;
  const auto a = folder.path() / "a.csv";
  const auto b = folder.path() / "b.csv";
  write_file_atomically(a, "run_id,loss,compute_s\nr,1,0.5\nr,2,0.5\n");
  write_file_atomically(b, "run_id,loss,compute_s\nr,1,0.7\nr,2,0.5\n");
  EXPECT_EQ(difference_of_tables(a, b), "");

  write_file_atomically(b, "run_id,loss,compute_s\nr,1,0.7\nr,3,0.5\n");
  EXPECT_EQ(difference_of_tables(a, b), "first difference in row 2");
  write_file_atomically(b, "run_id,loss,compute_s\nr,1,0.7\n");
  EXPECT_EQ(difference_of_tables(a, b), "1 rows against 2");
  write_file_atomically(b, "run_id,loss\nr,1\nr,2\n");
  EXPECT_EQ(difference_of_tables(a, b), "other columns");
}

}  // namespace
}  // namespace residuum::reports
