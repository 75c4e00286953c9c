// Sparse vectors against the same sums on dense ones.

#include "core/vectors/sparse_vector.h"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <vector>

#include "core/messages/wire.h"
#include "tests/core/for_all.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

constexpr std::size_t kVectorSize = 40;

/// Small whole numbers, most of them zero: sums are exact and often cancel.
std::vector<double> small_numbers() {
  return *rc::gen::container<std::vector<double>>(
      kVectorSize,
      rc::gen::map(rc::gen::inRange(-6, 7), [](int v) { return std::abs(v) > 2 ? 0.0 : v; }));
}

TEST(SparseVector, AddsAsDenseVectorsDoAndDropsWhatCancels) {
  test::for_all([] {
    const auto a = small_numbers();
    const auto b = small_numbers();
    SparseVector<double> sum;
    add(test::sparse(a), test::sparse(b), sum);

    std::vector<double> expected(kVectorSize);
    for (std::size_t i = 0; i < kVectorSize; ++i) {
      expected[i] = a[i] + b[i];
    }
    RC_ASSERT(sum == test::sparse(expected));
    RC_ASSERT(is_well_formed(sum, kVectorSize));
  });
}

TEST(SparseVector, AddsAnEmptyVectorOnEitherSide) {
  const SparseVector<float> x{.indices = {2, 5}, .values = {1, -1}};
  SparseVector<float> sum;

  add({}, x, sum);
  EXPECT_EQ(sum, x);
  add(x, {}, sum);
  EXPECT_EQ(sum, x);
}

TEST(SparseVector, UnitesTwoOfWhichTheFirstPrevails) {
  test::for_all([] {
    const auto a = small_numbers();
    const auto b = small_numbers();
    SparseVector<double> united;
    unite(test::sparse(a), test::sparse(b), united);

    std::vector<double> expected = b;
    for (std::size_t i = 0; i < kVectorSize; ++i) {
      expected[i] = a[i] != 0 ? a[i] : b[i];
    }
    RC_ASSERT(united == test::sparse(expected));
  });
}

TEST(SparseVector, IsMadeOfTheNonZeroEntriesOfADenseOne) {
  const std::vector<float> x{0, -1, 0, -0.0F, 2};
  SparseVector<float> result;
  to_sparse<float>(x, result);

  EXPECT_EQ(result, (SparseVector<float>{.indices = {1, 4}, .values = {-1, 2}}));
}

TEST(SparseVector, IsMalformedWithADescentARepeatAZeroOrAnIndexBeyondTheEnd) {
  using Vector = SparseVector<double>;
  EXPECT_TRUE(is_well_formed(Vector{}, 0));
  EXPECT_TRUE(is_well_formed(Vector{.indices = {0, 2}, .values = {1, 1}}, 3));
  EXPECT_FALSE(is_well_formed(Vector{.indices = {0, 3}, .values = {1, 1}}, 3));
  EXPECT_FALSE(is_well_formed(Vector{.indices = {2, 1}, .values = {1, 1}}, 3));
  EXPECT_FALSE(is_well_formed(Vector{.indices = {1, 1}, .values = {1, 1}}, 3));
  EXPECT_FALSE(is_well_formed(Vector{.indices = {1}, .values = {0}}, 3));
  EXPECT_FALSE(is_well_formed(Vector{.indices = {1, 2}, .values = {1}}, 3));
}

TEST(SparseVector, TakesEightBytesAnEntryInFloatAndTwelveInDouble) {
  const std::size_t last = (std::size_t{1} << 32) - 1;
  EXPECT_EQ(entry_bytes<float>(last), 8U);
  EXPECT_EQ(entry_bytes<double>(last), 12U);
}

TEST(SparseVector, TakesSixteenBytesAnEntryWhereIndicesAreWide) {
  const std::size_t first = std::size_t{1} << 32;
  EXPECT_EQ(entry_bytes<float>(first), 16U);
  EXPECT_EQ(entry_bytes<double>(first), 16U);
}

}  // namespace
}  // namespace residuum
