// Layers of an exchange and the groups of MG-WFBP, against schedules that are solved by hand and
// against all ways to group.

#include "core/protocols/layer_exchanges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random/random.h"

namespace residuum {
namespace {

ExpectedTimes expected_times(double compute_s, double select_s = 0) {
  ExpectedTimes expected;
  expected.take(
      {.began = {1}, .computed = {1 + compute_s}, .selected = {1 + compute_s + select_s}});
  return expected;
}

TEST(ExpectedTimes, AreMeansOverAllWorkersAndVersions) {
  ExpectedTimes expected;
  expected.take({.began = {0, 0}, .computed = {1, 3}, .selected = {2, 3}});
  expected.take({.began = {4, 4}, .computed = {8, 12}, .selected = {8, 15}});
  EXPECT_EQ(expected.compute_s(), 4);
  EXPECT_EQ(expected.select_s(), 1);
}

TEST(ExchangeParts, HaveTheSharesOfTheirNumbersAndWaitForTheLastOfTheirLayers) {
  const std::vector<ExchangedLayer> layers{{0.25, 2}, {0.5, 2}, {0.75, 4}, {1, 8}};
  const auto parts = parts_of(layers, {1, 3, 4});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].ready, 0.25);
  EXPECT_EQ(parts[0].selected, 0.125);
  EXPECT_EQ(parts[0].share, 0.125);
  EXPECT_EQ(parts[1].ready, 0.75);
  EXPECT_EQ(parts[1].selected, 0.5);
  EXPECT_EQ(parts[1].share, 0.375);
  EXPECT_EQ(parts[2].ready, 1);
  EXPECT_EQ(parts[2].selected, 1);
  EXPECT_EQ(parts[2].share, 0.5);
}

/// Exchanges of a share take start_up + whole * share.
struct AffineCost {
  double start_up = 0;
  double whole = 0;
  double operator()(double share) const { return start_up + whole * share; }
};

// Gradients are ready at 2, 3 and 4 s and have shares 1/4, 1/4, 1/2; an exchange takes 1 + 16 s.
// Layer 1 could begin at 2, and waiting until 3 does not cost less than the start-up: it is alone
// and ends at 7. Layer 2 would begin at 7, when the third is there: they go together.
TEST(MergedGroups, WaitWhereTheNextLayerIsReadyBeforeTheStartUpWouldBeOver) {
  const std::vector<ExchangedLayer> layers{{0.5, 1}, {0.75, 1}, {1, 2}};
  EXPECT_EQ(merged_groups(layers, expected_times(4), AffineCost{1, 16}), (GroupEnds{1, 3}));
  EXPECT_EQ(merged_groups(layers, expected_times(3.9375), AffineCost{1, 16}), (GroupEnds{3}))
      << "ready at 1.97 and 2.95: the second is worth the wait, and so is the third";
  EXPECT_EQ(merged_groups(layers, expected_times(40), AffineCost{1, 16}), (GroupEnds{1, 2, 3}));
  EXPECT_EQ(merged_groups(layers, expected_times(4), AffineCost{0, 0}), (GroupEnds{1, 2, 3}));
}

// Without gradients, selection alone makes layers ready: at 1, 2 and 4 s.
TEST(MergedGroups, CountTheSelectionThatGoesBefore) {
  const std::vector<ExchangedLayer> layers{{0.5, 1}, {0.75, 1}, {1, 2}};
  EXPECT_EQ(merged_groups(layers, expected_times(0, 4), AffineCost{1, 0}), (GroupEnds{1, 2, 3}));
  EXPECT_EQ(merged_groups(layers, expected_times(0, 4), AffineCost{1.5, 0}), (GroupEnds{2, 3}));
  EXPECT_EQ(merged_groups(layers, expected_times(0, 4), AffineCost{3, 0}), (GroupEnds{3}));
}

