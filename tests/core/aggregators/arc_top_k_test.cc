// ARC-Top-K against plain loops over its sketch, on any number of processes, and its bytes by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/random/random.h"
#include "core/training/method.h"
#include "tests/core/aggregators/power_run.h"

namespace residuum {
namespace {

using test::Json;
using test::PowerRun;
using test::Rows;

Json arc(std::size_t rank, double density) {
  return {{"kind", "arc-top-k"}, {"rank", rank}, {"density", density}};
}

/// A vector, a matrix of 9 rows and 7 columns, a matrix too small for a sketch, and one of 4 x 10.
const std::vector<MatrixPlace> kArcLayers{{.begin = 0, .rows = 3, .columns = 1},
                                          {.begin = 3, .rows = 9, .columns = 7},
                                          {.begin = 66, .rows = 2, .columns = 2},
                                          {.begin = 70, .rows = 4, .columns = 10}};
constexpr std::size_t kArcSize = 110;

std::vector<double> sum_of(const Rows<double>& rows) {
  std::vector<double> sum(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += row[i];
    }
  }
  return sum;
}

/// The rows of a matrix whose products with `rank` shared vectors of normal numbers are largest.
std::vector<std::size_t> largest_rows(const std::vector<double>& sum,
                                      const MatrixPlace& matrix,
                                      std::size_t rank,
                                      std::size_t kept,
                                      std::uint32_t layer,
                                      std::uint32_t exchange) {
  RandomStream random(1, Purpose::sketch, layer, exchange);
  std::vector<double> norms(matrix.rows);
  for (std::size_t c = 0; c < rank; ++c) {
    std::vector<double> v(matrix.columns);
    for (double& value : v) {
      value = random.normal();
    }
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      double product = 0;
      for (std::size_t j = 0; j < matrix.columns; ++j) {
        product += sum[matrix.begin + row * matrix.columns + j] * v[j];
      }
      norms[row] += product * product;
    }
  }
  std::vector<std::size_t> rows(matrix.rows);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return norms[a] > norms[b]; });
  rows.resize(kept);
  return rows;
}

// A third of 9 rows are 3, and of 4 rows 1. Sketches are 2 (9 + 4) numbers.
TEST(ArcTopK, SumsTheRowsThatASharedSketchFindsLargest) {
  PowerRun<double> run(arc(2, 0.34), kArcLayers);
  for (std::uint32_t time = 0; time < 20; ++time) {
    const auto rows = test::normal_rows(3, kArcSize, time);
    const auto sum = sum_of(rows);
    std::vector<double> expected(kArcSize);
    std::copy_n(sum.begin(), 3, expected.begin());
    std::copy_n(sum.begin() + 66, 4, expected.begin() + 66);
    const auto keep = [&](std::size_t at, std::size_t kept, std::uint32_t layer) {
      const MatrixPlace& matrix = kArcLayers[at];
      for (const auto row : largest_rows(sum, matrix, 2, kept, layer, time)) {
        const auto first = static_cast<std::ptrdiff_t>(matrix.begin + row * matrix.columns);
        std::copy_n(sum.begin() + first, matrix.columns, expected.begin() + first);
      }
    };
    keep(1, 3, 0);
    keep(3, 1, 1);
    const ExchangeResult<double>& exchanged = run.exchange(rows);
    for (std::size_t i = 0; i < kArcSize; ++i) {
      ASSERT_NEAR(exchanged.dense_sum[i], expected[i], 1e-13) << i << " at " << time;
      ASSERT_EQ(exchanged.dense_sum[i] == 0, expected[i] == 0) << i;
    }
  }
}

// Every worker delivers its own numbers in the rows that were chosen and in whole layers, and
// nothing in other rows: the applied numbers add up to g.
TEST(ArcTopK, DeliversRowsWholeAndNothingOfTheOthers) {
  PowerRun<double> run(arc(1, 0.25), kArcLayers);
  const auto rows = test::normal_rows(4, kArcSize, 3);
  const auto& exchanged = run.exchange(rows);
  for (std::size_t worker = 0; worker < 4; ++worker) {
    const auto outcome = run.outcome(worker);
    ASSERT_TRUE(outcome.dense_approximation);
    std::size_t visited = 0;
    outcome.dense_approximation->for_each(rows[worker], [&](std::size_t i, double value) {
      EXPECT_EQ(i, visited++);
      EXPECT_EQ(value, exchanged.dense_sum[i] == 0 ? 0 : rows[worker][i]);
    });
    EXPECT_EQ(visited, kArcSize);
  }
}

