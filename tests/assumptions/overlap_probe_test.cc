// The overlap of the workers' supports, by hand, by all pairs, and against its expectation.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/random/random.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using Lists = std::vector<SparseVector<double>>;

test::Seen overlap_of(const Lists& sent) {
  StepView view;
  view.exchange.sent = sent;
  return test::seen_by({"overlap"}, view);
}

SparseVector<double> list_of(std::vector<std::uint32_t> indices) {
  SparseVector<double> list;
  list.values.assign(indices.size(), 1.0);
  list.indices = std::move(indices);
  return list;
}

/// Returns what the probe promises, pair by pair.
double pooled_overlap(const Lists& sent) {
  double common = 0;
  double sizes = 0;
  for (std::size_t p = 0; p < sent.size(); ++p) {
    for (std::size_t q = p + 1; q < sent.size(); ++q) {
      for (const auto index : sent[p].indices) {
        common += std::count(sent[q].indices.begin(), sent[q].indices.end(), index) > 0 ? 1 : 0;
      }
      sizes += static_cast<double>(sent[p].size() + sent[q].size()) / 2;
    }
  }
  return common / sizes;
}

SparseVector<double> random_support(RandomStream& random, std::uint32_t dimension, std::size_t k) {
  std::set<std::uint32_t> chosen;
  while (chosen.size() < k) {
    chosen.insert(random.below(dimension));
  }
  return list_of({chosen.begin(), chosen.end()});
}

TEST(SupportOverlap, IsZeroForDisjointSupportsAndOneForEqualOnes) {
  const test::Seen disjoint = overlap_of({list_of({0, 1}), list_of({2, 3}), list_of({4, 5})});
  EXPECT_EQ(disjoint[Column::support_overlap], 0);
  EXPECT_EQ(disjoint[Column::support_union], 1);

  const test::Seen equal = overlap_of({list_of({0, 7}), list_of({0, 7}), list_of({0, 7})});
  EXPECT_EQ(equal[Column::support_overlap], 1);
  EXPECT_DOUBLE_EQ(equal[Column::support_union], 1.0 / 3);
}

TEST(SupportOverlap, IsWhatThreeListsGiveByHand) {
  // The pairs share {1}, {} and {4}, 2 indices; half their lengths are 2.5, 2 and 1.5, 6 in all.
  const test::Seen seen = overlap_of({list_of({0, 1, 2}), list_of({1, 4}), list_of({4})});

  EXPECT_DOUBLE_EQ(seen[Column::support_overlap], 2.0 / 6);
  EXPECT_DOUBLE_EQ(seen[Column::support_union], 4.0 / 6);
}

TEST(SupportOverlap, IsThatOfAllPairs) {
  RandomStream random(11, Purpose::bootstrap, 0, 0);
  for (const std::size_t workers : {2U, 3U, 7U, 16U}) {
    Lists sent;
    for (std::size_t p = 0; p < workers; ++p) {
      sent.push_back(random_support(random, 30, random.below(9)));
    }
    if (std::any_of(sent.begin(), sent.end(), [](const auto& one) { return one.size() > 0; })) {
      EXPECT_NEAR(overlap_of(sent)[Column::support_overlap], pooled_overlap(sent), 1e-15);
    }
  }
}

TEST(SupportOverlap, OfRandomSelectionsIsKOverDInTheMean) {
  RandomStream random(5, Purpose::bootstrap, 0, 0);
  constexpr int kTimes = 2000;
  double mean = 0;
  for (int time = 0; time < kTimes; ++time) {
    Lists sent;
    for (int p = 0; p < 4; ++p) {
      sent.push_back(random_support(random, 50, 10));
    }
    mean += overlap_of(sent)[Column::support_overlap] / kTimes;
  }
  // Each of the 6 pairs shares a hypergeometric number of indices, of mean 2 and variance
  // 10 (1/5)(4/5)(40/49) = 1.306, and pairs are uncorrelated: the mean of 2000 has the standard
  // deviation sqrt(1.306/12000)/10 = 0.00104.
  EXPECT_NEAR(mean, 0.2, 4 * 0.00104);
}

TEST(SupportOverlap, IsNotMeasuredWhereThereIsNothingToCompare) {
  EXPECT_FALSE(overlap_of({list_of({1, 2})}).has(Column::support_overlap)) << "one worker";
  EXPECT_FALSE(overlap_of({list_of({}), list_of({})}).has(Column::support_overlap));

  const Lists sent{list_of({0}), list_of({0})};
  RunFacts facts;
  StepView view{.facts = facts};
  view.exchange.sent = sent;
  view.exchange.sent_everything = true;
  EXPECT_FALSE(test::seen_by({"overlap"}, view).has(Column::support_union)) << "whole messages";
  view.exchange.sent_everything = false;
  facts.protocol.synchrony = Synchrony::neighbours;
  EXPECT_FALSE(test::seen_by({"overlap"}, view).has(Column::support_union)) << "mixed models";
}

}  // namespace
}  // namespace residuum
