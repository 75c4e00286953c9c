// The base of problems of one's own, on f(w) = |w - (1, ..., d)|^2 / 2 with noise N(0, 1).

#include "objectives/noisy_function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/objectives/convex/support.h"

namespace residuum {
namespace {

class Distance final : public NoisyFunction {
 public:
  using NoisyFunction::NoisyFunction;
  double value(std::span<const double> w, std::span<double> gradient) const override {
    double f = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      gradient[i] = w[i] - static_cast<double>(i + 1);
      f += gradient[i] * gradient[i] / 2;
    }
    return f;
  }
  void add_noise(RandomStream& random,
                 std::span<const double> /*w*/,
                 std::span<double> gradient) const override {
    for (double& g_i : gradient) {
      g_i += random.normal();
    }
  }
};

std::vector<double> gradient_of(const Distance& f, std::uint64_t iteration, bool first_half) {
  std::vector<double> gradient(f.dimension());
  const std::vector<double> w(f.dimension());
  f.stochastic_gradient(
      Draw{.seed = 1, .worker = 2, .iteration = iteration, .first_half = first_half}, w, gradient);
  return gradient;
}

TEST(NoisyFunction, IsSharedByItsWorkers) {
  const Distance f(3);
  const std::vector<double> w{1, 1, 1};
  std::vector<double> gradient(3);
  double sum = 0;
  for (int worker = 0; worker < 4; ++worker) {
    sum += f.evaluate(worker, 4, {}, w, gradient);
  }
  EXPECT_DOUBLE_EQ(sum, 2.5);  // (0 + 1 + 4) / 2
  EXPECT_EQ(gradient, (std::vector<double>{0, -1, -2}));
  EXPECT_DOUBLE_EQ(f.evaluate(0, 1, {}, w, {}), 2.5);
}

// Over n draws the mean of a coordinate is off by 1/sqrt(n); five times that is allowed. The halves
// whose mean is the whole draw differ from it by noise of the same law.
TEST(NoisyFunction, DrawsUnbiasedGradientsWhoseHalvesAreIndependent) {
  constexpr std::uint64_t kDraws = 10000;
  const Distance f(2);
  double mean = 0;
  double product = 0;
  double half_variance = 0;
  for (std::uint64_t t = 0; t < kDraws; ++t) {
    const double whole = gradient_of(f, t, false)[1] + 2;  // the gradient at 0 is (-1, -2)
    const double half = gradient_of(f, t, true)[1] + 2;
    const double other = 2 * whole - half;
    mean += whole / kDraws;
    product += half * other / kDraws;
    half_variance += half * half / kDraws;
  }
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(half_variance, 2, 0.2);
  EXPECT_NEAR(product, 0, 5 * 2 / std::sqrt(kDraws));
}

TEST(NoisyFunction, RoundsItsGradientsToFloats) {
  const Distance f(2);
  std::vector<float> gradient(2);
  const std::vector<float> w{0, 0};
  f.stochastic_gradient(Draw{.seed = 1, .worker = 2, .iteration = 5}, w, gradient);
  const auto exact = gradient_of(f, 5, false);
  EXPECT_EQ(gradient[0], static_cast<float>(exact[0]));
  EXPECT_EQ(gradient[1], static_cast<float>(exact[1]));
}

TEST(NoisyFunction, RefusesADimensionThatIsNone) {
  EXPECT_EQ(test::error_of([] { Distance f(0); }),
            "the dimension of an objective must be from 1 to 4294967295, got 0");
}

}  // namespace
}  // namespace residuum
