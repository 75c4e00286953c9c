// The kept inputs of every fuzzer, in the ordinary build. A file's name tells its outcome: taken-*,
// refused-*, and found-*. The last kind once broke a promise of the program, and is now taken or
// refused.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
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

/// The bytes of a resumed run of this kind with eight bytes of its state changed.
std::string changed_run(std::size_t kind, std::uint16_t place, std::uint64_t value) {
  std::string bytes = "==> kind\n" + std::to_string(kind) + "\n==> state\n";
  const auto add = [&](const auto& number) {
    for (const std::byte byte : std::as_bytes(std::span(&number, 1))) {
      bytes.push_back(static_cast<char>(byte));
    }
  };
  add(place);
  add(value);
  return bytes;
}

// All ones are NaN, and a count or a number of a worker that nothing has; 3 is one that some have.
TEST(ResumedRun, ComesToItsEndWhereverItsStateWasChanged) {
  constexpr std::size_t kKinds = 8;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (std::uint16_t place = 8; place < 4096; place += 272) {
      for (const std::uint64_t value : {~std::uint64_t{0}, std::uint64_t{3}}) {
        SCOPED_TRACE(fmt::format("kind {}, place {}, value {}", kind, place, value));
        bool taken = false;
        EXPECT_NO_THROW(taken = accepts(take_resumed_run, changed_run(kind, place, value)));
        EXPECT_TRUE(taken);
      }
    }
  }
}

}  // namespace
}  // namespace residuum::fuzzing
