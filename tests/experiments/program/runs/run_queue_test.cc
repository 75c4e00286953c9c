// Several takers share the runs of a batch through a file.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <thread>

#include "core/error.h"
#include "experiments/program/runs/file_lock.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

class Queue : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "next"; }
  RunQueue queue(std::size_t runs) const { return {runs, file()}; }
  TemporaryFolder folder_;
};

TEST_F(Queue, HandsOutEveryRunOnceInOrder) {
  RunQueue first = queue(12);
  RunQueue second = queue(12);
  first.start();
  for (std::size_t run = 0; run < 12; run += 2) {
    EXPECT_EQ(first.next(), run);
    EXPECT_EQ(second.next(), run + 1);
  }
  EXPECT_EQ(first.next(), std::nullopt);
  EXPECT_EQ(second.next(), std::nullopt);
}

TEST_F(Queue, HandsOutEveryRunOnceToTakersAtTheSameTime) {
  constexpr std::size_t kRuns = 400;
  queue(kRuns).start();
  std::vector<std::vector<std::size_t>> taken(4);
  {
    std::vector<std::jthread> takers;
    for (auto& mine : taken) {
      takers.emplace_back([&] {
        RunQueue own = queue(kRuns);
        while (const auto run = own.next()) {
          mine.push_back(*run);
        }
      });
    }
  }
  std::vector<std::size_t> all;
  for (const auto& mine : taken) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> expected(kRuns);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(all, expected);
}

TEST_F(Queue, GivesNothingOnceSomebodyHasClosedIt) {
  RunQueue first = queue(5);
  RunQueue second = queue(5);
  first.start();
  EXPECT_EQ(first.next(), 0U);
  second.close();
  EXPECT_EQ(first.next(), std::nullopt);
}

TEST_F(Queue, StartsAnewWhereAKilledBatchHasLeftItsFile) {
  queue(500).close();
  RunQueue next = queue(5);
  next.start();
  EXPECT_EQ(next.next(), 0U);
}

TEST_F(Queue, LeavesNoFileOnceItIsRemoved) {
  RunQueue over = queue(5);
  over.start();
  ASSERT_TRUE(std::filesystem::exists(file()));
  over.remove();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(Queue, NeedsNoFileForOneTaker) {
  RunQueue alone(2, {});
  alone.start();
  EXPECT_EQ(alone.next(), 0U);
  EXPECT_EQ(alone.next(), 1U);
  EXPECT_EQ(alone.next(), std::nullopt);
}

TEST_F(Queue, NamesAFileThatItCannotRead) {
  std::ofstream(file()) << "x";
  RunQueue damaged = queue(5);
  EXPECT_THROW(damaged.next(), Error);
}

}  // namespace
}  // namespace residuum
