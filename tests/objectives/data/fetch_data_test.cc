// experiments/fetch_data, run as a user would run it, against file:// addresses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "objectives/data/byte_stream.h"
#include "objectives/data/catalogue.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using ::testing::AllOf;
using testing::Folder;
using ::testing::HasSubstr;

std::filesystem::path script() { return std::filesystem::path(RESIDUUM_STUDIES) / "fetch_data"; }

struct Outcome {
  int code = -1;
  std::string words;  // both streams
};

Outcome fetch(const Folder& folder, const std::vector<std::string>& arguments) {
  const std::string log = (folder.path() / "log").string();
  std::vector<std::string> words{"bash", script().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  std::vector<std::string> variables{"RESIDUUM_FETCH_WAIT=0",
                                     std::string("PATH=") + std::getenv("PATH")};  // NOLINT
  std::vector<char*> environment{variables[0].data(), variables[1].data(), nullptr};

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  EXPECT_EQ(posix_spawnp(&child, "bash", &actions, nullptr, argv.data(), environment.data()), 0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .words = read_bytes(log)};
}

std::vector<std::string> from(const Folder& folder, const std::string& name) {
  return {"--base-url=file://" + (folder.path() / "mirror").string(),
          "--data-dir",
          (folder.path() / "data").string(),
          name};
}

class FetchData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/bin/curl")) {
      GTEST_SKIP() << "file:// addresses need curl, and it is not installed";
    }
  }
};

TEST_F(FetchData, HasTheSameFilesAddressesAndChecksumsAsTheCatalogue) {
  const std::string text = read_bytes(script());
  for (const auto& entry : datasets()) {
    std::vector<DataFile> files = entry.train;
    files.insert(files.end(), entry.test.begin(), entry.test.end());
    if (entry.archive) {
      files = {*entry.archive};
    }
    for (const auto& file : files) {
      std::string line = '\n' + entry.name + '|' + file.file + '|' +
                         (file.sha256.empty() ? "-" : file.sha256) + '|' + file.urls.at(0);
      for (std::size_t i = 1; i < file.urls.size(); ++i) {
        line += ' ' + file.urls[i];
      }
      EXPECT_THAT(text, HasSubstr(line + '\n'));
    }
  }
}

TEST_F(FetchData, PrintsTheChecksumOfAFileWhoseOwnIsNotKnown) {
  const Folder folder;
  folder.write("mirror/w8a", "abc");
  folder.write("mirror/w8a.t", "1 1:1\n-1 1:1\n");

  const auto outcome = fetch(folder, from(folder, "w8a"));

  EXPECT_EQ(outcome.code, 0) << outcome.words;
  // SHA-256 of "abc" is FIPS 180-4's first example.
  EXPECT_THAT(outcome.words,
              AllOf(HasSubstr("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
                    HasSubstr("NOT CHECKED")));
  EXPECT_EQ(read_bytes(folder.path() / "data/w8a/w8a"), "abc");
  EXPECT_EQ(load_sparse_test("w8a", folder.path() / "data")->rows(), 2U);
}

TEST_F(FetchData, KeepsNothingOfAFileWithAnotherChecksum) {
  const Folder folder;
  folder.write("mirror/mushrooms", "1 1:1\n2 1:1\n");

  const auto outcome = fetch(folder, from(folder, "mushrooms"));

  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.words, HasSubstr("not the published f39a4eb628dc61a7"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "data/mushrooms"));
}

TEST_F(FetchData, TriesThreeTimesAndThenSaysWhatToDoInOneLine) {
  const Folder folder;

  const auto outcome = fetch(folder, from(folder, "a9a"));

  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.words,
              AllOf(HasSubstr("a9a: try 1 of 3 failed"),
                    HasSubstr("a9a: try 2 of 3 failed"),
                    HasSubstr("error: cannot download a9a from file://"),
                    HasSubstr("copy it from elsewhere into " +
                              (folder.path() / "data/a9a").string() + '\n')));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "data/a9a"));
}

TEST_F(FetchData, LeavesAFileThatIsThereAlone) {
  const Folder folder;
  folder.write("data/w8a/w8a", "mine");
  folder.write("mirror/w8a", "theirs");
  folder.write("mirror/w8a.t", "theirs");

  const auto outcome = fetch(folder, from(folder, "w8a"));

  EXPECT_EQ(outcome.code, 0) << outcome.words;
  EXPECT_THAT(outcome.words, HasSubstr("w8a: w8a is already in"));
  EXPECT_EQ(read_bytes(folder.path() / "data/w8a/w8a"), "mine");
}

TEST_F(FetchData, FetchesTheRealFileAndReplacesADamagedOne) {
  const std::filesystem::path real = std::filesystem::path(RESIDUUM_TEST_DATA) / "heart_scale";
  if (!std::filesystem::exists(real)) {
    GTEST_SKIP() << "no real data in " << real;
  }
  const Folder folder;
  folder.write("mirror/heart_scale", read_bytes(real / "heart_scale"));
  folder.write("data/heart_scale/heart_scale", "damaged");

  const auto outcome = fetch(folder, from(folder, "heart_scale"));

  EXPECT_EQ(outcome.code, 0) << outcome.words;
  EXPECT_THAT(outcome.words, HasSubstr("heart_scale has the published sha256"));
  EXPECT_EQ(load_sparse("heart_scale", folder.path() / "data").rows(), 270U);
}

TEST_F(FetchData, RefusesUnknownNamesAndOptionsBeforeItDownloadsAnything) {
  const Folder folder;
  folder.write("mirror/w8a", "abc");

  for (const char* bad : {"nope", "../w8a", "a9a|a9a", "", "--what", "--data-dir"}) {
    auto arguments = from(folder, "w8a");
    arguments.emplace_back(bad);
    const auto outcome = fetch(folder, arguments);
    EXPECT_EQ(outcome.code, 2) << bad;
    EXPECT_THAT(outcome.words, HasSubstr("fetch_data: error: ")) << bad;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "data"));
  EXPECT_EQ(fetch(folder, {}).code, 2);
}

TEST_F(FetchData, ListsAndHelps) {
  const Folder folder;

  const auto list = fetch(folder, {"--list"});
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.words, AllOf(HasSubstr("a9a "), HasSubstr("cifar10 ")));
  EXPECT_THAT(fetch(folder, {"--help"}).words, HasSubstr("usage: experiments/fetch_data"));
}

}  // namespace
}  // namespace residuum
