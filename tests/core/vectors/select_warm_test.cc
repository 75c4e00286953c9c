// Selection from what a pass has found: whatever was found, and whatever bound it was found with,
// the result is that of sorting all entries.

#include <gtest/gtest.h>

#include <cmath>
#include <rapidcheck.h>

#include "core/vectors/fused.h"
#include "core/vectors/select.h"
#include "tests/core/for_all.h"
#include "tests/core/support.h"
#include "tests/core/vectors/adversarial.h"
#include "tests/core/vectors/simd_targets.h"

namespace residuum {
namespace {

template <class Real>
class WarmTopK : public testing::Test {};

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(WarmTopK, Reals);

/// x goes over as it is, looked through with the bound that the workspace holds.
template <class Real>
void pass_over(std::vector<Real>& x, SelectWorkspace& workspace) {
  const Segment all{.begin = 0, .size = x.size()};
  accumulate<Real>(
      x, std::vector<Real>(x.size()), 0, {.segments = {&all, 1}, .candidates = workspace.parts});
}

template <class Real>
bool was_enough(SelectWorkspace& workspace, std::size_t k) {
  return workspace.found().complete && workspace.found().indices.size() >= k;
}

TYPED_TEST(WarmTopK, IsThatOfSortingWhateverTheBoundWas) {
  test::for_each_target([] {
    test::for_all([] {
      const auto size = static_cast<std::size_t>(
          *rc::gen::oneOf(rc::gen::inRange(0, 70), rc::gen::inRange(0, 5001)));
      auto x = test::adversarial_vector<TypeParam>(size, *rc::gen::arbitrary<std::uint64_t>());
      const auto non_zeros = static_cast<int>(
          std::count_if(x.begin(), x.end(), [](TypeParam value) { return value != 0; }));
      const auto last = static_cast<int>(size);
      const auto k = static_cast<std::size_t>(*rc::gen::oneOf(
          rc::gen::element(0, 1, 12, non_zeros, last, last + 7), rc::gen::inRange(0, last + 2)));
      const auto expected = test::sorted_top_k(x, k);
      SelectWorkspace workspace;
      // Right, far too low, far too high, between, and none.
      using Limits = std::numeric_limits<TypeParam>;
      const TypeParam cut = expected.empty() ? TypeParam{1} : std::abs(expected.values.front());
      workspace.found().bound = static_cast<double>(*rc::gen::elementOf(
          std::vector<TypeParam>{cut, Limits::denorm_min(), Limits::max(), 1, TypeParam{1.5}, 0}));
      SparseVector<TypeParam> selected;

      pass_over(x, workspace);
      select_top_k<TypeParam>(x, k, workspace, selected);
      RC_ASSERT(selected == expected);
      RC_ASSERT(!workspace.found().complete);

      // And with the bound that it left behind.
      pass_over(x, workspace);
      select_top_k<TypeParam>(x, k, workspace, selected);
      RC_ASSERT(selected == expected);
    });
  });
}

TYPED_TEST(WarmTopK, TakesTheCandidatesOfAPassOnce) {
  std::vector<TypeParam> x{5, 4, 3, 2, 1, 0, 0, 0};
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;
  workspace.found().bound = 3;
  pass_over(x, workspace);

  select_top_k<TypeParam>(x, 2, workspace, selected);
  EXPECT_EQ(selected.indices, (std::vector<std::uint32_t>{0, 1}));

  // Another vector, over which no pass has been.
  x = {0, 0, 0, 0, 0, 0, 6, 7};
  select_top_k<TypeParam>(x, 2, workspace, selected);
  EXPECT_EQ(selected.indices, (std::vector<std::uint32_t>{6, 7}));
}

TYPED_TEST(WarmTopK, IgnoresCandidatesOfABoundThatThePrecisionRoundsToZero) {
  std::vector<TypeParam> x(100);
  x[50] = 1;
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;
  workspace.found().bound = std::numeric_limits<double>::denorm_min();

  pass_over(x, workspace);
  select_top_k<TypeParam>(x, 3, workspace, selected);

  EXPECT_EQ(selected.indices, std::vector<std::uint32_t>{50});
}

/// Slow drift, then a fall by half at every step, then growth tenfold at every step.
double scale_at(int t) {
  if (t < 30) {
    return 1;
  }
  return t < 45 ? std::pow(0.5, t - 30) : std::pow(10, t - 50);
}

/// Error feedback: selected entries leave the vector, gradients of every kind come in. Returns how
/// often the pass had found enough.
template <class Real>
int follow_drift(std::size_t size, std::size_t k) {
  std::vector<Real> x(size);
  SelectWorkspace workspace;
  SparseVector<Real> selected;
  const Segment all{.begin = 0, .size = size};
  int warm = 0;
  for (int t = 0; t < 60; ++t) {
    const auto gradient = test::normal_vector<Real>(size, static_cast<std::uint64_t>(t % 5));
    accumulate<Real>(x,
                     gradient,
                     static_cast<Real>(scale_at(t)),
                     {.segments = {&all, 1}, .candidates = workspace.parts});
    warm += was_enough<Real>(workspace, k) ? 1 : 0;
    select_top_k<Real>(x, k, workspace, selected);
    EXPECT_TRUE(selected == test::sorted_top_k(x, k)) << "t = " << t;
    for (const std::uint32_t i : selected.indices) {
      x[i] = 0;
    }
  }
  return warm;
}

TYPED_TEST(WarmTopK, FollowsAccumulatorsThatDrift) {
  for (const std::size_t size : {std::size_t{123}, std::size_t{6000}}) {
    for (const std::size_t k : {std::size_t{1}, size / 100 + 2, size / 10}) {
      SCOPED_TRACE(testing::Message() << "d = " << size << ", k = " << k);
      EXPECT_GT(follow_drift<TypeParam>(size, k), 20);
    }
  }
}

TYPED_TEST(WarmTopK, LooksForNothingWhereFewEntriesAreNotZeroOrMostAreWanted) {
  std::vector<TypeParam> x(1000);
  x[3] = 1;
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;

  select_top_k<TypeParam>(x, 2, workspace, selected);
  EXPECT_EQ(workspace.found().bound, 0);
  std::fill(x.begin(), x.end(), TypeParam{2});
  select_top_k<TypeParam>(x, 500, workspace, selected);
  EXPECT_EQ(workspace.found().bound, 0);
  select_top_k<TypeParam>(x, 0, workspace, selected);
  EXPECT_EQ(workspace.found().bound, 0);
}

TYPED_TEST(WarmTopK, LeavesABoundThatAFewMoreEntriesReach) {
  auto x = test::normal_vector<TypeParam>(100000, 1);
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;
  for (int t = 0; t < 3; ++t) {
    pass_over(x, workspace);
    select_top_k<TypeParam>(x, 100, workspace, selected);
  }
  pass_over(x, workspace);

  EXPECT_GE(workspace.found().indices.size(), 150U);
  EXPECT_LE(workspace.found().indices.size(), 200U);
}

// A residual grows until it has taken in 1/rho gradients, and far more entries than those between
// the cut and the bound rise above the bound in each step.
TYPED_TEST(WarmTopK, FindsAFewMoreEntriesInAResidualThatGrows) {
  constexpr std::size_t kSize = 100000;
  constexpr std::size_t kWanted = 100;
  std::vector<TypeParam> x(kSize);
  const Segment all{.begin = 0, .size = kSize};
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;
  std::size_t found = 0;
  int misses = 0;
  for (int t = 0; t < 60; ++t) {
    const auto gradient = test::normal_vector<TypeParam>(kSize, static_cast<std::uint64_t>(t));
    accumulate<TypeParam>(x, gradient, 1, {.segments = {&all, 1}, .candidates = workspace.parts});
    if (t >= 20) {
      found += workspace.found().indices.size();
      misses += was_enough<TypeParam>(workspace, kWanted) ? 0 : 1;
    }
    select_top_k<TypeParam>(x, kWanted, workspace, selected);
    for (const std::uint32_t i : selected.indices) {
      x[i] = 0;
    }
  }

  EXPECT_LE(misses, 4);
  EXPECT_LE(found, 40 * 2 * kWanted);
}

// Of many tied entries more reach a bound than were wanted, in every vector: none of them grows.
TYPED_TEST(WarmTopK, FindsTheSameTiesAgainAndAgain) {
  constexpr std::size_t kSize = 50000;
  constexpr std::size_t kWanted = 500;
  std::vector<TypeParam> x(kSize, TypeParam{0.0078125});
  std::fill(x.begin(), x.begin() + 6 * kWanted, TypeParam{1});
  std::fill(x.begin(), x.begin() + kWanted / 2, TypeParam{100});
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;
  int misses = 0;
  for (int t = 0; t < 60; ++t) {
    pass_over(x, workspace);
    misses += was_enough<TypeParam>(workspace, kWanted) ? 0 : 1;
    select_top_k<TypeParam>(x, kWanted, workspace, selected);
  }

  EXPECT_LE(misses, 1);
}

TYPED_TEST(WarmTopK, SelectsAboveAThresholdOnEitherSideOfTheBound) {
  test::for_each_target([] {
    test::for_all([] {
      const auto size = static_cast<std::size_t>(*rc::gen::inRange(0, 600));
      auto x = test::adversarial_vector<TypeParam>(size, *rc::gen::arbitrary<std::uint64_t>());
      const auto threshold = *rc::gen::elementOf(std::vector<TypeParam>{
          0, std::numeric_limits<TypeParam>::denorm_min(), TypeParam{0.5}, 1, 2});
      SparseVector<TypeParam> expected;
      for (std::size_t i = 0; i < size; ++i) {
        if (std::abs(x[i]) >= threshold && x[i] != 0) {
          expected.push_back(static_cast<std::uint32_t>(i), x[i]);
        }
      }
      SelectWorkspace workspace;
      workspace.found().bound = *rc::gen::element(0.0, 0.5, 1.0, 3.0);
      SparseVector<TypeParam> selected;
      for (int t = 0; t < 2; ++t) {
        pass_over(x, workspace);
        RC_ASSERT(count_above<TypeParam>(x, threshold, workspace) == expected.size());
        select_above<TypeParam>(x, threshold, workspace, selected);
        RC_ASSERT(selected == expected);
        RC_ASSERT(!workspace.found().complete);
      }
      RC_ASSERT(count_above<TypeParam>(x, threshold, workspace) == expected.size());
    });
  });
}

TYPED_TEST(WarmTopK, LeavesABoundBelowAThresholdThatFewEntriesReach) {
  auto x = test::normal_vector<TypeParam>(10000, 1);
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;

  select_above<TypeParam>(x, TypeParam{3}, workspace, selected);
  EXPECT_LT(workspace.found().bound, 3);
  EXPECT_GT(workspace.found().bound, 2.5);
  select_above<TypeParam>(x, TypeParam{0.1F}, workspace, selected);
  EXPECT_EQ(workspace.found().bound, 0);
}

}  // namespace
}  // namespace residuum
