// A folder of results that came from others may hold links. The program writes nothing outside of
// the folder that the user named, and takes no folder for its own that is not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "experiments/program/runs/file_lock.h"
#include "experiments/program/runs/study_end.h"
#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Links : public Hostile {
 protected:
  Links() {
    fs::create_directories(outside());
    std::ofstream(victim()) << "theirs";
  }
  fs::path outside() const { return folder_.path() / "outside"; }
  fs::path victim() const { return outside() / "victim"; }

  /// Nothing has come to lie outside, and nothing there has changed.
  void expect_untouched(const std::string& after) const {
    EXPECT_EQ(read_text(victim()), "theirs") << after;
    EXPECT_EQ(std::distance(fs::directory_iterator(outside()), fs::directory_iterator()), 1)
        << after;
  }
  /// One line that names the link, and the exit code of a file that cannot be written.
  static void expect_refused(const Finished& finished, const std::string& link) {
    EXPECT_EQ(finished.code, 6) << finished.err;
    EXPECT_THAT(finished.err, AllOf(HasSubstr(link), HasSubstr("is a link")));
  }
};

TEST_F(Links, AReportWritesNothingThroughThem) {
  ASSERT_EQ(run(kStudy).code, 0);
  for (const char* folder : {"figures", "tables"}) {
    fs::remove_all(results() / folder);
    fs::create_directory_symlink(outside(), results() / folder);
    expect_refused(residuum_program({"report", results().string()}, folder_.path()), folder);
    expect_untouched(folder);
    fs::remove(results() / folder);
  }
  for (const char* file : {"report.html", "runs.csv", "iterations.csv", "summary.json"}) {
    fs::remove(results() / file);
    fs::create_symlink(victim(), results() / file);
  }
  EXPECT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  expect_untouched("files");
  EXPECT_FALSE(fs::is_symlink(results() / "report.html")) << "the file takes the link's place";
}

TEST_F(Links, AnExportWritesNothingThroughThem) {
  ASSERT_EQ(run(kStudy).code, 0);
  fs::create_directory_symlink(outside(), results() / "tensorboard");
  expect_refused(residuum_program({"export", results().string(), "--tensorboard"}, folder_.path()),
                 "tensorboard");
  fs::remove(results() / "tensorboard");
  fs::create_directories(results() / "tensorboard");
  fs::create_directory_symlink(outside(),
                               results() / "tensorboard" / run_folders().front().filename());
  expect_refused(residuum_program({"export", results().string(), "--tensorboard"}, folder_.path()),
                 run_folders().front().filename().string());
  expect_untouched("export");
}

TEST_F(Links, AFileThatOutNamesIsNone) {
  ASSERT_EQ(run(kStudy).code, 0);
  fs::create_symlink(victim(), folder_.path() / "link.npy");
  fs::create_symlink(victim(), folder_.path() / "link.csv");
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"falsify",
            "--workers",
            "2",
            "--dim",
            "3",
            "--k",
            "1",
            "--aggregator",
            "gtopk-exact",
            "--evaluations",
            "10",
            "--out",
            "link.npy"},
           {"export", results().string(), "--join", "--out", "link.csv"}}) {
    const Finished refused = residuum_program(words, folder_.path());
    EXPECT_EQ(refused.code, 2) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("is no plain file")) << words.front();
  }
  EXPECT_TRUE(fs::is_symlink(folder_.path() / "link.npy"));
  EXPECT_TRUE(fs::is_symlink(folder_.path() / "link.csv"));
  expect_untouched("files that are named");
}

TEST_F(Links, ARunWritesNothingThroughThem) {
  ASSERT_EQ(run(kStudy).code, 0);
  const fs::path folder = run_folders().front();
  const auto again = [&] { return run(kStudy); };
  const auto begin_anew = [&] { fs::remove(folder / "status.json"); };

  for (const char* file : {"iterations.csv.part", "checks.csv.part", ".lock", "log.txt"}) {
    begin_anew();
    fs::remove(folder / file);
    fs::create_symlink(victim(), folder / file);
    (void)again();
    expect_untouched(file);
    fs::remove(folder / file);
  }
  begin_anew();
  fs::remove_all(folder);
  fs::create_directory_symlink(outside(), folder);
  EXPECT_EQ(again().code, 3) << "this run fails, and the others are done";
  expect_untouched("the folder of a run");

  fs::remove_all(results() / "runs");
  fs::create_directory_symlink(outside(), results() / "runs");
  EXPECT_EQ(again().code, 6);
  expect_untouched("the folder of runs");
}

TEST_F(Links, TheNamedFolderMayBeOne) {
  fs::create_directory_symlink(outside(), folder_.path() / "link");
  fs::remove(victim());
  EXPECT_EQ(run(kStudy, {"--out", "link"}).code, 0);
  EXPECT_EQ(residuum_program({"report", "link"}, folder_.path()).code, 0);
  EXPECT_TRUE(fs::exists(outside() / "report.html"));
}

// Many programs have a file of that name.
TEST_F(Links, AFolderWithALockIsNotOurs) {
  fs::remove(victim());
  for (const bool is_empty : {true, false}) {
    std::ofstream(outside() / ".lock") << (is_empty ? "" : "pid 1");
    const Finished finished = run(kStudy, {"--out", outside().string()});
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, HasSubstr("is not empty and holds no study; give another --out"));
  }
  EXPECT_EQ(read_text(outside() / ".lock"), "pid 1");
}

TEST_F(Links, AFolderWithALockAndAStudyOfItsUserIsNotOurs) {
  fs::remove(victim());
  std::ofstream(outside() / ".lock").flush();
  std::ofstream(outside() / "study.toml") << "theirs";
  EXPECT_EQ(run(kStudy, {"--out", outside().string()}).code, 2);
  EXPECT_EQ(read_text(outside() / "study.toml"), "theirs");
}

TEST_F(Links, AFolderThatAStartHasJustLockedIsOurs) {
  fs::remove(victim());
  for (const char* file : {kStudyLock, kTablesLock, ".residuum-0123456789abcdef"}) {
    std::ofstream(outside() / file).flush();
  }
  EXPECT_EQ(run(kStudy, {"--out", outside().string()}).code, 0);
}

TEST_F(Links, WhatAKilledProgramHasLeftIsRemoved) {
  ASSERT_EQ(run(kStudy).code, 0);
  const fs::path checkpoint = run_folders().front() / "checkpoint";
  fs::create_directories(checkpoint);
  const fs::path left = checkpoint / ".residuum-0123456789abcdef";
  std::ofstream(left) << "half a checkpoint";
  ASSERT_EQ(run(kStudy).code, 0);
  EXPECT_FALSE(fs::exists(left));
  std::ofstream(left) << "half a checkpoint";
  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  EXPECT_FALSE(fs::exists(left));
}

}  // namespace
}  // namespace residuum
