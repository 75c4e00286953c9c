// T-CAP, finite d: the exact expectations of |Top_k x|^2, d = 1000, k = 10,
//   exponential: sum_{i<=k} ((sum_{j>=i} 1/j)^2 + sum_{j>=i} 1/j^2) = 319.688881
//   uniform:     sum_{i<=k} (d-i+1)(d-i+2) / ((d+1)(d+2))          =   9.890549
// against means over draws within four standard errors of the sample.

#include "tests/core/sparsifiers/energy_capture.h"

#include <gtest/gtest.h>

#include <cmath>

namespace residuum {
namespace {

struct Sample {
  double mean;
  double error;
};

Sample top_ten_of_a_thousand(const test::Law& law) {
  constexpr std::uint32_t kDraws = 10000;
  double sum = 0;
  double sum_sq = 0;
  for (std::uint32_t number = 0; number < kDraws; ++number) {
    const double energy = test::top_energy(test::draw_vector(law, 1000, number), 10);
    sum += energy;
    sum_sq += energy * energy;
  }
  const double mean = sum / kDraws;
  return {.mean = mean, .error = std::sqrt((sum_sq / kDraws - mean * mean) / kDraws)};
}

TEST(EnergyCapture, OfExponentialNumbersHasItsExactExpectation) {
  const auto sample =
      top_ten_of_a_thousand([](RandomStream& random) { return random.exponential(); });

  EXPECT_NEAR(sample.mean, 319.688881, 4 * sample.error);
}

TEST(EnergyCapture, OfUniformNumbersHasItsExactExpectation) {
  const auto sample = top_ten_of_a_thousand([](RandomStream& random) { return random.uniform(); });

  EXPECT_NEAR(sample.mean, 9.890549, 4 * sample.error);
}

TEST(EnergyCapture, OfEqualMagnitudesIsTheDensity) {
  const std::vector<double> x{1, -1, 1, -1, 1, -1, 1, -1};
  for (std::size_t k = 0; k <= 8; ++k) {
    EXPECT_EQ(test::top_energy(x, k), static_cast<double>(k));
  }
}

}  // namespace
}  // namespace residuum
