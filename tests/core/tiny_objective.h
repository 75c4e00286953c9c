#pragma once
// Objectives small enough to be followed by hand.

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/objective.h"
#include "core/random/random.h"

namespace residuum::test {

/// An objective that is a start and a rule for the gradients; f is the mean over workers.
class TinyObjective final : public Objective, public DeviceGradients {
 public:
  /// gradient := the stochastic gradient of draw.worker at w.
  using Gradient =
      std::function<void(const Draw& draw, std::span<const double> w, std::span<double> gradient)>;

  TinyObjective(std::vector<double> start,
                Gradient gradient,
                std::size_t samples = 0,
                std::vector<Layer> layers = {})
      : start_(std::move(start)),
        gradient_(std::move(gradient)),
        samples_(samples),
        layers_(std::move(layers)) {}

  /// From now on gradients are computed on a device, which is the stand-in.
  void compute_there() { is_there_ = true; }
  const DeviceGradients* on_device() const override { return is_there_ ? this : nullptr; }
  int device_index() const override { return 0; }
  void gradient_there(const Draw& draw, DeviceSpan w, DeviceRoom gradient) const override {
    stochastic_gradient(draw,
                        std::span<const float>(w.data, w.size),
                        std::span<float>(gradient.data, gradient.size));
  }

  std::size_t dimension() const override { return start_.size(); }
  /// Cuts w into layers of these sizes; ready_fractions() returns `ready`.
  void cut_into_layers(const std::vector<std::size_t>& sizes, std::vector<double> ready = {}) {
    std::size_t offset = 0;
    for (const std::size_t size : sizes) {
      layers_.push_back({"", {static_cast<std::int64_t>(size)}, offset, size});
      offset += size;
    }
    ready_ = std::move(ready);
  }
  std::vector<Layer> layers() const override {
    return layers_.empty() ? Objective::layers() : layers_;
  }
  std::vector<double> ready_fractions(std::size_t /*samples*/) const override { return ready_; }
  std::size_t samples() const override { return samples_; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }

  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::copy(start_.begin(), start_.end(), w.begin());
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    const std::vector<double> wide_w(w.begin(), w.end());
    std::vector<double> wide(gradient.size());
    gradient_(draw, wide_w, wide);
    std::transform(wide.begin(), wide.end(), gradient.begin(), [](double value) {
      return static_cast<float>(value);
    });
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    gradient_(draw, w, gradient);
  }

  /// Worker p's part of f is (p + 1) |w|^2, so that the order of the sum is felt.
  double evaluate(int worker,
                  int /*workers*/,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& at,
                  std::span<double> gradient) const override {
    const auto w = at.w;
    double sum = 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      sum += (worker + 1) * w[j] * w[j];
      if (!gradient.empty()) {
        gradient[j] += 2 * (worker + 1) * w[j];
      }
    }
    return sum;
  }

  std::optional<TestResult> test(const Point& at) const override {
    return TestResult{.loss = at.w[0], .accuracy = 0.5};
  }

 private:
  std::vector<double> start_;
  Gradient gradient_;
  std::size_t samples_;
  std::vector<Layer> layers_;
  std::vector<double> ready_;
  bool is_there_ = false;
};

/// The stochastic gradient is c at every w and worker; w_0 = start.
inline TinyObjective constant_gradient(std::vector<double> start, std::vector<double> c) {
  return {std::move(start),
          [c = std::move(c)](
              const Draw& /*draw*/, std::span<const double> /*w*/, std::span<double> gradient) {
            std::copy(c.begin(), c.end(), gradient.begin());
          }};
}

/// f_p = (1/2) sum_j h_j (w_j - c^p_j)^2 with normal noise on the gradient; h_j from 1 down to 0.1,
/// centres c^p_j normal.
inline TinyObjective noisy_quadratic(std::size_t d, double noise, std::vector<Layer> layers = {}) {
  auto gradient = [d, noise](const Draw& draw, std::span<const double> w, std::span<double> g) {
    RandomStream centres(7, Purpose::test, static_cast<std::uint32_t>(draw.worker), 0);
    RandomStream random(draw.seed,
                        Purpose::noise,
                        static_cast<std::uint32_t>(draw.worker),
                        static_cast<std::uint32_t>(draw.iteration));
    for (std::size_t j = 0; j < d; ++j) {
      const double h = 1 - 0.9 * static_cast<double>(j) / static_cast<double>(d);
      g[j] = h * (w[j] - centres.normal()) + noise * random.normal();
    }
  };
  return {std::vector<double>(d, 0.5), gradient, 0, std::move(layers)};
}

}  // namespace residuum::test
