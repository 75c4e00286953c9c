// T-DELTA: the gTop-k assumption ratio on vectors whose ratio is a fraction.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using test::top_k_step;
using Rows = test::Rows<double>;

constexpr double kTolerance = 1e-12;

/// |a - b| within 1e-12 of b.
void expect_close(double a, double b) { EXPECT_NEAR(a, b, kTolerance * std::abs(b)); }

TEST(Delta, IsOneForEqualMagnitudesAtIdenticalWorkers) {
  for (const char* aggregator : {"gtopk-exact", "gtopk-tree", "gtopk-mask", "allgather"}) {
    const Rows rows(4, std::vector<double>{1, -1, 1, 1, -1});
    expect_close(top_k_step(rows, aggregator, 2)[Column::delta], 1);
  }
}

TEST(Delta, IsTheSharesNotCapturedForOneWorker) {
  // cap = 16/21 of (1, -2, 4) at k = 1: delta = (5/21) / (2/3) = 5/14.
  const auto seen = top_k_step({{1, -2, 4}}, "gtopk-exact", 1);

  expect_close(seen[Column::delta], 5.0 / 14);
  expect_close(seen[Column::captured_energy], 16.0 / 21);
}

TEST(Delta, IsWithoutBoundWhereWorkersNearlyCancel) {
  // (1 + e^2) / e^2 at e = 0.01, given as 2 e^2 exactly: means are (e/2, -e/2).
  for (const char* aggregator : {"gtopk-exact", "gtopk-tree"}) {
    const auto seen = top_k_step({{1.01, 1}, {-1, -1.01}}, aggregator, 1);
    EXPECT_NEAR(seen[Column::delta], 10001, 1e-8);  // 1.01 - 1 is rounded in its 14th digit
    EXPECT_FALSE(seen.check("delta").holds);
  }
  // The same with numbers that are exact in binary: e = 1/64.
  expect_close(top_k_step({{1.015625, 1}, {-1, -1.015625}}, "gtopk-exact", 1)[Column::delta], 4097);
}

TEST(Delta, IsTwoWhereTheSelectedIndexCancels) {
  expect_close(top_k_step({{2, 1.5}, {-2, 1.5}}, "gtopk-exact", 1)[Column::delta], 2);
}

TEST(Delta, SplitsIntoSelectedAndOtherIndices) {
  // mean a = (5, 10.5, 10.5), g/2 = (15, 10.5, 0); the denominator is 245.5 / 3.
  const auto seen = top_k_step({{30, 0, 0}, {-20, 21, 21}}, "gtopk-exact", 2);

  expect_close(seen[Column::delta], 630.75 / 245.5);
  expect_close(seen[Column::delta_in], 300 / 245.5);
  expect_close(seen[Column::delta_out], 330.75 / 245.5);
  expect_close(seen[Column::captured_energy], 1 - 210.25 / 245.5);
}

TEST(Delta, DiffersBetweenTreeAndExactSelection) {
  const Rows rows{{3, 0, 0}, {0, 4, 0}, {3, 0, 0}, {0, 0, 4}};

  expect_close(top_k_step(rows, "gtopk-exact", 1)[Column::delta], 12.0 / 17);
  expect_close(top_k_step(rows, "gtopk-tree", 1)[Column::delta], 39.0 / 34);
}

TEST(Delta, IsOneForDisjointOneHots) {
  const Rows rows{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  for (const char* aggregator : {"gtopk-exact", "gtopk-tree", "gtopk-mask"}) {
    expect_close(top_k_step(rows, aggregator, 1)[Column::delta], 1);
  }
}

TEST(Delta, IsAboveOneAtTheFirstStepOfAProblemThatConverges) {
  const Rows rows{{-5.5, 4.5, 4.5}, {4.5, -5.5, 4.5}, {4.5, 4.5, -5.5}};

  expect_close(top_k_step(rows, "gtopk-exact", 1)[Column::delta], 4.306122448979592);
}

TEST(Delta, HasNoErrorInsideAndAtMostTheRatioOfSizesForTheMask) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rows rows;
    for (std::uint64_t p = 0; p < 6; ++p) {
      rows.push_back(test::normal_vector(10, 100 * seed + p));
    }
    const auto seen = top_k_step(rows, "gtopk-mask", 3);
    EXPECT_NEAR(seen[Column::delta_in], 0, 1e-25);
    EXPECT_LE(seen[Column::delta], 10.0 / 7);
  }
}

