// Sums, cuts and intersections of sparse vectors, bit for bit against the plain loops that their
// definitions are, on every SIMD target of the machine.

#include "core/vectors/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <rapidcheck.h>
#include <span>
#include <vector>

#include "core/random/random.h"
#include "tests/core/for_all.h"
#include "tests/core/vectors/simd_targets.h"

namespace residuum {
namespace {

/// a + b entry by entry.
template <class Real>
SparseVector<Real> sum_oracle(const SparseVector<Real>& a, const SparseVector<Real>& b) {
  SparseVector<Real> sum;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a.indices[i] < b.indices[j])) {
      sum.push_back(a.indices[i], a.values[i]);
      ++i;
    } else if (i == a.size() || b.indices[j] < a.indices[i]) {
      sum.push_back(b.indices[j], b.values[j]);
      ++j;
    } else {
      if (a.values[i] + b.values[j] != 0) {
        sum.push_back(a.indices[i], a.values[i] + b.values[j]);
      }
      ++i;
      ++j;
    }
  }
  return sum;
}

template <class Real>
struct Halves {
  SparseVector<Real> first, second;
};

/// By sorting: (|x| descending, index ascending).
template <class Real>
Halves<Real> split_oracle(const SparseVector<Real>& vector, std::size_t k) {
  std::vector<std::size_t> order(vector.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(vector.values[a]) > std::abs(vector.values[b]);
  });
  std::vector<bool> is_kept(vector.size());
  for (std::size_t rank = 0; rank < std::min(k, order.size()); ++rank) {
    is_kept[order[rank]] = true;
  }
  Halves<Real> halves;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    auto& half = is_kept[i] ? halves.first : halves.second;
    half.push_back(vector.indices[i], vector.values[i]);
  }
  return halves;
}

template <class Real>
SparseVector<Real> intersection_oracle(const SparseVector<Real>& vector,
                                       const std::vector<std::uint32_t>& support) {
  SparseVector<Real> inside;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (std::binary_search(support.begin(), support.end(), vector.indices[i])) {
      inside.push_back(vector.indices[i], vector.values[i]);
    }
  }
  return inside;
}

/// Not zero; equal magnitudes, opposite signs, denormals and the ends of the range are common.
template <class Real>
Real awkward(RandomStream& random) {
  using Limits = std::numeric_limits<Real>;
  const Real sign = random.below(2) == 0 ? Real{1} : Real{-1};
  switch (random.below(6)) {
    case 0:
      return sign * Limits::denorm_min() * static_cast<Real>(1 + random.below(3));
    case 1:
      return sign * Limits::max();
    case 2:
      return sign * std::nextafter(Real{1}, static_cast<Real>(random.below(3)));
    case 3:
      return sign * static_cast<Real>(1 + random.below(3));
    case 4:
      return sign * Limits::min();
    default:
      return sign * static_cast<Real>(0.5 + std::abs(random.normal()));
  }
}

/// About `size` entries; gaps between indices are from 1 to `gap`.
template <class Real>
SparseVector<Real> awkward_list(std::size_t size, std::uint32_t gap, RandomStream& random) {
  SparseVector<Real> list;
  std::uint32_t index = random.below(gap);
  for (std::size_t i = 0; i < size; ++i) {
    list.push_back(index, awkward<Real>(random));
    index += 1 + random.below(gap);
  }
  return list;
}

template <class Real>
bool same_bits(const SparseVector<Real>& a, const SparseVector<Real>& b) {
  return a.indices == b.indices &&
         std::equal(a.values.begin(),
                    a.values.end(),
                    b.values.begin(),
                    b.values.end(),
                    [](Real x, Real y) {
                      using list_kernels::Bits;
                      return std::bit_cast<Bits<Real>>(x) == std::bit_cast<Bits<Real>>(y);
                    });
}

/// Lists of very different lengths, around the sizes at which the algorithms change.
struct MergeCase {
  MergeCase()
      : a(size()),
        b(size()),
        gap(*rc::gen::element(1U, 2U, 7U, 1000U, 100'000U)),
        random(*rc::gen::arbitrary<std::uint64_t>(), Purpose::test, 0, 0) {}

  static std::size_t size() {
    return *rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 40),
                           rc::gen::inRange<std::size_t>(250, 270),
                           rc::gen::inRange<std::size_t>(0, 3000));
  }

  std::size_t a, b;
  std::uint32_t gap;
  RandomStream random;
};

/// Checks the property on one SIMD target after the other.
template <class Property>
void on_every_target(Property property) {
  test::for_each_target([&] { test::for_all(property); });
}

template <class Real>
class MergedLists : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(MergedLists, Reals);

TYPED_TEST(MergedLists, AddUpAsThePlainLoopDoes) {
  test::for_all([] {
    MergeCase draw;
    const auto a = awkward_list<TypeParam>(draw.a, draw.gap, draw.random);
    const auto b = awkward_list<TypeParam>(draw.b, draw.gap, draw.random);
    SparseVector<TypeParam> sum;
    add(a, b, sum);
    RC_ASSERT(same_bits(sum, sum_oracle(a, b)));
    RC_ASSERT(std::find(sum.values.begin(), sum.values.end(), TypeParam{0}) == sum.values.end());
  });
}

