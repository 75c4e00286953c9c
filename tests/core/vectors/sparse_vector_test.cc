// Sparse vectors against the same sums on dense ones.

#include "core/vectors/sparse_vector.h"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <vector>

#include "tests/core/for_all.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

constexpr std::size_t kDimension = 40;

/// Small whole numbers, most of them zero: sums are exact and often cancel.
std::vector<double> small_numbers() {
  return *rc::gen::container<std::vector<double>>(
      kDimension,
      rc::gen::map(rc::gen::inRange(-6, 7), [](int v) { return std::abs(v) > 2 ? 0.0 : v; }));
}

TEST(SparseVector, AddsAsDenseVectorsDoAndDropsWhatCancels) {
  test::for_all([] {
    const auto a = small_numbers();
    const auto b = small_numbers();
    SparseVector<double> sum;
    add(test::sparse(a), test::sparse(b), sum);

    std::vector<double> expected(kDimension);
    for (std::size_t i = 0; i < kDimension; ++i) {
      expected[i] = a[i] + b[i];
    }
    RC_ASSERT(sum == test::sparse(expected));
    RC_ASSERT(is_well_formed(sum, kDimension));
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

TEST(SparseVector, SplitsBySupport) {
  test::for_all([] {
    const auto x = small_numbers();
    const auto support = test::sparse(small_numbers()).indices;
    SparseVector<double> inside;
    SparseVector<double> outside;
    split<double>(test::sparse(x), support, &inside, &outside);

    std::vector<double> in(kDimension);
    auto out = x;
    for (const std::uint32_t i : support) {
      in[i] = x[i];
      out[i] = 0;
    }
    RC_ASSERT(inside == test::sparse(in));
    RC_ASSERT(outside == test::sparse(out));
  });
}

TEST(SparseVector, SplitsOffOnlyThePartThatIsWanted) {
  const SparseVector<double> x{.indices = {0, 3, 4}, .values = {1, 2, 3}};
  const std::vector<std::uint32_t> support{3, 9};
  SparseVector<double> part{.indices = {7}, .values = {7}};

  split<double>(x, support, &part, nullptr);
  EXPECT_EQ(part, (SparseVector<double>{.indices = {3}, .values = {2}}));
  split<double>(x, support, nullptr, &part);
  EXPECT_EQ(part, (SparseVector<double>{.indices = {0, 4}, .values = {1, 3}}));
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
  EXPECT_EQ(entry_bytes<float>(), 8U);
  EXPECT_EQ(entry_bytes<double>(), 12U);
}

}  // namespace
}  // namespace residuum
