#include "reports/tables/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::size_t entries(const std::filesystem::path& folder) {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++n;
  }
  return n;
}

TEST(AtomicFile, ReplacesTheOldContentAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.json";

  write_file_atomically(path, "old and longer");
  write_file_atomically(path, "new");

  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(AtomicFile, LeavesTheOldContentWhenItIsNotCommitted) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.json";
  write_file_atomically(path, "old");

  {
    AtomicFile file(path);
    file.append("half of the new");
  }

  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(AtomicFile, NamesTheFileThatCannotBeReplaced) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "taken" / "inside");

  try {
    write_file_atomically(folder.path() / "taken", "text");
    FAIL() << "a folder was replaced by a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_THAT(error.what(), HasSubstr("taken"));
  }
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(OutputFile, HoldsMoreThanItsBuffer) {
  const TemporaryFolder folder;
  OutputFile file(folder.path() / "long");
  std::string expected;
  for (int i = 0; i < 30000; ++i) {
    const std::string line = fmt::format("line {}\n", i);
    file.append(line);
    expected += line;
  }
  file.close();
  file.close();  // a second time does nothing

  EXPECT_EQ(read_file(folder.path() / "long"), expected);
}

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
