// Elementary functions are as near to the true ones as the header says, on every target.

#include "core/elementary.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "core/random/random.h"
#include "tests/core/vectors/simd_targets.h"

namespace residuum {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Kernel = void (*ElementaryKernels::*)(double*, std::size_t);

std::vector<double> mapped(Kernel kernel, std::vector<double> x) {
  (elementary_kernels().*kernel)(x.data(), x.size());
  return x;
}

std::vector<std::uint64_t> bits_of(const std::vector<double>& x) {
  std::vector<std::uint64_t> bits;
  for (const double value : x) {
    bits.push_back(std::bit_cast<std::uint64_t>(value));
  }
  return bits;
}

/// Checks that the kernel is off by less than 1.5 units in the last place of `truth`, and has the
/// same bits on every target.
template <class Truth>
void check(Kernel kernel, const std::vector<double>& x, Truth truth) {
  std::vector<std::uint64_t> bits;
  test::for_each_target([&] {
    const auto found = mapped(kernel, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double expected = truth(static_cast<long double>(x[i]));
      const auto rounded = std::abs(static_cast<double>(expected));
      const long double unit = std::nextafter(rounded, kUnbounded) - rounded;
      ASSERT_LT(std::abs(found[i] - expected), 1.5L * unit) << x[i];
    }
    if (bits.empty()) {
      bits = bits_of(found);
    }
    EXPECT_EQ(bits_of(found), bits);
  });
}

/// Numbers of (0, 1), as many near 0 as near 1.
std::vector<double> shares(std::size_t size) {
  RandomStream random(1, Purpose::test, 0, 0);
  std::vector<double> numbers(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double u = random.uniform();
    numbers[i] = i % 2 == 0 ? u : std::ldexp(u, -static_cast<int>(i % 60));
  }
  return numbers;
}

TEST(ElementaryKernels, TakeExponentials) {
  constexpr std::array<double, 4> kFurthest{-750, 709, -1, 1};  // exp(-750) is 0
  std::vector<double> x = shares(20001);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] *= kFurthest[i / 2 % kFurthest.size()];
  }
  check(&ElementaryKernels::exp, x, [](long double v) { return std::exp(v); });
}

TEST(ElementaryKernels, TakeLogarithmsOfOnePlus) {
  check(
      &ElementaryKernels::log_one_plus, shares(20001), [](long double v) { return std::log1p(v); });
}

TEST(ElementaryKernels, TakeLogarithms) {
  std::vector<double> x = shares(20001);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 3 == 0 ? std::exp(1400 * x[i] - 700) : (i % 3 == 1 ? 1 + x[i] : x[i]);
  }
  check(&ElementaryKernels::log, x, [](long double v) { return std::log(v); });
}

TEST(ElementaryKernels, KnowTheEndsOfTheirRanges) {
  test::for_each_target([] {
    constexpr double kLeast = std::numeric_limits<double>::denorm_min();
    constexpr double kMost = std::numeric_limits<double>::max();
    EXPECT_EQ(mapped(&ElementaryKernels::exp, {0.0, -0.0, -746, -1e308, -kUnbounded, -745.13}),
              (std::vector<double>{1, 1, 0, 0, 0, kLeast}));
    EXPECT_EQ(mapped(&ElementaryKernels::exp, {709.79, 1e308, kUnbounded}),
              std::vector<double>(3, kUnbounded));
    EXPECT_EQ(mapped(&ElementaryKernels::log_one_plus, {0, kLeast, 1}),
              (std::vector<double>{0, kLeast, 0x1.62e42fefa39efp-1}));
    EXPECT_EQ(mapped(&ElementaryKernels::log, {1, 2, 0.5, kMost, 0x1p-1022}),
              (std::vector<double>{0,
                                   0x1.62e42fefa39efp-1,
                                   -0x1.62e42fefa39efp-1,
                                   0x1.62e42fefa39efp9,
                                   -0x1.6232bdd7abcd2p9}));
    for (const Kernel kernel :
         {&ElementaryKernels::exp, &ElementaryKernels::log_one_plus, &ElementaryKernels::log}) {
      EXPECT_TRUE(std::isnan(mapped(kernel, {kNaN})[0]));
    }
  });
}

TEST(ElementaryKernels, TakeAnyNumberOfEntriesAndNoMore) {
  test::for_each_target([] {
    for (std::size_t size = 0; size < 40; ++size) {
      std::vector<double> x(size + 1, -1.0);
      elementary_kernels().exp(x.data(), size);
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_EQ(x[i], 0.36787944117144233);
      }
      EXPECT_EQ(x[size], -1) << size;
    }
  });
}

TEST(Elementary, FunctionsOfOneNumberHaveTheBitsOfTheKernels) {
  for (const double x : shares(5000)) {
    EXPECT_EQ(elementary::exp(-20 * x), mapped(&ElementaryKernels::exp, {-20 * x})[0]);
    EXPECT_EQ(elementary::log(1000 * x), mapped(&ElementaryKernels::log, {1000 * x})[0]);
  }
}

