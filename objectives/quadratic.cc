// The quadratic is f(w) = mean of f_p(w) over P workers, f_p(w) = (1/2) sum_j h_j w_j^2 - b^p . w,
// where h_j = L r^((j-1)/(d-1)) and b^p_j = h_j + heterogeneity * N(0,1) / sqrt(d), and every
// worker's gradient carries N(0, sigma^2/d) per coordinate. L, mu, f*, x* and sigma^2 are known
// exactly.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "core/elementary.h"
#include "objectives/noisy_function.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

struct QuadraticSettings {
  std::size_t dimension = 0;    // d
  double smoothness = 0;        // L = h_1
  double curvature_ratio = 0;   // r = h_d / h_1
  double heterogeneity = 0;     // of the b^p
  double noise_variance = 0;    // sigma^2
  std::uint64_t data_seed = 0;  // of the b^p
  std::size_t workers = 0;      // P
};

std::vector<double> curvatures(const QuadraticSettings& settings) {
  const std::size_t d = settings.dimension;
  std::vector<double> h(d, settings.smoothness);
  for (std::size_t j = 1; j < d; ++j) {
    const double exponent = static_cast<double>(j) / static_cast<double>(d - 1);
    h[j] = settings.smoothness * elementary::power(settings.curvature_ratio, exponent);
  }
  return h;
}

class Quadratic final : public Objective {
 public:
  explicit Quadratic(const QuadraticSettings& settings)
      : settings_(settings),
        h_(curvatures(settings)),
        linear_(settings.workers),
        linear_made_(settings.workers) {}

  std::size_t dimension() const override { return settings_.dimension; }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override {
    return {.name = "none",
            .samples = 0,
            .features = settings_.dimension,
            .fingerprint = "",
            .note = fmt::format("linear terms drawn from data_seed {}", settings_.data_seed)};
  }

  Facts facts() const override {
    Facts facts{.smoothness = h_.front(),
                .strong_convexity = h_.back(),
                .minimum = 0,
                .noise_variance = settings_.noise_variance,
                .minimizer = std::vector<double>(h_.size()),
                .convex = true,
                .workers_are_alike = settings_.heterogeneity == 0,
                .shares_minimizer = settings_.heterogeneity == 0};
    double minimum = 0;
    const auto& b = mean_linear();
    for (std::size_t j = 0; j < h_.size(); ++j) {
      facts.minimizer[j] = b[j] / h_[j];
      minimum -= 0.5 * b[j] * facts.minimizer[j];
    }
    facts.minimum = minimum;
    return facts;
  }