// The rows of worker 0 and worker 1 that are largest cancel in the sum: row 5 of it is.
TEST(ArcTopK, GoesByTheSumAndNotByWhatWorkersFindLarge) {
  PowerRun<double> run(arc(4, 0.12), kArcLayers);
  Rows<double> rows(2, std::vector<double>(kArcSize, 1e-6));
  for (std::size_t j = 0; j < 7; ++j) {
    rows[0][3 + 2 * 7 + j] = 1000.0 + static_cast<double>(j);
    rows[1][3 + 2 * 7 + j] = -1000.0 - static_cast<double>(j);
    rows[1][3 + 5 * 7 + j] = 1 + static_cast<double>(j);
  }
  const auto& sum = run.exchange(rows).dense_sum;
  for (std::size_t j = 0; j < 7; ++j) {
    EXPECT_EQ(sum[3 + 2 * 7 + j], 0);
    EXPECT_NEAR(sum[3 + 5 * 7 + j], 1 + static_cast<double>(j), 1e-5);
  }
}

// A matrix of 6 x 4 and rank 1 has a sketch of 6, half of its rows are 3 with 12 numbers; a vector
// has 3.
TEST(ArcTopK, SendsSketchesRowsAndVectorsAndNoIndex) {
  const std::vector<MatrixPlace> layers{{.begin = 0, .rows = 6, .columns = 4},
                                        {.begin = 24, .rows = 3, .columns = 1}};
  PowerRun<float> run(arc(1, 0.5), layers);
  const Rows<float> rows(4, std::vector<float>(27, 1));
  const Traffic traffic = run.exchange(rows).traffic;
  EXPECT_EQ(traffic.bytes, 2U * 3 * (6 + 3 + 12) * 4);
  EXPECT_EQ(traffic.rounds, 2U * 2 * 3);
  // Without a matrix there is nothing for a second all-reduce.
  PowerRun<float> dense(arc(1, 0.5), {});
  EXPECT_EQ(dense.exchange(rows).traffic.bytes, 2U * 3 * 27 * 4);
  EXPECT_EQ(dense.exchange(rows).traffic.rounds, 2U * 3);
}

std::vector<Json> sums_of_arc() {
  std::vector<Json> ways;
  for (const char* algorithm : {"chain", "ring", "tree", "recursive-doubling"}) {
    Json keys = arc(2, 0.34);
    keys["algorithm"] = algorithm;
    ways.push_back(keys);
  }
  return ways;
}

TEST(ArcTopK, SendsTheBytesOfItsModelByEveryAllReduce) {
  for (const Json& keys : sums_of_arc()) {
    for (const std::size_t workers : {1U, 2U, 3U, 4U, 7U}) {
      PowerRun<double> run(keys, kArcLayers);
      const auto rows = test::normal_rows(workers, kArcSize, 5);
      EXPECT_EQ(static_cast<double>(run.exchange(rows).traffic.bytes),
                run.bytes_by_the_model(workers, kArcSize))
          << keys << ", P = " << workers;
    }
  }
}

TEST(ArcTopK, HasTheSameBitsOnAnyNumberOfProcesses) {
  for (const Json& keys : sums_of_arc()) {
    const auto on_one = test::dense_sums_on(1, keys, kArcSize, kArcLayers);
    for (const int processes : {2, 3, 5}) {
      EXPECT_EQ(test::dense_sums_on(processes, keys, kArcSize, kArcLayers), on_one)
          << keys << " on " << processes;
    }
  }
}

TEST(ArcTopK, BringsWhatIsNoNumberIntoTheSum) {
  PowerRun<double> run(arc(2, 0.12), kArcLayers);
  auto rows = test::normal_rows(2, kArcSize, 3);
  rows[1][3 + 4 * 7] = NAN;
  const auto& sum = run.exchange(rows).dense_sum;
  EXPECT_TRUE(std::isnan(sum[3 + 4 * 7]));
}

TEST(ArcTopK, RefusesWhatDoesNotFitIt) {
  const auto refused = [](const Json& keys, std::span<const MatrixPlace> layers) {
    return test::error_of([&] { test::aggregator(keys)->check(4, layers); });
  };
  EXPECT_EQ(refused(arc(2, 0.34), kArcLayers), "");
  EXPECT_THAT(refused(arc(8, 0.34), kArcLayers), testing::HasSubstr("a sketch of 8 columns"));
  EXPECT_THAT(refused(arc(2, 1), kArcLayers), testing::HasSubstr("take a smaller rank"));
  EXPECT_THAT(refused(arc(1, 0.5), {}), testing::HasSubstr("or aggregator \"dense\""));
  EXPECT_EQ(refused(arc(0, 0.5), {}), "'aggregator.rank' must lie in 1..2147483647, got 0");
  EXPECT_EQ(refused(arc(1, 0), {}),
            "'aggregator.density' must lie in (0, 1], got 0: it is the part of a layer's rows that "
            "is kept");
}

}  // namespace
}  // namespace residuum