/// Returns when the last of these groups has been exchanged.
double end_of_groups(std::span<const ExchangedLayer> layers,
                     const GroupEnds& groups,
                     double compute_s,
                     const AffineCost& cost) {
  double end = 0;
  for (const ExchangePart& part : parts_of(layers, groups)) {
    end = std::max(end, part.ready * compute_s) + cost(part.share);
  }
  return end;
}

/// Bit l of `choice` says that a group ends after layer l; the last one always does.
GroupEnds groups_by_bits(std::uint32_t choice, std::size_t layers) {
  GroupEnds groups;
  for (std::size_t l = 0; l < layers; ++l) {
    if (l + 1 == layers || (choice >> l & 1U) != 0) {
      groups.push_back(l + 1);
    }
  }
  return groups;
}

std::vector<ExchangedLayer> random_exchange(RandomStream& random) {
  std::vector<ExchangedLayer> layers(2 + random.below(6));
  for (auto& layer : layers) {
    layer = {.ready = 0.2 + 0.8 * random.uniform(), .numbers = 1 + random.below(1000)};
  }
  layers.back().ready = 1;
  std::sort(
      layers.begin(), layers.end(), [](const auto& a, const auto& b) { return a.ready < b.ready; });
  return layers;
}

// The proof is by induction over the layers: a group that waits for r < s + a ends at most at
// s + a + b n + a + b m, where the layer alone would end. For one exchange of all, follow the last
// group back to the one that did not wait for an exchange; each between has left a start-up time
// before the next gradient.
TEST(MergedGroups, AreNeverSlowerThanNoneOrAllMergedAndNeverFasterThanTheBest) {
  constexpr int kCases = 3000;
  RandomStream random(5, Purpose::test, 0, 0);
  int best_found = 0;
  double worst_ratio = 1;
  for (int i = 0; i < kCases; ++i) {
    const auto layers = random_exchange(random);
    const AffineCost cost{random.uniform() * random.uniform(), 3 * random.uniform()};
    double best = HUGE_VAL;
    for (std::uint32_t choice = 0; choice < 1U << (layers.size() - 1); ++choice) {
      best = std::min(best, end_of_groups(layers, groups_by_bits(choice, layers.size()), 1, cost));
    }
    const double merged =
        end_of_groups(layers, merged_groups(layers, expected_times(1), cost), 1, cost);
    const double each = end_of_groups(layers, groups_by_bits(~0U, layers.size()), 1, cost);
    const double all = end_of_groups(layers, groups_by_bits(0, layers.size()), 1, cost);
    constexpr double kRounding = 1 + 1e-12;
    ASSERT_LE(merged, std::min(each, all) * kRounding);
    ASSERT_GE(merged * kRounding, best);
    best_found += merged <= best * kRounding ? 1 : 0;
    worst_ratio = std::max(worst_ratio, merged / best);
  }
  RecordProperty("best_found", best_found);
  RecordProperty("worst_ratio", std::to_string(worst_ratio));
}

// The rule looks one layer ahead. Gradients are ready at 0, 15 and 32 s, shares are 10, 1 and 1 of
// 12, and an exchange takes 16 + 24 share. Layer 1 waits for the second, which is ready at 15 < 16.
// The third is not ready at 15 + 16, so that the two go: to 15 + 16 + 22 = 53, and the last to
// 53 + 18 = 71. Had the first gone at 0, to 36, the others could have gone together: to 36 + 20.
TEST(MergedGroups, NeedNotBeTheBest) {
  const std::vector<ExchangedLayer> layers{{0, 10}, {0.46875, 1}, {1, 1}};
  const AffineCost cost{16, 24};
  const auto groups = merged_groups(layers, expected_times(32), cost);
  EXPECT_EQ(groups, (GroupEnds{2, 3}));
  EXPECT_NEAR(end_of_groups(layers, groups, 32, cost), 71, 1e-12);
  EXPECT_NEAR(end_of_groups(layers, {1, 3}, 32, cost), 56, 1e-12);
}

}  // namespace
}  // namespace residuum
