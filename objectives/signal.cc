// The signal is the linear f(w) = s <mu, w>; worker p gets the gradient G^p = s mu + nu^p with
// fresh noise nu^p in every iteration. The entries of mu (drawn once) and of nu are independent, of
// mean 0 and variance 1, normal or Laplace; s is the ratio of signal to noise. Without feedback and
// with step 1 the accumulators are a^p = s mu + nu^p, for which delta is predicted.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "objectives/noisy_function.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

struct SignalSettings {
  std::size_t dimension = 0;    // d
  double signal_to_noise = 0;   // s
  bool laplace = false;         // the law of all entries
  std::uint64_t data_seed = 0;  // the seed of mu
};

/// vector += independent numbers of mean 0 and variance 1.
template <class Real>
void add_numbers(bool laplace, const RandomStream& stream, std::span<Real> vector) {
  if (!laplace) {
    NormalStream normal(stream);
    for (Real& value : vector) {
      value += static_cast<Real>(normal.next());
    }
    return;
  }
  RandomStream random = stream;
  for (Real& value : vector) {
    const double scale =
        random.bits() % 2 == 0 ? 1 / std::numbers::sqrt2 : -1 / std::numbers::sqrt2;
    value += static_cast<Real>(scale * random.exponential());
  }
}

class Signal final : public Objective {
 public:
  explicit Signal(const SignalSettings& settings)
      : settings_(settings), signal_(settings.dimension) {
    const RandomStream stream(settings.data_seed, Purpose::synthetic, 0, 0);
    add_numbers<double>(settings.laplace, stream, signal_);
    for (double& value : signal_) {
      value *= settings.signal_to_noise;
    }
  }

  std::size_t dimension() const override { return signal_.size(); }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override {
    return {.name = "none",
            .samples = 0,
            .features = signal_.size(),
            .fingerprint = "",
            .note = fmt::format("signal drawn from data_seed {}", settings_.data_seed)};
  }

  /// Returns the facts of a linear function: its gradient is constant, and it has no minimum.
  Facts facts() const override {
    return {.smoothness = 0.0,
            .strong_convexity = 0.0,
            .minimum = std::nullopt,
            .noise_variance = static_cast<double>(signal_.size()),
            .minimizer = {},
            .convex = true};
  }

  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), 0.0);
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> /*w*/,
                           std::span<float> gradient) const override {
    noisy_signal(draw, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> /*w*/,
                           std::span<double> gradient) const override {
    noisy_signal(draw, gradient);
  }

  double evaluate(int /*worker*/,
                  int workers,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& at,
                  std::span<double> gradient) const override {
    const auto w = at.w;
    double value = 0;
    for (std::size_t j = 0; j < signal_.size(); ++j) {
      value += signal_[j] * w[j];
    }
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] += signal_[j] / workers;
    }
    return value / workers;
  }

  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

 private:
  template <class Real>
  void noisy_signal(const Draw& draw, std::span<Real> gradient) const {
    assert(gradient.size() == signal_.size());
    std::transform(signal_.begin(), signal_.end(), gradient.begin(), [](double value) {
      return static_cast<Real>(value);
    });
    const auto stream = [&](Purpose purpose) {
      return RandomStream(draw.seed,
                          purpose,
                          static_cast<std::uint32_t>(draw.worker),
                          static_cast<std::uint32_t>(draw.iteration));
    };
    add_numbers(settings_.laplace, stream(Purpose::noise), gradient);
    if (draw.first_half) {
      add_numbers(settings_.laplace, stream(Purpose::half_noise), gradient);
    }
  }

  SignalSettings settings_;
  std::vector<double> signal_;  // s mu
};

}  // namespace

/// Reads the keys dimension (100000), signal_to_noise s (0), law ("normal", or "laplace"),
/// data_seed (1).
std::unique_ptr<Objective> make_signal(const Section& section,
                                       const ObjectiveContext& /*context*/) {
  const auto dimension = section.integer("dimension", 100000);
  require(dimension >= 1 && dimension < (std::int64_t{1} << 32),
          "{} must be from 1 to 2^32 - 1, got {}",
          section.where("dimension"),
          dimension);
  const double ratio = section.number("signal_to_noise", 0.0);
  require(ratio >= 0, "{} must be at least 0, got {}", section.where("signal_to_noise"), ratio);
  const bool laplace = section.choice("law", {"normal", "laplace"}, "normal") == "laplace";
  const auto data_seed = section.integer("data_seed", 1);
  require(data_seed >= 0, "{} must be at least 0, got {}", section.where("data_seed"), data_seed);
  return std::make_unique<Signal>(
      SignalSettings{.dimension = static_cast<std::size_t>(dimension),
                     .signal_to_noise = ratio,
                     .laplace = laplace,
                     .data_seed = static_cast<std::uint64_t>(data_seed)});
}

}  // namespace residuum
