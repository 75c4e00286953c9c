// A problem of one's own: the sum of sqrt(1 + (w_i - 1)^2) - 1, with Gaussian noise in its
// gradient.
#include <cmath>

#include "objectives/noisy_function.h"
using namespace residuum;

struct PseudoHuber final : NoisyFunction {
  explicit PseudoHuber(const Section& section)
      : NoisyFunction(section.integer("dimension", 100)), noise(section.number("noise", 0.1)) {}
  double value(std::span<const double> w, std::span<double> gradient) const override {
    double f = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double root = std::sqrt(1 + (w[i] - 1) * (w[i] - 1));
      f += root - 1;
      gradient[i] = (w[i] - 1) / root;
    }
    return f;
  }
  void add_noise(RandomStream& random,
                 std::span<const double>,
                 std::span<double> g) const override {
    for (double& g_i : g) {
      g_i += noise * random.normal();
    }
  }
  Facts facts() const override {
    Facts facts;
    facts.smoothness = 1, facts.minimum = 0, facts.convex = true;
    facts.noise_variance = noise * noise * double(dimension());
    return facts;
  }
  const double noise;
};

const RegisteredObjective kPseudoHuber(
    {"pseudo-huber", "smooth |w - 1|", "mine", R"({"dimension": 20})", make_own<PseudoHuber>});
