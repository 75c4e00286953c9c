#pragma once
// This objective counts the seconds spent in it; the rest of a training's time is the toolkit's.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/objective.h"

namespace residuum {

/// It is for one thread. The objective must outlive it.
class ClockedObjective final : public Objective {
 public:
  explicit ClockedObjective(const Objective& objective) : objective_(objective) {}

  /// Seconds spent in gradients, evaluations and tests so far.
  double seconds() const { return seconds_; }

  std::size_t dimension() const override { return objective_.dimension(); }
  std::vector<Layer> layers() const override { return objective_.layers(); }
  std::size_t samples() const override { return objective_.samples(); }
  std::span<const std::int32_t> labels() const override { return objective_.labels(); }
  DataInfo data() const override { return objective_.data(); }
  Facts facts() const override { return objective_.facts(); }
  std::optional<double> shard_smoothness(std::span<const std::uint32_t> shard) const override {
    return objective_.shard_smoothness(shard);
  }
  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> shard) const override {
    return objective_.shard_strong_convexity(shard);
  }
  std::span<const std::uint32_t> evaluated() const override { return objective_.evaluated(); }
  std::size_t statistics() const override { return objective_.statistics(); }
  void initial_statistics(std::span<double> statistics) const override {
    objective_.initial_statistics(statistics);
  }
  void initial_point(std::uint64_t seed, std::span<double> w) const override {
    objective_.initial_point(seed, w);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    clocked([&] { objective_.stochastic_gradient(draw, w, gradient); });
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    clocked([&] { objective_.stochastic_gradient(draw, w, gradient); });
  }
  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override {
    double value = 0;
    clocked([&] { value = objective_.evaluate(worker, workers, shard, at, gradient); });
    return value;
  }
  std::optional<TestResult> test(const Point& at) const override {
    std::optional<TestResult> result;
    clocked([&] { result = objective_.test(at); });
    return result;
  }

 private:
  template <class Work>
  void clocked(const Work& work) const {
    const auto before = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - before;
    seconds_ += spent.count();
  }

  const Objective& objective_;
  mutable double seconds_ = 0;
};

}  // namespace residuum
