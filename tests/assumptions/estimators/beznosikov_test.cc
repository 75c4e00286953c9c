#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "assumptions/estimators/compressor_constants.h"
#include "core/random/random.h"

namespace residuum {
namespace {

TEST(CompressorConstants, OfAMaskAreItsCapturedEnergyAndBetaOne) {
  // x = (3, 4), Top-1 keeps 4: 16/25.
  const auto constants = compressor_constants(std::vector<double>{3, 4}, std::vector<double>{0, 4});
  ASSERT_TRUE(constants);
  EXPECT_DOUBLE_EQ(constants->alpha, 0.64);
  EXPECT_DOUBLE_EQ(constants->beta, 1);
  EXPECT_DOUBLE_EQ(constants->gamma, 0.64);
  EXPECT_DOUBLE_EQ(constants->delta, 25.0 / 16);
}

TEST(CompressorConstants, OfAConstantVectorAreThoseOfTheTheory) {
  // Top-k of equal entries is the worst case: alpha = gamma = k/d, delta = d/k.
  const auto constants = compressor_constants(std::vector<double>(8, 1.0),
                                              std::vector<double>{1, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_DOUBLE_EQ(constants->alpha, 0.25);
  EXPECT_DOUBLE_EQ(constants->delta, 4);
}

TEST(CompressorConstants, AreInfiniteWhereTheMessagePointsAway) {
  const auto constants =
      compressor_constants(std::vector<double>{1, 0}, std::vector<double>{-1, 0});
  EXPECT_TRUE(std::isinf(constants->beta));
  EXPECT_TRUE(std::isinf(constants->delta));
  EXPECT_FALSE(compressor_constants(std::vector<double>{0, 0}, std::vector<double>{0, 0}));
}

TEST(CompressorConstants, OfTheThirdClassImplyTheSecondAndThoseTheFirst) {
  RandomStream random(23, Purpose::test, 0, 0);
  constexpr double kRoom = 1 + 1e-12;
  int looked_at = 0;
  for (int repetition = 0; repetition < 5000; ++repetition) {
    std::vector<double> x(6);
    std::vector<double> c(6);
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = random.normal();
      c[j] = (1 + 0.8 * random.normal()) * x[j];  // scaled entrywise, sometimes the wrong way
    }
    const auto constants = *compressor_constants(x, c);
    if (std::isinf(constants.delta)) {
      continue;
    }
    ++looked_at;
    // B3(delta) => B2(1/(2 delta), 2) for this pair.
    ASSERT_LE(1 / (2 * constants.delta), constants.gamma * kRoom);
    ASSERT_LE(constants.beta, 2 * kRoom);
    // B2(gamma, beta) => B1(gamma^2, beta).
    ASSERT_LE(constants.gamma * constants.gamma, constants.alpha * kRoom);
  }
  EXPECT_GT(looked_at, 1000);
}

TEST(CompressorConstants, OfSeveralPairsAreTheWorst) {
  const CompressorConstants both = worse({.alpha = 0.1, .beta = 1, .gamma = 0.3, .delta = 2},
                                         {.alpha = 0.2, .beta = 3, .gamma = 0.2, .delta = 1});
  EXPECT_EQ(both.alpha, 0.1);
  EXPECT_EQ(both.beta, 3);
  EXPECT_EQ(both.gamma, 0.2);
  EXPECT_EQ(both.delta, 2);
}

}  // namespace
}  // namespace residuum
