// Rand_k against its closed forms (T-RAND): with y_j = x_j^2,
//   E |x - Rand_k x|^2 = (1 - k/d) sum y,  Var = k (1 - k/d) S^2,  S^2 = sum (y - mean y)^2/(d -
//   1).

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

constexpr int kMasks = 20000;

SparseVector<double> draw(const Sparsifier& rule,
                          const std::vector<double>& x,
                          int worker,
                          std::uint64_t iteration) {
  const SelectionContext context{
      .seed = 5, .worker = worker, .iteration = iteration, .step_size = 1};
  Message<double> message;
  SelectWorkspace workspace;
  rule.select(std::span<const double>(x), context, workspace, message);
  return message.entries;
}

TEST(RandK, LosesTheExpectedEnergyWithTheExpectedVariance) {
  const auto x = test::normal_vector(50, 1);
  const double total = norm_sq<double>(x);
  for (const std::size_t k : {std::size_t{1}, std::size_t{7}, std::size_t{49}}) {
    const auto rule = test::sparsifier({{"kind", "rand-k"}, {"k", k}});
    const double keep = static_cast<double>(k) / 50;
    double spread = 0;
    for (const double x_j : x) {
      spread += std::pow(x_j * x_j - total / 50, 2);
    }
    const double mean = (1 - keep) * total;
    const double variance = static_cast<double>(k) * (1 - keep) * spread / 49;

    double sum = 0;
    double sum_sq = 0;
    double sum_fourth = 0;
    for (int t = 0; t < kMasks; ++t) {
      const auto kept = draw(*rule, x, 0, static_cast<std::uint64_t>(t));
      const double error = total - norm_sq<double>(kept.values) - mean;
      sum += error;
      sum_sq += error * error;
      sum_fourth += std::pow(error, 4);
    }

    EXPECT_NEAR(sum / kMasks, 0, 6 * std::sqrt(variance / kMasks)) << "k = " << k;
    const double fourth = sum_fourth / kMasks;
    EXPECT_NEAR(sum_sq / kMasks, variance, 6 * std::sqrt((fourth - variance * variance) / kMasks))
        << "k = " << k;
  }
}

TEST(RandK, DrawsEverySubsetEquallyOften) {
  const auto rule = test::sparsifier({{"kind", "rand-k"}, {"k", 3}});
  const std::vector<double> x{1, 2, 3, 4, 5, 6};
  std::map<std::vector<std::uint32_t>, int> counts;
  for (int t = 0; t < kMasks; ++t) {
    ++counts[draw(*rule, x, 0, static_cast<std::uint64_t>(t)).indices];
  }

  constexpr double kExpected = kMasks / 20.0;  // 6 choose 3
  ASSERT_EQ(counts.size(), 20U);
  double chi_square = 0;
  for (const auto& [subset, count] : counts) {
    ASSERT_EQ(subset.size(), 3U);
    chi_square += std::pow(count - kExpected, 2) / kExpected;
  }
  EXPECT_LT(chi_square, 19 + 6 * std::sqrt(2 * 19.0));
}

TEST(RandK, DrawsOneMaskForAllWorkersOrOneForEach) {
  const auto shared = test::sparsifier({{"kind", "rand-k"}, {"k", 10}});
  const auto own = test::sparsifier({{"kind", "rand-k"}, {"k", 10}, {"mask", "per-worker"}});
  const std::vector<double> x(1000, 1.0);

  EXPECT_EQ(draw(*shared, x, 0, 4), draw(*shared, x, 3, 4));
  EXPECT_NE(draw(*shared, x, 0, 4), draw(*shared, x, 0, 5));
  EXPECT_NE(draw(*own, x, 0, 4), draw(*own, x, 3, 4));
  EXPECT_NE(draw(*own, x, 0, 4), draw(*own, x, 0, 5));
}

TEST(RandK, DoesNotRescaleWhatItKeeps) {
  const auto rule = test::sparsifier({{"kind", "rand-k"}, {"k", 2}});
  const std::vector<double> x(8, 3.0);

  EXPECT_EQ(draw(*rule, x, 0, 0).values, (std::vector<double>{3, 3}));
}

TEST(RandK, SendsDOverKTimesTheEntriesIfScaled) {
  const auto rule = test::sparsifier({{"kind", "rand-k"}, {"k", 2}, {"scaled", true}});
  const std::vector<double> x(8, 3.0);

  EXPECT_EQ(draw(*rule, x, 0, 0).values, (std::vector<double>{12, 12}));
}

// E C(x) = x: entry j of a draw is (d/k) x_j with probability k/d, so its variance is
// (d/k - 1) x_j^2; and E |x - C(x)|^2 = (d/k - 1) |x|^2.
TEST(RandK, IsUnbiasedIfScaledAndLosesMore) {
  const auto rule = test::sparsifier({{"kind", "rand-k"}, {"k", 2}, {"scaled", true}});
  const std::vector<double> x{1, -2, 3, 4, -5};
  std::vector<double> mean(x.size());
  double lost = 0;
  double lost_sq = 0;
  for (int t = 0; t < kMasks; ++t) {
    auto rest = x;
    const auto kept = draw(*rule, x, 0, static_cast<std::uint64_t>(t));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      mean[kept.indices[i]] += kept.values[i] / kMasks;
      rest[kept.indices[i]] -= kept.values[i];
    }
    const double error = norm_sq<double>(rest);
    lost += error / kMasks;
    lost_sq += error * error / kMasks;
  }

  for (std::size_t j = 0; j < x.size(); ++j) {
    EXPECT_NEAR(mean[j], x[j], 6 * std::abs(x[j]) * std::sqrt(1.5 / kMasks)) << j;
  }
  EXPECT_NEAR(lost, 1.5 * 55, 6 * std::sqrt((lost_sq - lost * lost) / kMasks));
}

TEST(RandK, StatesAContractionIfScaledOnlyAboveHalfTheEntries) {
  const auto law_of = [](int k) {
    return test::sparsifier({{"kind", "rand-k"}, {"k", k}, {"scaled", true}})->law(8, 1);
  };

  EXPECT_EQ(law_of(2).contraction, std::nullopt);
  EXPECT_EQ(law_of(4).contraction, std::nullopt);
  EXPECT_EQ(law_of(5).contraction, 2 - 8.0 / 5);
  EXPECT_EQ(law_of(8).contraction, 1.0);
}

TEST(RandK, StatesItsContractionAsAnExpectation) {
  const auto law = test::sparsifier({{"kind", "rand-k"}, {"k", 2}})->law(8, 1);

  EXPECT_EQ(law.contraction, 0.25);
  EXPECT_FALSE(law.pathwise);
}

}  // namespace
}  // namespace residuum