  /// Returns L of f, because all workers have the same curvatures.
  std::optional<double> shard_smoothness(std::span<const std::uint32_t> /*shard*/) const override {
    return h_.front();
  }
  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> /*shard*/) const override {
    return h_.back();
  }

  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), 0.0);
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    noisy_gradient(draw, w, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    noisy_gradient(draw, w, gradient);
  }

  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& at,
                  std::span<double> gradient) const override {
    const auto w = at.w;
    assert(static_cast<std::size_t>(workers) == settings_.workers);
    const auto& b = linear(worker);
    const double share = 1 / static_cast<double>(workers);
    double value = 0;
    for (std::size_t j = 0; j < h_.size(); ++j) {
      value += (0.5 * h_[j] * w[j] - b[j]) * w[j];
    }
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] += share * (h_[j] * w[j] - b[j]);
    }
    return share * value;
  }

  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

 private:
  /// Draws b^p of worker p.
  std::vector<double> draw_linear(std::size_t p) const {
    RandomStream random(settings_.data_seed, Purpose::synthetic, static_cast<std::uint32_t>(p), 0);
    const double scale = settings_.heterogeneity / std::sqrt(static_cast<double>(h_.size()));
    std::vector<double> b(h_);
    for (double& b_j : b) {
      b_j += scale * random.normal();
    }
    return b;
  }

  /// Returns b^p, drawn once: a process needs memory for its own workers, not for all P.
  const std::vector<double>& linear(int worker) const {
    const auto p = static_cast<std::size_t>(worker);
    assert(worker >= 0 && p < linear_.size());
    std::call_once(linear_made_[p], [&] { linear_[p] = draw_linear(p); });
    return linear_[p];
  }

  /// Returns the mean of all b^p. It takes P d draws, so it is not computed for a study that is
  /// only planned.
  const std::vector<double>& mean_linear() const {
    std::call_once(mean_linear_made_, [&] {
      mean_linear_.assign(h_.size(), 0.0);
      for (std::size_t p = 0; p < settings_.workers; ++p) {
        const auto b = draw_linear(p);
        for (std::size_t j = 0; j < b.size(); ++j) {
          mean_linear_[j] += b[j] / static_cast<double>(settings_.workers);
        }
      }
    });
    return mean_linear_;
  }

  template <class Real>
  void noisy_gradient(const Draw& draw, std::span<const Real> w, std::span<Real> gradient) const {
    const auto& b = linear(draw.worker);
    assert(w.size() == h_.size() && gradient.size() == h_.size());
    for (std::size_t j = 0; j < h_.size(); ++j) {
      gradient[j] = static_cast<Real>(h_[j] * static_cast<double>(w[j]) - b[j]);
    }
    if (settings_.noise_variance == 0) {
      return;
    }
    const double deviation = std::sqrt(settings_.noise_variance / static_cast<double>(h_.size()));
    NormalStream noise(RandomStream(draw.seed,
                                    Purpose::noise,
                                    static_cast<std::uint32_t>(draw.worker),
                                    static_cast<std::uint32_t>(draw.iteration)));
    for (Real& g_j : gradient) {
      g_j += static_cast<Real>(deviation * noise.next());
    }
    if (!draw.first_half) {
      return;
    }
    NormalStream difference(RandomStream(draw.seed,
                                         Purpose::half_noise,
                                         static_cast<std::uint32_t>(draw.worker),
                                         static_cast<std::uint32_t>(draw.iteration)));
    for (Real& g_j : gradient) {
      g_j += static_cast<Real>(deviation * difference.next());
    }
  }

  QuadraticSettings settings_;
  std::vector<double> h_;
  mutable std::vector<std::vector<double>> linear_;  // b^p, empty until worker p is asked for
  mutable std::vector<std::once_flag> linear_made_;
  mutable std::vector<double> mean_linear_;
  mutable std::once_flag mean_linear_made_;
};

}  // namespace

/// Reads the keys dimension (200), smoothness L (1), curvature_ratio h_d/h_1 (0.01), heterogeneity
/// (0.5), noise_variance sigma^2 (4), data_seed (1).
std::unique_ptr<Objective> make_quadratic(const Section& section, const ObjectiveContext& context) {
  const auto dimension = section.integer("dimension", 200);
  require(dimension >= 1 && dimension < (std::int64_t{1} << 32),
          "{} must be from 1 to 2^32 - 1, got {}",
          section.where("dimension"),
          dimension);
  const auto at_least_0 = [&](const char* key, double fallback) {
    const double value = section.number(key, fallback);
    require(value >= 0, "{} must be at least 0, got {}", section.where(key), value);
    return value;
  };
  const double smoothness = section.number("smoothness", 1.0);
  require(smoothness > 0, "{} must be positive, got {}", section.where("smoothness"), smoothness);
  const double ratio = section.fraction("curvature_ratio", 0.01);
  const auto data_seed = section.integer("data_seed", 1);
  require(data_seed >= 0, "{} must be at least 0, got {}", section.where("data_seed"), data_seed);
  return std::make_unique<Quadratic>(
      QuadraticSettings{.dimension = static_cast<std::size_t>(dimension),
                        .smoothness = smoothness,
                        .curvature_ratio = ratio,
                        .heterogeneity = at_least_0("heterogeneity", 0.5),
                        .noise_variance = at_least_0("noise_variance", 4.0),
                        .data_seed = static_cast<std::uint64_t>(data_seed),
                        .workers = static_cast<std::size_t>(context.workers.get())});
}

}  // namespace residuum
