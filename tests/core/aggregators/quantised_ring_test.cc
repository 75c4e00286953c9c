// The ring whose messages are quantised at every hop, against plain loops over its chunks, its
// mean, its errors, its bytes by hand, and any number of processes.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/cluster/ledger.h"
#include "core/quantisers/quantiser.h"
#include "core/random/random.h"
#include "tests/core/aggregators/power_run.h"

namespace residuum {
namespace {

using test::Json;
using test::PowerRun;
using test::Rows;

Json ring(int bits, bool rotate = false, const char* quantiser = "qsgd") {
  return {{"kind", "quantised-ring"}, {"quantiser", quantiser}, {"bits", bits}, {"rotate", rotate}};
}

std::vector<double> ring_sum_of(const Rows<double>& rows) {
  std::vector<double> sum(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += row[i];
    }
  }
  return sum;
}

double squared_error(const std::vector<double>& found, const std::vector<double>& wanted) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    sum += (found[i] - wanted[i]) * (found[i] - wanted[i]);
  }
  return sum;
}

// QSGD writes a bucket with one number that is not zero without an error.
TEST(QuantisedRing, IsTheSumWhereEveryPartialSumHasACode) {
  const Rows<double> rows{{1, 0, 0, 3, 0, 5}, {2, 0, 0, -1, 0, 4}, {-4, 0, 0, 7, 0, 0.5}};
  PowerRun<double> run(ring(2), {});
  EXPECT_EQ(run.exchange(rows).dense_sum, (std::vector<double>{-1, 0, 0, 9, 0, 9.5}));
}

TEST(QuantisedRing, OfOneWorkerIsItsAccumulator) {
  const auto rows = test::normal_rows(1, 9, 2);
  PowerRun<double> run(ring(2), {});
  const auto& exchanged = run.exchange(rows);
  EXPECT_EQ(exchanged.dense_sum, rows.front());
  EXPECT_EQ(exchanged.traffic.bytes, 0U);
}

/// g by plain loops: chunk c begins with worker c + 1 and ends with worker c. Worker p draws for
/// its chunks in the order of the steps.
std::vector<double> by_plain_loops(const Rows<double>& rows,
                                   const Quantiser& quantiser,
                                   std::uint32_t exchange) {
  const std::size_t workers = rows.size();
  const std::size_t dimension = rows.front().size();
  std::vector<RandomStream> draws;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    draws.emplace_back(1, Purpose::ring, worker, exchange);
  }
  std::vector<std::vector<double>> sums(workers);
  for (std::size_t step = 0; step < workers; ++step) {
    for (std::size_t chunk = 0; chunk < workers; ++chunk) {
      const std::size_t worker = (chunk + 1 + step) % workers;
      const std::size_t begin = chunk * dimension / workers;
      std::vector<double>& sum = sums[chunk];
      sum.resize((chunk + 1) * dimension / workers - begin);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += rows[worker][begin + i];
      }
      Bytes coded(quantiser.packed_bytes(sum.size(), sizeof(double)));
      quantiser.encode(std::span<const double>(sum), draws[worker], coded);
      quantiser.decode(coded, std::span(sum));
    }
  }
  std::vector<double> g;
  for (const auto& sum : sums) {
    g.insert(g.end(), sum.begin(), sum.end());
  }
  return g;
}

TEST(QuantisedRing, QuantisesEveryPartialSumAnew) {
  for (const char* kind : {"qsgd", "linear"}) {
    const auto quantiser = make_quantiser(Section("quantiser", {{"kind", kind}, {"bits", 3}}));
    for (const std::size_t workers : {2U, 3U, 5U}) {
      PowerRun<double> run(ring(3, false, kind), {});
      for (std::uint32_t time = 0; time < 3; ++time) {
        const auto rows = test::normal_rows(workers, 23, time);
        EXPECT_EQ(run.exchange(rows).dense_sum, by_plain_loops(rows, *quantiser, time))
            << kind << ", P = " << workers;
      }
    }
  }
}

// 40 means of 4000 draws lie within 5 standard errors of the sum, with and without rotation.
TEST(QuantisedRing, HasTheSumAsItsMean) {
  constexpr int kDraws = 4000;
  const auto rows = test::normal_rows(4, 40, 7);
  const auto sum = ring_sum_of(rows);
  for (const bool rotate : {false, true}) {
    PowerRun<double> run(ring(3, rotate), {});
    std::vector<double> mean(40);
    std::vector<double> square(40);
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto& g = run.exchange(rows).dense_sum;
      for (std::size_t i = 0; i < 40; ++i) {
        mean[i] += (g[i] - sum[i]) / kDraws;
        square[i] += (g[i] - sum[i]) * (g[i] - sum[i]) / kDraws;
      }
    }
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_GT(square[i], 0);
      EXPECT_LT(std::abs(mean[i]), 5 * std::sqrt(square[i] / kDraws)) << i << " rotate " << rotate;
    }
  }
}

