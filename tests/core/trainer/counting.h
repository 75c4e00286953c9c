#pragma once
// An objective whose losses are its running statistics.

#include <optional>
#include <span>
#include <vector>

#include "core/objective.h"

namespace residuum::test {

/// Worker p's two statistics start at (0, 1); each batch adds p + 0.1 to the first and halves the
/// second. Losses are the first of the averages they are given.
class Counting final : public Objective {
 public:
  std::size_t dimension() const override { return 1; }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  std::size_t statistics() const override { return 2; }
  void initial_statistics(std::span<double> statistics) const override { statistics[1] = 1; }
  void initial_point(std::uint64_t, std::span<double> w) const override { w[0] = 1; }
  void stochastic_gradient(const Draw&, std::span<const float>, std::span<float>) const override {}
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    gradient[0] = w[0];
    if (!draw.statistics.empty()) {
      draw.statistics[0] += draw.worker + 0.1;
      draw.statistics[1] /= 2;
    }
  }
  double evaluate(int,
                  int workers,
                  std::span<const std::uint32_t>,
                  const Point& at,
                  std::span<double>) const override {
    return at.statistics[0] / workers;
  }
  std::optional<TestResult> test(const Point& at) const override {
    return TestResult{.loss = at.statistics[0], .accuracy = at.statistics[1]};
  }
};

}  // namespace residuum::test
