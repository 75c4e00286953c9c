#include "core/schedules/cadence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using test::Json;

std::vector<std::uint64_t> due(const Json& value, std::uint64_t iterations) {
  const Cadence cadence(value, "'probes.every'", iterations);
  std::vector<std::uint64_t> all;
  for (std::uint64_t t = 0; t < iterations; ++t) {
    if (cadence.due(t)) {
      all.push_back(t);
    }
  }
  return all;
}

using Times = std::vector<std::uint64_t>;

TEST(Cadence, IsEveryNthIterationAndTheLast) {
  EXPECT_EQ(due(1, 4), (Times{0, 1, 2, 3}));
  EXPECT_EQ(due(3, 8), (Times{0, 3, 6, 7}));
  EXPECT_EQ(due(100, 4), (Times{0, 3}));
  EXPECT_EQ(due(2, 1), (Times{0}));
}

TEST(Cadence, GrowsGeometrically) {
  EXPECT_EQ(due({{"geometric", 2}}, 20), (Times{0, 1, 2, 4, 8, 16, 19}));
  // 0, 1, then ceil(1.5 t) or at least one more: 2, 3, 5, 8, 12
  EXPECT_EQ(due({{"geometric", 1.5}}, 14), (Times{0, 1, 2, 3, 5, 8, 12, 13}));
  EXPECT_EQ(due({{"geometric", 1.05}}, 5), (Times{0, 1, 2, 3, 4}));
  EXPECT_EQ(due({{"geometric", 1e300}}, 5), (Times{0, 1, 4}));
}

TEST(Cadence, IsEvenAfterADenseStart) {
  // T/N = 4: the gaps grow from 1 by a tenth of t, rounded up: 0 to 10, then by 2 from 11, by 3
  // from 21, and by 4 from 31.
  EXPECT_EQ(due({{"even", 12}}, 50), (Times{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 13,
                                            15, 17, 19, 21, 24, 27, 30, 33, 37, 41, 45, 49}));
  EXPECT_EQ(due({{"even", 3}}, 9), (Times{0, 1, 2, 3, 4, 5, 6, 7, 8})) << "all of the start";
  EXPECT_EQ(due({{"even", 1}}, 9), (Times{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Cadence, IsEveryIterationWhereItShallHaveMoreRowsThanThereAre) {
  for (const std::uint64_t rows : {6, 10, 11, 1000}) {
    EXPECT_EQ(due({{"even", rows}}, 10).size(), 10U) << rows;
  }
}

// No row stands for more than T/N iterations, and there are about N of them: those of the start
// are 10 that are all, then as many as {geometric = 1.1} has up to 10 T/N.
TEST(Cadence, OfEvenRowsHasNoGapBeyondItsShareOfTheRun) {
  for (const std::uint64_t iterations : {1500U, 4096U, 100'000U}) {
    for (const std::uint64_t rows : {20U, 100U, 200U, 999U}) {
      const auto times = due({{"even", rows}}, iterations);
      const double share = static_cast<double>(iterations) / static_cast<double>(rows);
      for (std::size_t i = 1; i < times.size(); ++i) {
        ASSERT_LE(static_cast<double>(times[i] - times[i - 1]), share);
      }
      const double start = 11 + std::log(std::max(1.0, share)) / std::log(1.1);
      EXPECT_GE(times.size(), rows);
      // T/N is rounded down, so that there may be a fraction N/(T/N) more rows.
      EXPECT_LE(static_cast<double>(times.size()),
                static_cast<double>(iterations) / std::floor(share) + start + 2);
    }
  }
}

// The average of what changes by V in all, held from row to row, is off by at most V/N.
TEST(Cadence, OfEvenRowsBoundsTheErrorOfAnAverage) {
  constexpr std::uint64_t kIterations = 2000;
  RandomStream random(1, Purpose::test, 0, 0);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> values(kIterations);
    double change = 0;
    for (std::uint64_t t = 0; t < kIterations; ++t) {
      values[t] = (t == 0 ? 0 : values[t - 1]) + (random.below(20) == 0 ? random.normal() : 0.0);
      change += t == 0 ? 0 : std::abs(values[t] - values[t - 1]);
    }
    for (const std::uint64_t rows : {20U, 200U}) {
      const auto times = due({{"even", rows}}, kIterations);
      double held = 0;
      double all = 0;
      for (std::uint64_t t = 0; t < kIterations; ++t) {
        const auto after = std::upper_bound(times.begin(), times.end(), t);
        held += values[*std::prev(after)] / kIterations;
        all += values[t] / kIterations;
      }
      EXPECT_LE(std::abs(held - all), change / static_cast<double>(rows));
    }
  }
}

TEST(Cadence, RefusesEvenRowsThatCannotBe) {
  for (const Json& wrong : {Json(0), Json(-3), Json(1.5), Json("many"), Json(nullptr)}) {
    const Json value{{"even", wrong}};
    EXPECT_EQ(error_of([&] { Cadence(value, "'probes.every'", 10); }),
              "'probes.every' must be a whole number, { geometric = F } with F > 1 or { even = N } "
              "with a whole N >= 1, got " +
                  value.dump());
  }
  EXPECT_NE(error_of([] { Cadence({{"even", 5}, {"geometric", 2}}, "x", 10); }), "");
}

TEST(Cadence, ListsTenMillionEvenRowsAndNoMore) {
  EXPECT_EQ(error_of([] {
              Cadence({{"even", 11'000'000}}, "'probes.every'", 30'000'000);
            }),
            "'probes.every' asks for more than 10000000 iterations; take fewer rows than 11000000");
}

TEST(Cadence, RefusesWhatItCannotRead) {
  EXPECT_EQ(error_of([] { Cadence(0, "'probes.every'", 10); }),
            "'probes.every' must be at least 1, got 0");
  EXPECT_EQ(
      error_of([] {
        Cadence({{"geometric", 1}}, "'probes.every'", 10);
      }),
      "'probes.every' must be a whole number, { geometric = F } with F > 1 or { even = N } with "
      "a whole N >= 1, got {\"geometric\":1}");
  EXPECT_NE(error_of([] { Cadence("often", "x", 10); }), "");
  EXPECT_NE(error_of([] { Cadence(1.5, "x", 10); }), "");
  EXPECT_NE(error_of([] { Cadence(-1, "x", 10); }), "");
  EXPECT_NE(error_of([] { Cadence({{"geometrical", 2}}, "x", 10); }), "");
  EXPECT_NE(error_of([] { Cadence({{"geometric", 2}, {"every", 2}}, "x", 10); }), "");
}

TEST(Cadence, RefusesAFactorThatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of([&] {
              Cadence({{"geometric", infinity}}, "'probes.every'", 10);
            }),
            "'probes.every' must have a finite geometric factor, got inf");
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] {
              Cadence({{"geometric", not_a_number}}, "'probes.every'", 10);
            }),
            "'probes.every' must have a finite geometric factor, got nan");
}

// A factor so close to 1 grows by one iteration at a time throughout.
TEST(Cadence, ListsTenMillionIterationsAndNoMore) {
  const Json slow{{"geometric", 1.0000000001}};
  EXPECT_EQ(error_of([&] { Cadence(slow, "'probes.every'", 10'000'000); }), "");
  EXPECT_EQ(error_of([&] { Cadence(slow, "'probes.every'", 10'000'001); }),
            "'probes.every' asks for more than 10000000 iterations; "
            "take a larger geometric factor than 1.0000000001");
}

}  // namespace
}  // namespace residuum
