// rTop_k against counts of its subsets and against its closed form,
//   E |x - rTop_k x|^2 = |x|^2 - (k/r) |Top_r x|^2.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::Json;
using Indices = std::vector<std::uint32_t>;

constexpr int kSelections = 20000;

SparseVector<double> drawn(const Sparsifier& rule,
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

std::map<Indices, int> counts_of(const Sparsifier& rule, const std::vector<double>& x) {
  std::map<Indices, int> counts;
  for (int t = 0; t < kSelections; ++t) {
    ++counts[drawn(rule, x, 0, static_cast<std::uint64_t>(t)).indices];
  }
  return counts;
}

// r = 4: the largest are those at 1, 2, 4 and 5, which have 6 subsets of 2.
TEST(RTopK, DrawsEverySubsetOfTheLargestEquallyOften) {
  const auto rule = test::sparsifier({{"kind", "r-top-k"}, {"k", 2}});
  const std::vector<double> x{0.5, -4, 3, 0.1, 5, -2};
  const auto counts = counts_of(*rule, x);
  ASSERT_EQ(counts.size(), 6U);
  constexpr double kExpected = kSelections / 6.0;
  double chi_square = 0;
  for (const auto& [subset, count] : counts) {
    ASSERT_EQ(subset.size(), 2U);
    EXPECT_THAT(Indices({1, 2, 4, 5}), testing::IsSupersetOf(subset));
    chi_square += std::pow(count - kExpected, 2) / kExpected;
  }
  EXPECT_LT(chi_square, 5 + 6 * std::sqrt(2 * 5.0));
}

// Squares 16, 9, 25, 4 and 0.26 for the rest: half of the 54 goes, on average.
TEST(RTopK, LosesTheExpectedEnergy) {
  const auto rule = test::sparsifier({{"kind", "r-top-k"}, {"k", 2}});
  const std::vector<double> x{0.5, -4, 3, 0.1, 5, -2};
  double sum = 0;
  double sum_sq = 0;
  for (int t = 0; t < kSelections; ++t) {
    const auto kept = drawn(*rule, x, 0, static_cast<std::uint64_t>(t));
    const double lost = norm_sq<double>(x) - norm_sq<double>(kept.values);
    sum += lost / kSelections;
    sum_sq += lost * lost / kSelections;
  }
  EXPECT_NEAR(sum, 0.26 + 54.0 / 2, 6 * std::sqrt((sum_sq - sum * sum) / kSelections));
  EXPECT_LE(sum, (1 - 2.0 / 6) * norm_sq<double>(x)) << "the law";
}

// Equal magnitudes meet the law with equality, whichever r are taken for the largest.
TEST(RTopK, LosesAllThatItsLawAllowsOfEqualMagnitudes) {
  const auto rule = test::sparsifier({{"kind", "r-top-k"}, {"k", 3}});
  const std::vector<double> x(12, -2);
  const auto law = rule->law(12, 1);
  EXPECT_EQ(norm_sq<double>(x) - norm_sq<double>(drawn(*rule, x, 0, 7).values),
            (1 - *law.contraction) * norm_sq<double>(x));
}

TEST(RTopK, StatesItsContractionAsAnExpectationAndTopKsWhereItDrawsNothing) {
  const auto law = test::sparsifier({{"kind", "r-top-k"}, {"k", 2}})->law(8, 1);
  EXPECT_EQ(law.contraction, 0.25);
  EXPECT_FALSE(law.pathwise || law.deterministic || law.keeps_largest || law.exact);
  EXPECT_TRUE(law.keeps_values);
  const auto plain = test::sparsifier({{"kind", "r-top-k"}, {"k", 2}, {"r_over_k", 1}});
  EXPECT_TRUE(plain->law(8, 1).pathwise && plain->law(8, 1).keeps_largest);
  const auto x = test::normal_vector(50, 3);
  const auto top = test::sparsifier({{"kind", "top-k"}, {"k", 2}});
  EXPECT_EQ(drawn(*plain, x, 0, 4), drawn(*top, x, 0, 4));
}

TEST(RTopK, DrawsAmongTheEntriesThatAreNotZero) {
  const auto rule = test::sparsifier({{"kind", "r-top-k"}, {"k", 2}});
  EXPECT_EQ(counts_of(*rule, {0, 3, 0, 0, -1, 2, 0, 0}).size(), 3U);
  EXPECT_EQ(drawn(*rule, {0, 3, 0, 0, -1, 0}, 0, 0).indices, (Indices{1, 4}));
}

TEST(RTopK, TakesRForAMultipleOfKUpToAll) {
  const std::vector<double> x{6, 5, 4, 3, 2, 1};
  const auto subsets = [&](double ratio) {
    return counts_of(*test::sparsifier({{"kind", "r-top-k"}, {"k", 2}, {"r_over_k", ratio}}), x)
        .size();
  };
  EXPECT_EQ(subsets(1.5), 3U);
  EXPECT_EQ(subsets(2.2), 6U) << "4.4 is 4";
  EXPECT_EQ(subsets(100), 15U) << "Rand-k";
}

TEST(RTopK, DrawsAnewForEveryWorkerAndIteration) {
  const auto rule = test::sparsifier({{"kind", "r-top-k"}, {"k", 10}});
  const auto x = test::normal_vector(1000, 1);
  EXPECT_EQ(drawn(*rule, x, 0, 4), drawn(*rule, x, 0, 4));
  EXPECT_NE(drawn(*rule, x, 0, 4), drawn(*rule, x, 3, 4));
  EXPECT_NE(drawn(*rule, x, 0, 4), drawn(*rule, x, 0, 5));
}

TEST(RTopK, RefusesAnRBelowK) {
  EXPECT_EQ(test::error_of([] {
              test::sparsifier({{"kind", "r-top-k"}, {"k", 10}, {"r_over_k", 0.5}});
            }),
            "'sparsifier.r_over_k' must be at least 1, got 0.5: k entries are drawn among so many "
            "times k");
}

}  // namespace
}  // namespace residuum
