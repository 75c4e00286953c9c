// Files are whole or not there, and lie in the folder that the user named.

#include "core/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "core/error.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Output : public ::testing::Test {
 protected:
  Output() {
    std::string name = (fs::temp_directory_path() / "residuum-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    top_ = name;
    fs::create_directories(results());
    fs::create_directories(top_ / "others");
    std::ofstream(victim()) << "theirs";
  }
  ~Output() override {
    std::error_code ignored;
    fs::remove_all(top_, ignored);
  }

  /// The folder that the user named, and what lies outside of it.
  fs::path results() const { return top_ / "results"; }
  fs::path victim() const { return top_ / "others" / "victim"; }
  OutputPath below(const char* inside) const { return OutputPath::named(results()) / inside; }

  static std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static std::ptrdiff_t entries(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }
  static std::string complaint(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::resource) << error.what();
      return error.what();
    }
    return "no complaint";
  }

  fs::path top_;
};

TEST_F(Output, AtomicFileReplacesTheOldContentAndLeavesNothingElse) {
  const auto file = below("a.json");
  write_file_atomically(file, "old and longer");
  write_file_atomically(file, "new");
  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(entries(results()), 1);
}

TEST_F(Output, AtomicFileLeavesTheOldContentWhenItIsNotCommitted) {
  const auto path = below("a.json");
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.append("half of the new");
  }
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(entries(results()), 1);
}

TEST_F(Output, AtomicFileNamesTheFileThatCannotBeReplaced) {
  fs::create_directories(results() / "taken" / "inside");
  EXPECT_THAT(complaint([&] { write_file_atomically(below("taken"), "text"); }),
              HasSubstr("results/taken': Is a directory"));
  EXPECT_THAT(complaint([&] { write_file_atomically(below("absent/a"), "text"); }),
              AllOf(HasSubstr("cannot write"), HasSubstr("absent/a': No such file")));
  EXPECT_EQ(entries(results()), 1);
}

TEST_F(Output, HoldsMoreThanItsBuffer) {
  OutputFile file(below("long"));
  std::string expected;
  for (int i = 0; i < 30000; ++i) {
    const std::string line = fmt::format("line {}\n", i);
    file.append(line);
    expected += line;
  }
  file.close();
  file.close();  // a second time does nothing
  EXPECT_EQ(text_of(below("long")), expected);
}

TEST_F(Output, GoesOnAfterWhatWasKept) {
  write_file_atomically(below("table"), "kept|cut off");
  OutputFile file(below("table"), 5);
  file.append("new");
  EXPECT_EQ(file.synchronise(), 8U);
  EXPECT_EQ(text_of(below("table")), "kept|new");
}

// Each way of writing, with a link to somebody's file in the place of the file.
TEST_F(Output, NeverWritesThroughALinkInPlaceOfAFile) {
  const auto file = below("file");
  const std::array<std::function<void()>, 4> writes{[&] { write_file_atomically(file, "ours"); },
                                                    [&] {
                                                      OutputFile begun(file);
                                                      begun.append("ours");
                                                      begun.close();
                                                    },
                                                    [&] {
                                                      OutputFile going_on(file, 2);
                                                      going_on.append("ours");
                                                      going_on.close();
                                                    },
                                                    [&] { append_to_file(file, "ours"); }};
  for (std::size_t i = 0; i < writes.size(); ++i) {
    for (const bool is_hard : {false, true}) {
      fs::remove(file.path());
      is_hard ? fs::create_hard_link(victim(), file.path())
              : fs::create_symlink(victim(), file.path());
      const std::string said = complaint(writes[i]);
      EXPECT_EQ(text_of(victim()), "theirs") << i;
      if (said == "no complaint") {  // the link was replaced
        EXPECT_EQ(text_of(file), "ours") << i;
      } else {
        EXPECT_THAT(said, HasSubstr(is_hard ? "it has a second name" : "is a link")) << i;
      }
    }
  }
}

TEST_F(Output, NeverLeavesTheNamedFolderThroughALinkedFolder) {
  fs::create_directory_symlink(top_ / "others", results() / "runs");
  const auto file = below("runs/victim");
  const auto own = below("own");
  write_file_atomically(own, "ours");
  const std::array<std::function<void()>, 6> writes{[&] { write_file_atomically(file, "ours"); },
                                                    [&] { const OutputFile begun(file); },
                                                    [&] { const OutputFile going_on(file, 2); },
                                                    [&] { append_to_file(file, "ours"); },
                                                    [&] { make_folder(below("runs/new")); },
                                                    [&] { move_file(own, file); }};
  for (std::size_t i = 0; i < writes.size(); ++i) {
    EXPECT_THAT(complaint(writes[i]), HasSubstr("results/runs' is a link")) << i;
  }
  EXPECT_FALSE(remove_file(file));
  EXPECT_FALSE(remove_folder(file));
  EXPECT_EQ(text_of(victim()), "theirs");
  EXPECT_EQ(entries(top_ / "others"), 1);
}

