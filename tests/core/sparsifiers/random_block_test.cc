// Random blocks against every set of blocks (with y_b = |a_b|^2, as in rand_k_test.cc):
//   E |a - C(a)|^2 = (1 - m/B) sum y,  Var = m (1 - m/B) S^2,  S^2 = sum (y - mean y)^2/(B - 1).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::Json;
using Blocks = std::vector<std::uint32_t>;

constexpr int kBlockDraws = 20000;

std::unique_ptr<Sparsifier> blocks_of(std::size_t k, std::size_t block, const Json& more = {}) {
  Json values{{"kind", "random-block"}, {"k", k}, {"block", block}};
  if (!more.is_null()) {
    values.update(more);
  }
  return test::sparsifier(values);
}

template <class Real>
Message<Real> drawn_message(const Sparsifier& rule,
                            const std::vector<Real>& x,
                            int iteration,
                            int worker = 0) {
  const SelectionContext context{.seed = 5,
                                 .worker = worker,
                                 .iteration = static_cast<std::uint64_t>(iteration),
                                 .step_size = 1};
  Message<Real> message;
  SelectWorkspace workspace;
  rule.select(std::span<const Real>(x), context, workspace, message);
  return message;
}

TEST(RandomBlock, SendsBlocksWholeAndNoZeros) {
  const std::vector<double> x{1, 2, 0, 4, 5, 6, 7};  // blocks of 3, 3 and 1
  const auto rule = blocks_of(5, 3);
  for (int t = 0; t < 50; ++t) {
    const auto message = drawn_message(*rule, x, t);
    ASSERT_EQ(message.blocks.size(), 2);
    std::vector<double> expected(7);
    for (const std::uint32_t block : message.blocks) {
      for (std::size_t i = 3 * block; i < std::min<std::size_t>(7, 3 * block + 3); ++i) {
        expected[i] = x[i];
      }
    }
    ASSERT_EQ(test::dense(message.entries, 7), expected);
    ASSERT_TRUE(is_well_formed(message.entries, 7));
  }
}

// B k/d, rounded: with B = 3 of d = 10 it is 0.3, 1.5, 2.7 and 3.
TEST(RandomBlock, DrawsAsManyBlocksAsKIsOfD) {
  const std::vector<double> x(10, 1.0);
  const auto drawn = [&](std::size_t k) {
    return drawn_message(*blocks_of(k, 4), x, 0).blocks.size();
  };
  EXPECT_EQ(drawn(1), 1);
  EXPECT_EQ(drawn(5), 2);
  EXPECT_EQ(drawn(9), 3);
  EXPECT_EQ(drawn(10), 3);
  EXPECT_EQ(blocks_of(5, 4)->k(10), 8);
  EXPECT_EQ(blocks_of(10, 4)->k(10), 10);
  EXPECT_EQ(blocks_of(1, 4)->law(10, 1).contraction, 1.0 / 3);
  EXPECT_EQ(blocks_of(4, 4)->law(16, 1).contraction, 0.25) << "k/d of equal blocks";
  const auto by_density =
      test::sparsifier({{"kind", "random-block"}, {"density", 0.25}, {"block", 10}});
  EXPECT_EQ(drawn_message(*by_density, std::vector<double>(1000, 1.0), 0).blocks.size(), 25);
}

TEST(RandomBlock, HasBlocksOf256EntriesUnlessToldOtherwise) {
  const auto rule = test::sparsifier({{"kind", "random-block"}, {"k", 1}});
  EXPECT_EQ(rule->k(10000), 256);
  EXPECT_EQ(rule->k(200), 200);
}

/// One message for each set of blocks that is drawn in many iterations, and how often.
struct Drawn {
  std::map<Blocks, std::vector<double>> messages;
  std::map<Blocks, int> counts;
};

Drawn all_drawn(const Sparsifier& rule, const std::vector<double>& x) {
  Drawn drawn;
  for (int t = 0; t < kBlockDraws; ++t) {
    const auto message = drawn_message(rule, x, t);
    drawn.messages[message.blocks] = test::dense(message.entries, x.size());
    ++drawn.counts[message.blocks];
  }
  return drawn;
}

/// Six blocks, of which the last has one entry of two.
const std::vector<double> of_eleven{1, -2, 3, 0, 5, 6, -7, 8, 9, 10, 11};

TEST(RandomBlock, DrawsEverySetOfBlocksEquallyOften) {
  const auto drawn = all_drawn(*blocks_of(5, 2), of_eleven);  // m = 30/11: 3
  constexpr double kExpected = kBlockDraws / 20.0;            // 6 choose 3
  ASSERT_EQ(drawn.counts.size(), 20U);
  double chi_square = 0;
  for (const auto& [blocks, count] : drawn.counts) {
    ASSERT_EQ(blocks.size(), 3U);
    chi_square += std::pow(count - kExpected, 2) / kExpected;
  }
  EXPECT_LT(chi_square, 19 + 6 * std::sqrt(2 * 19.0));
}

/// The mean over all sets of blocks is the expectation, also with a short last block.
TEST(RandomBlock, LosesItsShareInTheMeanOverAllSetsOfBlocks) {
  for (const std::size_t k : {1U, 5U, 7U, 11U}) {
    const auto rule = blocks_of(k, 2);
    const auto drawn = all_drawn(*rule, of_eleven);
    double sum = 0;
    for (const auto& [blocks, sent] : drawn.messages) {
      sum += norm_sq<double>(of_eleven) - norm_sq<double>(sent);
    }
    const double mean = sum / static_cast<double>(drawn.messages.size());
    const double m = std::max(1.0, std::round(6.0 * static_cast<double>(k) / 11));
    EXPECT_NEAR(mean, (1 - m / 6) * norm_sq<double>(of_eleven), 1e-11) << k;
    EXPECT_DOUBLE_EQ(*rule->law(11, 1).contraction, m / 6) << k;
    EXPECT_TRUE(rule->law(11, 1).exact);
    EXPECT_FALSE(rule->law(11, 1).pathwise);
  }
}

