#include "reports/results/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

TEST(ReadJson, NamesTheFileAndThePlace) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "status.json";
  const auto complaint = [&](std::string_view content) -> std::string {
    write_file_atomically(path, content);
    try {
      (void)read_json(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no complaint";
  };

  EXPECT_THAT(complaint("{\"a\": 1,"), HasSubstr("status.json' is not valid JSON at byte 9"));
  EXPECT_THAT(complaint(""), HasSubstr("is not valid JSON"));
  EXPECT_THAT(complaint("[1]"), HasSubstr("does not hold a JSON object"));
  EXPECT_EQ(complaint("{\"a\": 1}"), "no complaint");
  EXPECT_THROW((void)read_json(folder.path() / "absent.json"), Error);
  EXPECT_THROW((void)read_json(folder.path()), Error);
}

TEST(RunId, IsASlugAndTwelveHexadecimalDigits) {
  EXPECT_TRUE(is_run_id("gtopk-tree.p4_k10-0123456789ab"));
  EXPECT_TRUE(is_run_id("a-0123456789ab"));
  EXPECT_FALSE(is_run_id("0123456789ab"));
  EXPECT_FALSE(is_run_id("a0123456789ab"));
  EXPECT_FALSE(is_run_id("a-0123456789aB"));
  EXPECT_FALSE(is_run_id("a-0123456789ag"));
  EXPECT_FALSE(is_run_id("A-0123456789ab"));
  EXPECT_FALSE(is_run_id(""));
}

TEST(RunId, CannotLeaveItsFolder) {
  EXPECT_FALSE(is_run_id("../../etc-0123456789ab"));
  EXPECT_FALSE(is_run_id("..-0123456789ab"));
  EXPECT_FALSE(is_run_id("a/b-0123456789ab"));
  EXPECT_FALSE(is_run_id(std::string("a\0-0123456789ab", 15)));
  EXPECT_FALSE(is_run_id(std::string(300, 'a') + "-0123456789ab"));
}

}  // namespace
}  // namespace residuum::reports