TYPED_TEST(MergedLists, CancelToNothingWithTheirOpposites) {
  RandomStream random(3, Purpose::test, 0, 0);
  const auto a = awkward_list<TypeParam>(1001, 5, random);
  auto opposite = a;
  for (auto& value : opposite.values) {
    value = -value;
  }
  SparseVector<TypeParam> sum;
  add(a, opposite, sum);
  EXPECT_TRUE(sum.empty());
}

TYPED_TEST(MergedLists, AreCutToTheFirstKInTheTotalOrder) {
  on_every_target([] {
    MergeCase draw;
    const auto list = awkward_list<TypeParam>(draw.a, draw.gap, draw.random);
    const auto last = static_cast<int>(list.size());
    const auto k = static_cast<std::size_t>(
        *rc::gen::oneOf(rc::gen::element(0, 1, last, last + 1), rc::gen::inRange(0, last + 1)));
    SplitWorkspace<TypeParam> workspace;
    SparseVector<TypeParam> kept;
    SparseVector<TypeParam> cut;
    split_top_k(list, k, workspace, kept, cut);
    const auto expected = split_oracle(list, k);
    RC_ASSERT(same_bits(kept, expected.first));
    RC_ASSERT(same_bits(cut, expected.second));
  });
}

TYPED_TEST(MergedLists, AreSplitAtAThresholdAsThePlainLoopDoes) {
  on_every_target([] {
    MergeCase draw;
    const auto list = awkward_list<TypeParam>(draw.a, draw.gap, draw.random);
    // A threshold that an entry has, or one that none may have.
    const auto at = *rc::gen::inRange<std::size_t>(0, list.size() + 1);
    const TypeParam threshold = at < list.size() ? std::abs(list.values[at]) : TypeParam{0.5};
    SparseVector<TypeParam> kept;
    SparseVector<TypeParam> cut;
    split_above(list, threshold, kept, cut);
    Halves<TypeParam> expected;
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto& half = std::abs(list.values[i]) >= threshold ? expected.first : expected.second;
      half.push_back(list.indices[i], list.values[i]);
    }
    RC_ASSERT(same_bits(kept, expected.first));
    RC_ASSERT(same_bits(cut, expected.second));
  });
}

TYPED_TEST(MergedLists, AreCutAtTheLowerIndicesWhereManyThousandsTie) {
  SparseVector<TypeParam> list;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    list.push_back(3 * i, i % 5 == 0 ? TypeParam{2} : TypeParam{-1});
  }
  SplitWorkspace<TypeParam> workspace;
  SparseVector<TypeParam> kept;
  SparseVector<TypeParam> cut;
  split_top_k(list, 2500, workspace, kept, cut);  // 2000 of magnitude 2, and 500 of 8000 ties

  const auto expected = split_oracle(list, 2500);
  EXPECT_TRUE(same_bits(kept, expected.first));
  EXPECT_TRUE(same_bits(cut, expected.second));
}

TYPED_TEST(MergedLists, MergeToTheFirstKOfTheirSumInThePlaceOfOneOfThem) {
  test::for_all([] {
    MergeCase draw;
    auto a = awkward_list<TypeParam>(draw.a, draw.gap, draw.random);
    const auto b = awkward_list<TypeParam>(draw.b, draw.gap, draw.random);
    const auto k = *rc::gen::inRange<std::size_t>(0, draw.a + draw.b + 2);
    const auto expected = split_oracle(sum_oracle(a, b), k);
    SplitWorkspace<TypeParam> workspace;
    SparseVector<TypeParam> cut;
    merge_top_k(a, b, k, workspace, a, cut);
    RC_ASSERT(same_bits(a, expected.first));
    RC_ASSERT(same_bits(cut, expected.second));
  });
}

TYPED_TEST(MergedLists, IntersectASupportAsThePlainLoopDoes) {
  on_every_target([] {
    MergeCase draw;
    std::vector<SparseVector<TypeParam>> lists;
    for (const std::size_t size : {draw.a, draw.b, std::size_t{0}}) {
      lists.push_back(awkward_list<TypeParam>(size, draw.gap, draw.random));
    }
    const auto support = awkward_list<TypeParam>(MergeCase::size(), draw.gap, draw.random).indices;
    std::vector<const SparseVector<TypeParam>*> where;
    for (const auto& list : lists) {
      where.push_back(&list);
    }
    IntersectWorkspace<TypeParam> workspace;
    std::vector<SparseVector<TypeParam>> inside(lists.size());
    for (int again = 0; again < 2; ++again) {  // the workspace forgets
      intersect<TypeParam>(where, support, workspace, inside);
      for (std::size_t i = 0; i < lists.size(); ++i) {
        RC_ASSERT(same_bits(inside[i], intersection_oracle(lists[i], support)));
      }
    }
  });
}

TYPED_TEST(MergedLists, IntersectUpToTheLastIndexThereIs) {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  const SparseVector<TypeParam> list{.indices = {0, 5, kLast - 1, kLast}, .values = {1, 2, 3, 4}};
  const std::vector<const SparseVector<TypeParam>*> where{&list};
  const std::vector<std::uint32_t> support{5, kLast};
  IntersectWorkspace<TypeParam> workspace;
  std::vector<SparseVector<TypeParam>> inside(1);
  intersect<TypeParam>(where, support, workspace, inside);

  EXPECT_EQ(inside[0], (SparseVector<TypeParam>{.indices = {5, kLast}, .values = {2, 4}}));
}

}  // namespace
}  // namespace residuum
