// Selection against an oracle that sorts by (|x| descending, index ascending) and takes the first k
// that are not zero.

#include "core/vectors/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <rapidcheck.h>
#include <vector>

#include "core/random/random.h"
#include "tests/core/for_all.h"
#include "tests/core/support.h"
#include "tests/core/vectors/adversarial.h"

namespace residuum {
namespace {

template <class Real>
SparseVector<Real> top_k(const std::vector<Real>& x, std::size_t k) {
  SelectWorkspace workspace;
  SparseVector<Real> selected;
  select_top_k<Real>(x, k, workspace, selected);
  return selected;
}

template <class Real>
class TopK : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(TopK, Reals);

TYPED_TEST(TopK, IsTheOraclesForEveryShortVectorOfThreeValuesAndEveryK) {
  constexpr std::array<TypeParam, 3> kAlphabet{-1, 0, 2};
  for (std::size_t d = 0; d <= 6; ++d) {
    const auto words = static_cast<std::size_t>(std::pow(3, d));
    for (std::size_t word = 0; word < words; ++word) {
      std::vector<TypeParam> x(d);
      std::size_t rest = word;
      for (auto& value : x) {
        value = kAlphabet[rest % 3];
        rest /= 3;
      }
      for (std::size_t k = 0; k <= d + 1; ++k) {
        ASSERT_EQ(top_k(x, k), test::sorted_top_k(x, k))
            << testing::PrintToString(x) << ", k = " << k;
      }
    }
  }
}

TYPED_TEST(TopK, IsTheOraclesForAdversarialVectorsOnBothSidesOfTheSmallSize) {
  test::for_all([] {
    const auto size =
        static_cast<std::size_t>(*rc::gen::weightedOneOf<int>({{1, rc::gen::inRange(0, 64)},
                                                               {1, rc::gen::inRange(4090, 4103)},
                                                               {1, rc::gen::inRange(0, 5001)}}));
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto x = test::adversarial_vector<TypeParam>(size, seed);
    const auto non_zeros = static_cast<int>(
        std::count_if(x.begin(), x.end(), [](TypeParam value) { return value != 0; }));
    const auto last = static_cast<int>(size);
    const int k = *rc::gen::oneOf(rc::gen::element(0, 1, non_zeros, last, last + 7),
                                  rc::gen::inRange(0, last + 2));
    RC_ASSERT(top_k(x, static_cast<std::size_t>(k)) ==
              test::sorted_top_k(x, static_cast<std::size_t>(k)));
  });
}

TYPED_TEST(TopK, IsTheOraclesForALargeVectorOfFewMagnitudes) {
  RandomStream random(1, Purpose::test, 0, 0);
  std::vector<TypeParam> x(300000);
  for (auto& value : x) {
    value = static_cast<TypeParam>(static_cast<int>(random.below(7)) - 3);
  }
  for (const std::size_t k : {std::size_t{1}, std::size_t{3000}, std::size_t{150000}, x.size()}) {
    EXPECT_TRUE(top_k(x, k) == test::sorted_top_k(x, k)) << "k = " << k;
  }
}

TYPED_TEST(TopK, KeepsTheLowerIndexOnTies) {
  const std::vector<TypeParam> x{1, -2, 2, -2};

  EXPECT_EQ(top_k(x, 2).indices, (std::vector<std::uint32_t>{1, 2}));
}

TYPED_TEST(TopK, KeepsTheLowerIndicesWhereManyThousandsTie) {
  const std::vector<TypeParam> x(10000, TypeParam{-3});
  const auto selected = top_k(x, 4321);

  ASSERT_EQ(selected.size(), 4321U);
  EXPECT_EQ(selected.indices.front(), 0U);
  EXPECT_EQ(selected.indices.back(), 4320U);
}

TYPED_TEST(TopK, NeverSelectsZerosOfEitherSign) {
  for (const std::size_t size : {std::size_t{5}, std::size_t{5000}}) {
    std::vector<TypeParam> x(size, TypeParam{-0.0});
    x[3] = std::numeric_limits<TypeParam>::denorm_min();
    const auto selected = top_k(x, size);

    EXPECT_EQ(selected.indices, std::vector<std::uint32_t>{3});
  }
}

TYPED_TEST(TopK, SelectsInfinitiesFirst) {
  std::vector<TypeParam> x(5000, std::numeric_limits<TypeParam>::max());
  x[4999] = -std::numeric_limits<TypeParam>::infinity();

  EXPECT_EQ(top_k(x, 1).indices, std::vector<std::uint32_t>{4999});
}

TYPED_TEST(TopK, ForgetsWhatItsBuffersHeldBefore) {
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;
  for (const std::size_t size : {std::size_t{6000}, std::size_t{10}, std::size_t{4097}}) {
    const auto x = test::adversarial_vector<TypeParam>(size, size);
    select_top_k<TypeParam>(x, size / 3, workspace, selected);
    ASSERT_TRUE(selected == test::sorted_top_k(x, size / 3)) << "size " << size;
  }
}

TYPED_TEST(TopK, SelectsAboveAThresholdWhatReachesItAndIsNotZero) {
  const std::vector<TypeParam> x{
      0.5, -0.5, 0.25, 0, 1, std::nextafter(TypeParam{0.5}, TypeParam{0})};
  SelectWorkspace workspace;
  SparseVector<TypeParam> selected;

  select_above<TypeParam>(x, TypeParam{0.5}, workspace, selected);
  EXPECT_EQ(selected.indices, (std::vector<std::uint32_t>{0, 1, 4}));
  EXPECT_EQ(selected.values, (std::vector<TypeParam>{0.5, -0.5, 1}));

  select_above<TypeParam>(x, TypeParam{0}, workspace, selected);
  EXPECT_EQ(selected.indices, (std::vector<std::uint32_t>{0, 1, 2, 4, 5}));

  select_above<TypeParam>(x, std::numeric_limits<TypeParam>::infinity(), workspace, selected);
  EXPECT_TRUE(selected.empty());
}

}  // namespace
}  // namespace residuum
