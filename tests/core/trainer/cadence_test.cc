#include "core/trainer/cadence.h"

#include <gtest/gtest.h>

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

TEST(Cadence, KnowsWhetherItIsEveryIteration) {
  EXPECT_TRUE(Cadence(1, "x", 10).every_iteration());
  EXPECT_FALSE(Cadence(2, "x", 10).every_iteration());
  EXPECT_FALSE(Cadence({{"geometric", 2}}, "x", 10).every_iteration());
}

TEST(Cadence, RefusesWhatItCannotRead) {
  EXPECT_EQ(error_of([] { Cadence(0, "'probes.every'", 10); }),
            "'probes.every' must be at least 1, got 0");
  EXPECT_EQ(error_of([] {
              Cadence({{"geometric", 1}}, "'probes.every'", 10);
            }),
            "'probes.every' must be a whole number or { geometric = F } with F > 1, "
            "got {\"geometric\":1}");
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
