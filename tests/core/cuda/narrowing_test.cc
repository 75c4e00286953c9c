// The search of the device's selection, with loops on the host in place of its kernels: what a
// digit decides is the same code in both.

#include "core/vectors/cuda/narrowing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/random/random.h"
#include "core/vectors/select.h"
#include "tests/core/support.h"

namespace residuum::cuda {
namespace {

std::vector<std::uint64_t> entries_of(const std::vector<float>& x) {
  std::vector<std::uint64_t> entries;
  for (std::size_t i = 0; i < x.size(); ++i) {
    entries.push_back(entry_of(x[i], static_cast<std::uint32_t>(i)));
  }
  return entries;
}

/// Returns the narrowing after one kernel of the search has read a digit, by a plain loop.
Narrowing look_at(Digit digit, const std::vector<std::uint64_t>& entries, const Narrowing& now) {
  std::vector<std::uint32_t> counts(kBins);
  std::uint32_t total = 0;
  for (const std::uint64_t entry : entries) {
    if (entry >= kLeastEntry && leading(entry, digit) == now.prefix) {
      ++counts[bin_of(entry, digit)];
      ++total;
    }
  }
  if (total < now.rank) {
    return satisfied(now);
  }
  std::uint32_t above = 0;
  unsigned bin = kBins - 1;
  while (above + counts[bin] < now.rank) {
    above += counts[bin];
    --bin;
  }
  return narrowed(now, digit, bin, above, counts[bin]);
}

SparseVector<float> search(const std::vector<float>& x, std::size_t k) {
  const auto entries = entries_of(x);
  Narrowing narrowing;
  narrowing.rank = static_cast<std::uint32_t>(k);
  for (const Digit digit : kDigits) {
    if (narrowing.done == 0) {
      narrowing = look_at(digit, entries, narrowing);
    }
  }
  EXPECT_EQ(narrowing.done, 1U);
  SparseVector<float> selected;
  for (const std::uint64_t entry : entries) {
    if (entry >= narrowing.cut) {
      selected.push_back(index_of(entry), value_of(entry));
    }
  }
  return selected;
}

SparseVector<float> reference(const std::vector<float>& x, std::size_t k) {
  SelectWorkspace workspace;
  SparseVector<float> selected;
  select_top_k<float>(x, k, workspace, selected);
  return selected;
}

TEST(Entry, IsOrderedByMagnitudeThenByLowerIndex) {
  EXPECT_GT(entry_of(-2, 9), entry_of(1, 3));
  EXPECT_GT(entry_of(1, 3), entry_of(-1, 4));
  EXPECT_GT(entry_of(-1, 3), entry_of(1, 4));
  EXPECT_GT(entry_of(std::numeric_limits<float>::infinity(), 0xFFFFFFFEU),
            entry_of(std::numeric_limits<float>::max(), 0));
  EXPECT_GT(entry_of(std::numeric_limits<float>::denorm_min(), 0xFFFFFFFEU), entry_of(0, 0));
}

TEST(Entry, GivesBackIndexAndValue) {
  for (const float value : {1.5F, -1.5F, 0x1p-149F, -0x1.fffffep127F}) {
    for (const std::uint32_t index : {0U, 1U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFEU}) {
      EXPECT_EQ(index_of(entry_of(value, index)), index);
      EXPECT_EQ(value_of(entry_of(value, index)), value);
    }
  }
}

TEST(Entry, OfAZeroOfEitherSignIsNotWorthSelecting) {
  EXPECT_LT(entry_of(0.0F, 0), kLeastEntry);
  EXPECT_LT(entry_of(-0.0F, 0), kLeastEntry);
  EXPECT_GE(entry_of(0x1p-149F, 0xFFFFFFFEU), kLeastEntry);
}

TEST(Digits, CoverEveryBitOnce) {
  unsigned below = 64;
  for (const Digit digit : kDigits) {
    EXPECT_EQ(digit.shift + digit.width, below);
    EXPECT_LE(1U << digit.width, kBins);
    below = digit.shift;
  }
  EXPECT_EQ(below, 0U);
}

TEST(Narrowing, StopsAtADigitWhoseWholeBinIsWanted) {
  const Narrowing start{.prefix = 0, .cut = kLeastEntry, .rank = 5, .done = 0};

  const Narrowing open = narrowed(start, kDigits[0], 1000, 2, 4);
  EXPECT_EQ(open.done, 0U);
  EXPECT_EQ(open.rank, 3U);
  EXPECT_EQ(open.prefix, 1000U);

  const Narrowing closed = narrowed(start, kDigits[0], 1000, 2, 3);
  EXPECT_EQ(closed.done, 1U);
  EXPECT_EQ(closed.cut, std::uint64_t{1000} << 53U);
}

TEST(Narrowing, FindsWhatTheHostSelects) {
  RandomStream random(3, Purpose::test, 0, 0);
  const std::array<float, 9> few{
      0, -0.0F, 0x1p-149F, -0x1p-149F, 0x1p-126F, 1, -1, 0x1.000002p0F, 2};
  for (std::size_t d = 1; d < 200; ++d) {
    std::vector<float> x(d);
    for (float& value : x) {
      value = few.at(random.below(std::uint32_t{few.size()}));
    }
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}, d / 3 + 1, d - d / 4, d}) {
      EXPECT_EQ(search(x, k), reference(x, k)) << "d " << d << ", k " << k;
    }
  }
}

TEST(Narrowing, GoesDownToTheIndexWhereAllMagnitudesAreEqual) {
  const std::vector<float> x(5000, -3);
  for (const std::size_t k : {1, 31, 2047, 2048, 4999, 5000}) {
    EXPECT_EQ(search(x, k), reference(x, k)) << k;
  }
}

TEST(Narrowing, SelectsFromNormalNumbers) {
  const auto x = test::normal_vector<float>(20011, 7);
  for (const std::size_t k : {1, 20, 200, 10000, 20011}) {
    EXPECT_EQ(search(x, k), reference(x, k)) << k;
  }
}

}  // namespace
}  // namespace residuum::cuda
