// The fast normal numbers against the normal distribution.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "objectives/noisy_function.h"

namespace residuum {
namespace {

constexpr int kDraws = 4'000'000;

std::vector<double> draws() {
  NormalStream stream(RandomStream(11, Purpose::test, 0, 0));
  std::vector<double> x(kDraws);
  for (double& x_i : x) {
    x_i = stream.next();
  }
  return x;
}

double probability_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(NormalStream, HasTheMomentsOfTheNormalDistribution) {
  std::array<double, 7> moment{};
  for (const double x : draws()) {
    double power = 1;
    for (double& m : moment) {
      m += power / kDraws;
      power *= x;
    }
  }
  // Var x^k = E x^2k - (E x^k)^2: 1, 2, 15, 96, 945, 10170 for k = 1..6.
  EXPECT_NEAR(moment[1], 0, 6 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(moment[2], 1, 6 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(moment[3], 0, 6 * std::sqrt(15.0 / kDraws));
  EXPECT_NEAR(moment[4], 3, 6 * std::sqrt(96.0 / kDraws));
  EXPECT_NEAR(moment[5], 0, 6 * std::sqrt(945.0 / kDraws));
  EXPECT_NEAR(moment[6], 15, 6 * std::sqrt(10170.0 / kDraws));
}

TEST(NormalStream, FillsEveryCellAsOftenAsItShould) {
  // Cells of width 0.1 on [-5, 5] and the two ends; every count within 6 standard deviations. The
  // tail beyond 3.44 and the borders of the layers have cells of their own.
  constexpr int kCells = 102;
  std::array<int, kCells> count{};
  for (const double x : draws()) {
    const double cell = std::floor(x * 10) + 51;
    ++count[static_cast<std::size_t>(std::min(101.0, std::max(0.0, cell)))];
  }
  for (int cell = 0; cell < kCells; ++cell) {
    const double upper = cell == kCells - 1 ? 1 : probability_below((cell - 50) / 10.0);
    const double lower = cell == 0 ? 0 : probability_below((cell - 51) / 10.0);
    const double expected = kDraws * (upper - lower);
    EXPECT_NEAR(count[static_cast<std::size_t>(cell)], expected, 6 * std::sqrt(expected) + 6)
        << "cell " << cell;
  }
}

TEST(NormalStream, SuccessiveNumbersAreUncorrelated) {
  const auto x = draws();
  double product = 0;
  double product_of_squares = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    product += x[i] * x[i - 1] / kDraws;
    product_of_squares += (x[i] * x[i] - 1) * (x[i - 1] * x[i - 1] - 1) / kDraws;
  }
  EXPECT_NEAR(product, 0, 6 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(product_of_squares, 0, 6 * std::sqrt(4.0 / kDraws));
}

}  // namespace
}  // namespace residuum
