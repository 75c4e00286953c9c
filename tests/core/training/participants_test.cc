// The draw of the workers that take part in a version: uniform over the subsets, and a pure
// function of (seed, version).

#include <boost/math/distributions/chi_squared.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/training/worker.h"

namespace residuum {
namespace {

std::vector<int> drawn_at(std::uint64_t seed, std::uint64_t version, int workers, int count) {
  Participants participants(seed, workers, count);
  participants.draw(version);
  const auto numbers = participants.numbers();
  return {numbers.begin(), numbers.end()};
}

/// Pearson's statistic of equally likely subsets passes this bound once in a million tests.
double largest_of_a_million(double subsets) {
  const boost::math::chi_squared law(subsets - 1);
  return boost::math::quantile(boost::math::complement(law, 1e-6));
}

void expect_uniform(int workers, int count, double subsets) {
  constexpr int kDraws = 40000;
  std::map<std::vector<int>, double> seen;
  for (int version = 0; version < kDraws; ++version) {
    ++seen[drawn_at(7, static_cast<std::uint64_t>(version), workers, count)];
  }
  ASSERT_EQ(static_cast<double>(seen.size()), subsets);
  const double expected = kDraws / subsets;
  double statistic = 0;
  for (const auto& [subset, times] : seen) {
    statistic += (times - expected) * (times - expected) / expected;
  }
  EXPECT_LT(statistic, largest_of_a_million(subsets));
}

TEST(Participants, AreEachSubsetWithTheSameProbability) {
  expect_uniform(6, 2, 15);
  expect_uniform(7, 4, 35);
  expect_uniform(5, 1, 5);
}

TEST(Participants, AreAsManyDifferentWorkersAsWantedInTheirOrder) {
  for (std::uint64_t version = 0; version < 200; ++version) {
    const auto numbers = drawn_at(1, version, 9, 4);
    ASSERT_EQ(numbers.size(), 4U);
    EXPECT_GE(numbers.front(), 0);
    EXPECT_LT(numbers.back(), 9);
    EXPECT_TRUE(std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
                numbers.end());
  }
}

TEST(Participants, DependOnSeedAndVersionAndNotOnTheDrawsBefore) {
  Participants in_order(3, 12, 5);
  for (std::uint64_t version = 0; version < 20; ++version) {
    in_order.draw(version);
    const auto numbers = in_order.numbers();
    EXPECT_EQ(std::vector<int>(numbers.begin(), numbers.end()), drawn_at(3, version, 12, 5));
  }
  EXPECT_NE(drawn_at(3, 0, 1000, 500), drawn_at(4, 0, 1000, 500));
  EXPECT_NE(drawn_at(3, 0, 1000, 500), drawn_at(3, 1, 1000, 500));
}

TEST(Participants, AreKnownByTheirNumber) {
  Participants participants(2, 8, 3);
  participants.draw(5);
  int known = 0;
  for (int worker = 0; worker < 8; ++worker) {
    known += participants.has(worker) ? 1 : 0;
  }
  EXPECT_EQ(known, 3);
  for (const int worker : participants.numbers()) {
    EXPECT_TRUE(participants.has(worker));
  }
  EXPECT_FALSE(participants.are_all());
  EXPECT_TRUE(Participants(2, 8, 8).are_all());
}

}  // namespace
}  // namespace residuum
