// A folder whose runs are on different data has runs and no methods.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/analysis/groups.h"
#include "reports/summaries/collect.h"
#include "reports/terminal/changes.h"
#include "reports/verdicts/verdict.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::AllOf;
using testing::change_status;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

class MixedData : public ::testing::Test {
 protected:
  void SetUp() override { SyntheticStudy{}.write(folder_.path()); }
  void give_other_data(int seed, const Json& settings = nullptr) const {
    change_status(folder_.path(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
      status["data"]["fingerprint"] = "other";
      if (!settings.is_null()) {
        status["data"]["settings"] = settings;
      }
    });
  }
  TemporaryFolder folder_;
};

TEST_F(MixedData, UnderOneSettingAreSaidAndNothingIsJudged) {
  give_other_data(2);
  const ResultFolder folder = read_result_folder(folder_.path());

  EXPECT_THAT(folder.mixed_data,
              AllOf(StartsWith("This folder mixes runs on different data: " +
                               SyntheticStudy::run_id(0, 1) + " has the fingerprint 0f1e2d3c and " +
                               SyntheticStudy::run_id(0, 2) + " has other"),
                    HasSubstr("nothing is compared or judged.")));
  EXPECT_TRUE(group_runs(folder).empty());
  EXPECT_TRUE(methods_not_begun(folder, {}).empty());
  const Summary summary = collect(folder_.path());
  EXPECT_TRUE(summary.groups.empty());
  EXPECT_TRUE(summary.comparisons.empty());
  EXPECT_EQ(summary.runs.size(), 3U);
  EXPECT_EQ(answer(summary), folder.mixed_data);
  EXPECT_EQ(read_json(folder_.path() / "summary.json")["mixed_data"], folder.mixed_data);
  EXPECT_THROW(compare_folders(summary, summary, 0.01, OtherProblem::noted), Error);
}

TEST_F(MixedData, AreNoneWhereSettingsAskForSeveralData) {
  give_other_data(2, Json{{"objective", Json{{"data", "other"}}}});

  EXPECT_EQ(read_result_folder(folder_.path()).mixed_data, "");
  EXPECT_EQ(collect(folder_.path()).groups.size(), 1U);
}

TEST_F(MixedData, AreNoneWhereTheRunHasNoTables) {
  give_other_data(2);
  change_status(folder_.path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["state"] = "running";
  });

  EXPECT_EQ(read_result_folder(folder_.path()).mixed_data, "");
}

}  // namespace
}  // namespace residuum::reports