/// Returns how far the number is from the truth, in units in the last place of the truth.
double units_off(double found, long double truth) {
  const auto rounded = std::abs(static_cast<double>(truth));
  return static_cast<double>(std::abs(found - truth) /
                             (std::nextafter(rounded, kUnbounded) - rounded));
}

TEST(Elementary, PowersAreAsTrueAsTheHeaderSays) {
  const auto x = shares(40000);
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    const double near_root = std::numbers::sqrt2 * (1 - 1e-3 * x[i]);  // errors are largest there
    const double base = i % 8 == 0 ? near_root : (i % 4 == 0 ? x[i] : 1 / x[i]);
    const double furthest = 700 / std::abs(std::log(base));
    for (const double y : {x[i + 1], -3 * x[i + 1], furthest * (2 * x[i + 1] - 1)}) {
      const auto truth = std::pow(static_cast<long double>(base), static_cast<long double>(y));
      const double exponent = std::abs(y * std::log(base));
      ASSERT_LT(units_off(elementary::power(base, y), truth), 2 + exponent / 8) << base << " " << y;
    }
  }
}

TEST(Elementary, PowersKnowTheirEnds) {
  EXPECT_EQ(elementary::power(0.1, 0), 1);
  EXPECT_EQ(elementary::power(0.1, 1), 0.1);
  EXPECT_EQ(elementary::power(1, 1e300), 1);
  EXPECT_EQ(elementary::power(2, 10), 1024);
  EXPECT_EQ(elementary::power(0.9, 1e300), 0);
  EXPECT_EQ(elementary::power(1.1, 1e300), kUnbounded);
  for (const double y : {1024, 1025, 1030, 1081, 1082, 1083}) {
    EXPECT_EQ(elementary::power(2, y), kUnbounded);
    EXPECT_EQ(elementary::power(0.5, y), std::ldexp(1, static_cast<int>(-y)));
  }
  EXPECT_EQ(elementary::power(10, 310), kUnbounded);
  EXPECT_EQ(elementary::power(0, 0), 1);
  EXPECT_EQ(elementary::power(0, 3), 0);
  EXPECT_EQ(elementary::power(0, -3), kUnbounded);
  EXPECT_NEAR(elementary::power(1e-310, 0.5), 1e-155, 1e-168);
  EXPECT_TRUE(std::isnan(elementary::power(0.5, kNaN)));
}

TEST(Elementary, CosinesAndSinesAreTrueToTwoUnits) {
  for (const double share : shares(40000)) {
    for (const double turns : {share, -share}) {
      const auto angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(turns);
      const auto [cosine, sine] = elementary::turned(turns);
      // Near a multiple of a quarter the long double's own angle is too coarse to compare by units.
      const bool near_zero = std::abs(std::cos(angle)) < 1e-3 || std::abs(std::sin(angle)) < 1e-3;
      if (near_zero && std::abs(turns) > 0.1) {
        ASSERT_NEAR(cosine, static_cast<double>(std::cos(angle)), 2e-16);
        ASSERT_NEAR(sine, static_cast<double>(std::sin(angle)), 2e-16);
      } else {
        ASSERT_LT(units_off(cosine, std::cos(angle)), 2) << turns;
        ASSERT_LT(units_off(sine, std::sin(angle)), 2) << turns;
      }
    }
  }
}

TEST(Elementary, ManyTurnsAreAsExactAsTheirNumber) {
  for (const double whole : {0x1p20, 0x1p49, 0x1p50, -0x1p50, 0x1p60, 1e308, -1e308}) {
    EXPECT_EQ(elementary::turned(whole).cosine, 1) << whole;
    EXPECT_EQ(elementary::turned(whole).sine, 0) << whole;
  }
  EXPECT_EQ(elementary::turned(0x1p50 + 0.25).sine, 1);
  EXPECT_EQ(elementary::turned(0x1p50 + 0.75).sine, -1);
  EXPECT_EQ(elementary::turned(-0x1p50 - 0.25).sine, -1);
  EXPECT_EQ(elementary::turned(0x1p51 + 0.5).cosine, -1);
}

TEST(Elementary, QuarterTurnsAreExact) {
  constexpr std::array<std::array<double, 2>, 4> kQuarters{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  for (int quarter = -4; quarter < 8; ++quarter) {
    const auto [cosine, sine] = elementary::turned(quarter / 4.0);
    EXPECT_EQ(cosine, kQuarters[static_cast<std::size_t>(quarter + 4) % 4][0]);
    EXPECT_EQ(sine, kQuarters[static_cast<std::size_t>(quarter + 4) % 4][1]);
  }
}

}  // namespace
}  // namespace residuum
