#include "core/training/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace residuum {
namespace {

using Samples = std::vector<std::uint32_t>;

const Samples shard{100, 101, 102, 103, 104, 105, 106};

Samples draw(Batches& batches, std::uint64_t iteration) {
  const auto drawn = batches.draw(iteration);
  return {drawn.begin(), drawn.end()};
}

TEST(Batches, AreTheWholeShardForBatchZero) {
  for (const Sampling sampling : {Sampling::replacement, Sampling::shuffle}) {
    Batches batches(1, 0, shard, 0, sampling);
    EXPECT_EQ(draw(batches, 0), shard);
    EXPECT_EQ(draw(batches, 9), shard);
  }
}

TEST(Batches, AreEmptyForAnEmptyShard) {
  Batches batches(1, 0, {}, 4, Sampling::shuffle);
  EXPECT_TRUE(draw(batches, 3).empty());
}

TEST(Batches, AreAPureFunctionOfSeedWorkerAndIteration) {
  for (const Sampling sampling : {Sampling::replacement, Sampling::shuffle}) {
    Batches forwards(1, 2, shard, 3, sampling);
    std::vector<Samples> expected;
    for (std::uint64_t t = 0; t < 12; ++t) {
      expected.push_back(draw(forwards, t));
    }
    Batches backwards(1, 2, shard, 3, sampling);
    for (std::uint64_t t = 12; t-- > 0;) {
      EXPECT_EQ(draw(backwards, t), expected[t]);
    }
    Batches other_worker(1, 3, shard, 12, sampling);
    Batches other_seed(2, 2, shard, 12, sampling);
    Batches same(1, 2, shard, 12, sampling);
    EXPECT_NE(draw(same, 0), draw(other_worker, 0));
    EXPECT_NE(draw(same, 0), draw(other_seed, 0));
  }
}

TEST(ShuffledBatches, HoldEverySampleOncePerPassWhateverTheBatch) {
  for (const std::size_t batch : {1U, 2U, 3U, 7U, 10U, 20U}) {
    Batches batches(1, 0, shard, batch, Sampling::shuffle);
    Samples stream;
    for (std::uint64_t t = 0; t < 14; ++t) {
      const auto drawn = draw(batches, t);
      ASSERT_EQ(drawn.size(), batch);
      stream.insert(stream.end(), drawn.begin(), drawn.end());
    }
    for (std::size_t pass = 0; pass + shard.size() <= stream.size(); pass += shard.size()) {
      const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(pass);
      Samples one_pass(begin, begin + static_cast<std::ptrdiff_t>(shard.size()));
      std::sort(one_pass.begin(), one_pass.end());
      ASSERT_EQ(one_pass, shard) << "batch " << batch << ", pass at " << pass;
    }
  }
}

TEST(ShuffledBatches, PermuteAnewInEveryPass) {
  Batches batches(1, 0, shard, shard.size(), Sampling::shuffle);

  EXPECT_NE(draw(batches, 0), draw(batches, 1));
}

TEST(ShuffledBatches, PutEverySampleFirstEquallyOften) {
  constexpr int kPasses = 14000;
  Batches batches(1, 0, shard, shard.size(), Sampling::shuffle);
  std::map<std::uint32_t, int> firsts;
  for (std::uint64_t t = 0; t < kPasses; ++t) {
    ++firsts[draw(batches, t).front()];
  }

  const double expected = kPasses / 7.0;
  for (const std::uint32_t sample : shard) {
    EXPECT_NEAR(firsts[sample], expected, 6 * std::sqrt(expected * 6 / 7));
  }
}

TEST(BatchesWithReplacement, AreUniformAndIndependent) {
  constexpr int kDraws = 14000;
  Batches batches(1, 0, shard, 2, Sampling::replacement);
  std::map<std::uint32_t, int> counts;
  int repeats = 0;
  for (std::uint64_t t = 0; t < kDraws; ++t) {
    const auto drawn = draw(batches, t);
    ++counts[drawn[0]];
    repeats += drawn[0] == drawn[1] ? 1 : 0;
  }

  const double expected = kDraws / 7.0;
  const double six_errors = 6 * std::sqrt(expected * 6 / 7);
  for (const std::uint32_t sample : shard) {
    EXPECT_NEAR(counts[sample], expected, six_errors);
  }
  EXPECT_NEAR(repeats, expected, six_errors);
}

}  // namespace
}  // namespace residuum