TEST(Delta, DoesNotChangeWithTheScale) {
  for (const double scale : {1e-9, 0.1, 3.0, 1e12}) {
    Rows rows{{30, 0, 0}, {-20, 21, 21}};
    for (auto& row : rows) {
      std::transform(row.begin(), row.end(), row.begin(), [=](double v) { return scale * v; });
    }
    expect_close(top_k_step(rows, "gtopk-exact", 2)[Column::delta], 630.75 / 245.5);
  }
}

TEST(Delta, OfTheExactSelectionDoesNotChangeWithTheOrderOfWorkersButThatOfTheTreeDoes) {
  Rows rows{{0, 0, 4}, {0, 4, 0}, {3, 0, 0}, {3, 0, 0}};
  std::vector<double> tree;
  do {
    expect_close(top_k_step(rows, "gtopk-exact", 1)[Column::delta], 12.0 / 17);
    tree.push_back(top_k_step(rows, "gtopk-tree", 1)[Column::delta]);
  } while (std::next_permutation(rows.begin(), rows.end()));

  EXPECT_LT(*std::min_element(tree.begin(), tree.end()), 0.71);
  EXPECT_GT(*std::max_element(tree.begin(), tree.end()), 1.14);
}

TEST(Delta, IsNotMeasuredWhereTheMeanIsZeroOrNothingIsDropped) {
  const auto zero = top_k_step({{1, -1}, {-1, 1}}, "gtopk-exact", 1);
  EXPECT_EQ(zero[Column::accumulator_norm_sq], 0);
  EXPECT_FALSE(zero.has(Column::delta));
  EXPECT_FALSE(zero.has(Column::captured_energy));

  const auto all = top_k_step({{1, 2}, {3, 4}}, "gtopk-exact", 2);
  EXPECT_FALSE(all.has(Column::delta));
  EXPECT_EQ(all[Column::captured_energy], 1);
}

TEST(Delta, OfADenseExchangeOfSparseMessagesIsThatOfTheAllGather) {
  // Sent are 30 at index 0 and 21 at index 1; indices 2 and 3 stay behind.
  const Rows rows{{30, 0, 0, 2}, {-20, 21, 21, 1}};
  const auto gathered = top_k_step(rows, "allgather", 1);
  const auto dense = top_k_step(rows, "dense", 1);

  expect_close(dense[Column::delta], gathered[Column::delta]);
  expect_close(dense[Column::delta_in], gathered[Column::delta_in]);
  expect_close(dense[Column::delta_out], gathered[Column::delta_out]);
}

// The mean of the accumulators is 0, and Top-1 of each applies 2 at the first index.
TEST(Delta, IsInfiniteWhereTheMeanIsZeroAndTheUpdateIsNot) {
  const Rows rows{{2, 0}, {-1, 1.5}, {-1, -1.5}};
  for (const char* aggregator : {"allgather", "gtopk-exact"}) {
    const auto seen = top_k_step(rows, aggregator, 1);

    EXPECT_EQ(seen[Column::delta], std::numeric_limits<double>::infinity()) << aggregator;
    EXPECT_EQ(seen[Column::delta_out], 0);
    EXPECT_FALSE(seen.has(Column::captured_energy));
    EXPECT_FALSE(seen.check("delta").holds);
    EXPECT_EQ(seen[Column::contraction], std::numeric_limits<double>::infinity());
    EXPECT_FALSE(seen.check("contraction").holds);
  }
}

TEST(Delta, IsNotDefinedWhereTheMeanAndTheUpdateAreZero) {
  const auto seen = top_k_step({{1, 2}, {-1, -2}}, "allgather", 1);

  EXPECT_FALSE(seen.has(Column::delta));
  EXPECT_FALSE(seen.has(Column::contraction));
}

}  // namespace
}  // namespace residuum
