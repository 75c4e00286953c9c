// The kept inputs of every fuzzer, in the ordinary build. A file's name says what is known of it:
// taken-*, refused-*, and found-*, which once did what no file may do, and is now either.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzzing/targets.h"

namespace residuum::fuzzing {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus_of(std::string_view target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(RESIDUUM_CORPORA) / target)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Corpus : public ::testing::TestWithParam<NamedTarget> {};

TEST_P(Corpus, IsTakenOrRefusedAndNothingElse) {
  const auto files = corpus_of(GetParam().name);
  ASSERT_FALSE(files.empty());
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    bool taken = false;

    EXPECT_NO_THROW(taken = accepts(GetParam().take, bytes_of(file)));

    const std::string name = file.filename().string();
    EXPECT_TRUE(taken || !name.starts_with("taken-"));
    EXPECT_FALSE(taken && name.starts_with("refused-"));
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzzing,
                         Corpus,
                         ::testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace residuum::fuzzing