// Codes of 16 bits leave errors of some 1e-4 in each of P quantisations.
TEST(QuantisedRing, RotatesBackWhatItRotates) {
  for (const std::size_t dimension : {5U, 64U, 1500U}) {
    const auto rows = test::normal_rows(3, dimension, 11);
    PowerRun<double> run(ring(16, true, "linear"), {});
    const auto& g = run.exchange(rows).dense_sum;
    const auto sum = ring_sum_of(rows);
    for (std::size_t i = 0; i < dimension; ++i) {
      ASSERT_NEAR(g[i], sum[i], 3e-3) << i << " of " << dimension;
    }
  }
}

// Of three steps between 0 and 1 rounding errs by 0.003 * 0.33 in each square of 512 numbers, and
// twice as much in the sum. Rotated, 1024 numbers lie 0.003 within +-0.034, whose steps are 0.023:
// the error is a seventh.
TEST(QuantisedRing, LosesLessOfASpikeWhereItRotates) {
  auto rows = test::normal_rows(2, 1024, 3);
  for (auto& row : rows) {
    for (double& value : row) {
      value *= 0.001;
    }
    row[5] = 1;
  }
  const auto sum = ring_sum_of(rows);
  PowerRun<double> plain(ring(2, false, "linear"), {});
  PowerRun<double> rotated(ring(2, true, "linear"), {});
  EXPECT_GT(squared_error(plain.exchange(rows).dense_sum, sum),
            3 * squared_error(rotated.exchange(rows).dense_sum, sum));
}

// A chunk of 10 numbers has a norm of 8 bytes and 10 codes of 4 bits. There are 4, and each travels
// 3 times on its way to the sum and 3 times after.
TEST(QuantisedRing, SendsCodesAlone) {
  PowerRun<double> run(ring(4), {});
  const Traffic traffic = run.exchange(test::normal_rows(4, 40, 1)).traffic;
  EXPECT_EQ(traffic.bytes, 4U * (8 + 5) * 6);
  EXPECT_EQ(traffic.rounds, 6U);
  for (const std::size_t workers : {1U, 2U, 3U, 7U}) {
    PowerRun<double> other(ring(3), {});
    const auto rows = test::normal_rows(workers, 33, 5);
    EXPECT_EQ(static_cast<double>(other.exchange(rows).traffic.bytes),
              other.bytes_by_the_model(workers, 33));
  }
}

TEST(QuantisedRing, CreditsEachWorkerWithItsPartOfTheSum) {
  PowerRun<double> run(ring(2), {});
  const auto rows = test::normal_rows(4, 12, 3);
  const auto& g = run.exchange(rows).dense_sum;
  for (std::size_t worker = 0; worker < 4; ++worker) {
    const auto outcome = run.outcome(worker);
    ASSERT_TRUE(outcome.dense_approximation);
    outcome.dense_approximation->for_each(
        rows[worker], [&](std::size_t i, double value) { EXPECT_EQ(value, g[i] / 4); });
  }
}

TEST(QuantisedRing, ShowsAnOverflowInEveryNumber) {
  const Rows<float> rows(2, std::vector<float>(4, 3e38F));
  PowerRun<float> run(ring(4), {});
  for (const float value : run.exchange(rows).dense_sum) {
    EXPECT_EQ(value, std::numeric_limits<float>::infinity());
  }
}

TEST(QuantisedRing, HasTheSameBitsOnAnyNumberOfProcesses) {
  for (const Json& keys : {ring(3), ring(3, true), ring(2, true, "linear")}) {
    const auto on_one = test::dense_sums_on(1, keys, 33);
    for (const int processes : {2, 3, 5}) {
      EXPECT_EQ(test::dense_sums_on(processes, keys, 33), on_one) << keys << " on " << processes;
    }
  }
}

TEST(QuantisedRing, RefusesBitsThatItsQuantiserHasNot) {
  EXPECT_THROW(test::aggregator(ring(1)), Error);
  EXPECT_THROW(test::aggregator(ring(17, false, "linear")), Error);
  EXPECT_THROW(test::aggregator(ring(4, false, "sign")), Error);
  EXPECT_NO_THROW(test::aggregator(ring(1, false, "linear")));
}

}  // namespace
}  // namespace residuum
