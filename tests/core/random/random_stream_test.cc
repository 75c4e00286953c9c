// RandomStream against Philox4x32-10 written a second time from its definition (Salmon et al., SC
// 2011), which is itself checked by the known answers that Random123 publishes.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "core/random/random.h"

namespace residuum {
namespace {

using Block = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

Block philox(Block c, Key k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = 0xD2511F53ULL * c[0];
    const std::uint64_t second = 0xCD9E8D57ULL * c[2];
    c = {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ k[0],
         static_cast<std::uint32_t>(second),
         static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ k[1],
         static_cast<std::uint32_t>(first)};
    k = {k[0] + 0x9E3779B9U, k[1] + 0xBB67AE85U};
  }
  return c;
}

constexpr std::uint32_t kAll = 0xffffffff;

TEST(Philox, TheReferenceOfTheseTestsGivesTheKnownAnswersOfRandom123) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({kAll, kAll, kAll, kAll}, {kAll, kAll}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, StartsWithTheKnownAnswerForCounterAndKeyZero) {
  RandomStream random(0, Purpose{0}, 0, 0);

  EXPECT_EQ(random.bits(), 0x6627e8d5U);
  EXPECT_EQ(random.bits(), 0xe169c58dU);
  EXPECT_EQ(random.bits(), 0xbc57ac4cU);
  EXPECT_EQ(random.bits(), 0x9b00dbd8U);
}

TEST(RandomStream, IsPhiloxOfPositionIterationWorkerPurposeUnderTheSeed) {
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{0xfedcba9876543210}}) {
    for (const std::uint32_t worker : {0U, 5U, kAll}) {
      for (const std::uint32_t iteration : {0U, 77U, kAll}) {
        RandomStream random(seed, Purpose::shuffle, worker, iteration);
        for (std::uint32_t position = 0; position < 5; ++position) {
          const Block expected =
              philox({position, iteration, worker, static_cast<std::uint32_t>(Purpose::shuffle)},
                     {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
          for (const std::uint32_t word : expected) {
            ASSERT_EQ(random.bits(), word);
          }
        }
      }
    }
  }
}

TEST(RandomStream, GivesOtherNumbersForAnotherSeedPurposeWorkerOrIteration) {
  std::set<std::uint64_t> firsts;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32}) {
    for (std::uint32_t purpose = 1; purpose <= 9; ++purpose) {
      for (std::uint32_t worker = 0; worker < 8; ++worker) {
        for (std::uint32_t iteration = 0; iteration < 8; ++iteration) {
          firsts.insert(RandomStream(seed, Purpose{purpose}, worker, iteration).bits64());
        }
      }
    }
  }

  EXPECT_EQ(firsts.size(), 3U * 9 * 8 * 8);
}

TEST(RandomStream, DoesNotDependOnWhatOtherStreamsDraw) {
  RandomStream alone(3, Purpose::batch, 1, 2);
  std::vector<std::uint32_t> expected;
  for (int i = 0; i < 11; ++i) {
    expected.push_back(alone.bits());
  }

  RandomStream one(3, Purpose::batch, 1, 2);
  RandomStream other(3, Purpose::batch, 2, 2);
  std::vector<std::uint32_t> interleaved;
  for (int i = 0; i < 11; ++i) {
    interleaved.push_back(one.bits());
    other.normal();
    other.bits();
  }

  EXPECT_EQ(interleaved, expected);
}

TEST(RandomStream, TakesTheHighHalfOf64BitsFirst) {
  RandomStream random(0, Purpose{0}, 0, 0);

  EXPECT_EQ(random.bits64(), 0x6627e8d5e169c58dU);
}

TEST(RandomStream, MakesUniformNumbersOfTheLeading53Bits) {
  RandomStream random(0, Purpose{0}, 0, 0);

  EXPECT_EQ(random.uniform(), static_cast<double>(0x6627e8d5e169c58dU >> 11) / 9007199254740992.0);
}

}  // namespace
}  // namespace residuum
