// Exponentials and logarithms are as near to the true ones as the header says, on every target.

#include "core/vectors/elementary_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
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
  std::vector<double> x = shares(20001);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] *= i % 4 < 2 ? -750 : -1;  // half of them down to where exp is 0
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
    x[i] = i % 3 == 0 ? std::exp(700 * x[i]) : 1 + x[i];
  }
  check(&ElementaryKernels::log, x, [](long double v) { return std::log(v); });
}

TEST(ElementaryKernels, KnowTheEndsOfTheirRanges) {
  test::for_each_target([] {
    constexpr double kLeast = std::numeric_limits<double>::denorm_min();
    constexpr double kMost = std::numeric_limits<double>::max();
    EXPECT_EQ(mapped(&ElementaryKernels::exp, {0.0, -0.0, -746, -1e308, -kUnbounded, -745.13}),
              (std::vector<double>{1, 1, 0, 0, 0, kLeast}));
    EXPECT_EQ(mapped(&ElementaryKernels::log_one_plus, {0, kLeast, 1}),
              (std::vector<double>{0, kLeast, 0x1.62e42fefa39efp-1}));
    EXPECT_EQ(mapped(&ElementaryKernels::log, {1, 2, kMost}),
              (std::vector<double>{0, 0x1.62e42fefa39efp-1, 0x1.62e42fefa39efp9}));
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

}  // namespace
}  // namespace residuum
