// T-CAP, d = 10^6: the shares that the limit laws give, to 1 % of the share.

#include <gtest/gtest.h>

#include "tests/core/sparsifiers/energy_capture.h"

namespace residuum {
namespace {

constexpr std::size_t kDimension = 1000000;

void expect_share(const test::Law& law, double density, double share) {
  const auto x = test::draw_vector(law, kDimension, 0);
  const auto k = static_cast<std::size_t>(density * kDimension + 0.5);
  EXPECT_NEAR(test::top_energy(x, k) / norm_sq<double>(x), share, 0.01 * share)
      << "density " << density;
}

TEST(EnergyCaptureAtAMillion, OfNormalNumbers) {
  const auto law = [](RandomStream& random) { return random.normal(); };
  expect_share(law, 0.1, 0.439286);
  expect_share(law, 0.01, 0.084492);
  expect_share(law, 0.001, 0.012696);
}

TEST(EnergyCaptureAtAMillion, OfExponentialNumbers) {
  const auto law = [](RandomStream& random) { return random.exponential(); };
  expect_share(law, 0.1, 0.595353);
  expect_share(law, 0.01, 0.162090);
  expect_share(law, 0.001, 0.031766);
}

TEST(EnergyCaptureAtAMillion, OfUniformNumbers) {
  const auto law = [](RandomStream& random) { return random.uniform(); };
  expect_share(law, 0.1, 0.271000);
  expect_share(law, 0.01, 0.029701);
  expect_share(law, 0.001, 0.002997);
}

}  // namespace
}  // namespace residuum