TEST(RandomBlock, IsUnbiasedOverAllSetsOfBlocksIfScaled) {
  for (const std::size_t k : {1U, 5U, 8U}) {
    const auto rule = blocks_of(k, 2, {{"scaled", true}});
    const auto drawn = all_drawn(*rule, of_eleven);
    const auto sets = static_cast<double>(drawn.messages.size());
    std::vector<double> mean(11);
    double lost = 0;
    for (const auto& [blocks, sent] : drawn.messages) {
      for (std::size_t i = 0; i < 11; ++i) {
        mean[i] += sent[i] / sets;
        lost += std::pow(of_eleven[i] - sent[i], 2) / sets;
      }
    }
    const double m = std::max(1.0, std::round(6.0 * static_cast<double>(k) / 11));
    for (std::size_t i = 0; i < 11; ++i) {
      EXPECT_NEAR(mean[i], of_eleven[i], 1e-13) << k;
    }
    EXPECT_NEAR(lost, (6 / m - 1) * norm_sq<double>(of_eleven), 1e-10) << k;
    const auto law = rule->law(11, 1);
    EXPECT_TRUE(law.unbiased);
    EXPECT_EQ(law.contraction.has_value(), m > 3) << k;
    if (law.contraction) {
      EXPECT_DOUBLE_EQ(*law.contraction, 2 - 6 / m);
    }
  }
}

TEST(RandomBlock, LosesTheExpectedEnergyWithTheExpectedVariance) {
  const auto x = test::normal_vector(95, 1);  // 10 blocks, the last of 5
  std::vector<double> energy(10);
  for (std::size_t i = 0; i < x.size(); ++i) {
    energy[i / 10] += x[i] * x[i];
  }
  const double total = norm_sq<double>(x);
  for (const double m : {1.0, 4.0, 9.0}) {
    const auto rule = blocks_of(static_cast<std::size_t>(std::lround(9.5 * m)), 10);
    double spread = 0;
    for (const double y : energy) {
      spread += std::pow(y - total / 10, 2);
    }
    const double variance = m * (1 - m / 10) * spread / 9;
    double sum = 0;
    for (int t = 0; t < kBlockDraws; ++t) {
      sum += total - norm_sq<double>(drawn_message(*rule, x, t).entries.values);
    }
    EXPECT_NEAR(sum / kBlockDraws, (1 - m / 10) * total, 6 * std::sqrt(variance / kBlockDraws))
        << m;
  }
}

TEST(RandomBlock, OfOneEntryIsRandK) {
  const auto x = test::normal_vector(100, 3);
  for (const Json& more : {Json{{"mask", "shared"}},
                           Json{{"mask", "per-worker"}},
                           Json{{"scaled", true}, {"mask", "per-worker"}}}) {
    Json plain{{"kind", "rand-k"}, {"k", 30}};
    plain.update(more);
    const auto rand_k = test::sparsifier(plain);
    const auto rule = blocks_of(30, 1, more);
    for (int t = 0; t < 20; ++t) {
      EXPECT_EQ(drawn_message(*rule, x, t, 2).entries, drawn_message(*rand_k, x, t, 2).entries);
    }
  }
}

TEST(RandomBlock, DrawsOneMaskForAllWorkersOrOneForEach) {
  const auto shared = blocks_of(500, 10);
  const auto own = blocks_of(500, 10, {{"mask", "per-worker"}});
  const std::vector<double> x(1000, 1.0);
  EXPECT_EQ(drawn_message(*shared, x, 4, 0).entries, drawn_message(*shared, x, 4, 3).entries);
  EXPECT_NE(drawn_message(*shared, x, 4, 0).entries, drawn_message(*shared, x, 5, 0).entries);
  EXPECT_NE(drawn_message(*own, x, 4, 0).entries, drawn_message(*own, x, 4, 3).entries);
}

// Zeros of a block travel with it; its number only where the receiver has not drawn it too.
TEST(RandomBlock, CountsNumbersOfBlocksOnlyWhereTheyAreNotShared) {
  const std::vector<float> x(1000);
  const auto shared = drawn_message(*blocks_of(300, 100), x, 0);
  EXPECT_EQ(shared.values_sent(1000), 300);
  EXPECT_EQ(shared.bytes(1000), 300 * 4);
  const auto own = drawn_message(*blocks_of(300, 100, {{"mask", "per-worker"}}), x, 0);
  EXPECT_EQ(own.bytes(1000), 3 * 4 + 300 * 4);
}

TEST(RandomBlock, RefusesBlocksWithoutEntriesAndKeysThatItHasNot) {
  const auto error = [](const Json& key) { return test::error_of([&] { blocks_of(1, 2, key); }); };
  using testing::HasSubstr;
  EXPECT_THAT(error({{"block", 0}}), HasSubstr("'sparsifier.block' must lie between 1 and"));
  EXPECT_THAT(error({{"block", -1}}), HasSubstr("got -1"));
  EXPECT_THAT(error({{"mask", "sharde"}}), HasSubstr("shared"));
  EXPECT_THAT(error({{"size", 4}}), HasSubstr("size"));
  EXPECT_EQ(error({{"scaled", true}}), "");
}

}  // namespace
}  // namespace residuum