// A folder of results often lies on another disk.
TEST_F(Output, FollowsLinksThatLeadToTheNamedFolder) {
  fs::create_directory_symlink(top_ / "others", top_ / "link");
  make_folder(OutputPath::named(top_ / "link") / "runs" / "a");
  write_file_atomically(OutputPath::named(top_ / "link") / "runs" / "a" / "status", "ours");
  EXPECT_EQ(text_of(top_ / "others" / "runs" / "a" / "status"), "ours");
  write_file_atomically(top_ / "link" / "table", "ours");
  EXPECT_EQ(text_of(top_ / "others" / "table"), "ours");
}

TEST_F(Output, RemovesALinkAndNotItsTarget) {
  fs::create_directory_symlink(top_ / "others", results() / "figures");
  EXPECT_TRUE(remove_folder(below("figures")));
  EXPECT_EQ(text_of(victim()), "theirs");
  EXPECT_EQ(entries(results()), 0);
}

TEST_F(Output, AcceptsNoNameThatLeadsOut) {
  EXPECT_THROW((void)below("../others/victim"), Error);
  EXPECT_THROW((void)(OutputPath::named(results()) / victim()), Error);
}

TEST_F(Output, APipeIsNoFile) {
  ASSERT_EQ(mkfifo((results() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(complaint([&] { append_to_file(below("pipe"), "ours"); }), HasSubstr("pipe'"));
}

TEST_F(Output, TakesThePlaceOfNoDevice) {
  ASSERT_EQ(mkfifo((results() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(complaint([&] { write_file_atomically(below("pipe"), "ours"); }),
              HasSubstr("it is a device or a pipe"));
  EXPECT_THAT(complaint([&] { const OutputFile file(below("pipe")); }), HasSubstr("pipe'"));
  EXPECT_TRUE(fs::is_fifo(results() / "pipe"));
  EXPECT_EQ(entries(results()), 1);
}

// A killed program leaves a file under a name of ours, which nobody locks.
TEST_F(Output, RemovesWhatAKilledProgramLeft) {
  fs::create_directories(results() / "runs" / "a" / "checkpoint");
  constexpr const char* kLeft = ".residuum-0123456789abcdef";
  for (const char* folder : {"", "runs/a", "runs/a/checkpoint"}) {
    std::ofstream(results() / folder / kLeft) << "half";
  }
  std::ofstream(results() / ".residuum-of-a-user") << "theirs";
  fs::create_symlink(victim(), results() / ".residuum-0123456789abcdee");
  AtomicFile written(below("report.html"));  // by a program that lives
  written.append("whole");
  std::ofstream(results() / ".residuum-0123456789abcded");  // by one that has just begun

  remove_leftovers(OutputPath::named(results()));

  EXPECT_EQ(entries(results() / "runs" / "a" / "checkpoint"), 0);
  EXPECT_EQ(entries(results() / "runs" / "a"), 1);
  EXPECT_FALSE(fs::exists(results() / kLeft));
  EXPECT_TRUE(fs::exists(results() / ".residuum-of-a-user"));
  EXPECT_TRUE(fs::exists(results() / ".residuum-0123456789abcded"));
  EXPECT_EQ(text_of(victim()), "theirs");
  written.commit();
  EXPECT_EQ(text_of(below("report.html")), "whole");

  const utimbuf old{.actime = 1000, .modtime = 1000};
  ASSERT_EQ(utime((results() / ".residuum-0123456789abcded").c_str(), &old), 0);
  remove_leftovers(OutputPath::named(results()));
  EXPECT_FALSE(fs::exists(results() / ".residuum-0123456789abcded"));
}

TEST_F(Output, RemovesWhatLiesBesideAFileAndNothingBelow) {
  constexpr const char* kLeft = ".residuum-0123456789abcdef";
  fs::create_directories(results() / "below");
  std::ofstream(results() / kLeft) << "half";
  std::ofstream(results() / "below" / kLeft) << "half";

  remove_leftovers_beside(below("joined.csv"));

  EXPECT_FALSE(fs::exists(results() / kLeft));
  EXPECT_TRUE(fs::exists(results() / "below" / kLeft));
}

TEST_F(Output, HasNamesUntilItIsWholeThatNobodyForesees) {
  const AtomicFile first(below("a"));
  const AtomicFile second(below("a"));
  std::ptrdiff_t ours = 0;
  for (const auto& entry : fs::directory_iterator(results())) {
    ours += is_temporary(entry.path().filename().string()) ? 1 : 0;
  }
  EXPECT_EQ(ours, 2);
}

}  // namespace
}  // namespace residuum
