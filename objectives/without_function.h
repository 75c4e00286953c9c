#pragma once
// WithoutFunction is an objective of gradients that come from elsewhere, whatever the model is, and
// of which no f is known. So there are no samples, no loss and no test.

#include <algorithm>
#include <cassert>

#include "core/objective.h"

namespace residuum {

/// `Own`, which is derived of it, has take(draw, gradient) for both precisions.
template <class Own>
class WithoutFunction : public Objective {
 public:
  bool has_function() const final { return false; }
  std::size_t samples() const final { return 0; }
  std::span<const std::int32_t> labels() const final { return {}; }

  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const final {
    std::fill(w.begin(), w.end(), 0.0);
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> /*w*/,
                           std::span<float> gradient) const final {
    take_whole(draw, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> /*w*/,
                           std::span<double> gradient) const final {
    take_whole(draw, gradient);
  }

  double evaluate(int /*worker*/,
                  int /*workers*/,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& /*at*/,
                  std::span<double> /*gradient*/) const final {
    assert(false && "an objective without a function is not evaluated");
    return 0;
  }

  std::optional<TestResult> test(const Point& /*at*/) const final { return std::nullopt; }

 private:
  template <class Real>
  void take_whole(const Draw& draw, std::span<Real> gradient) const {
    assert(!draw.first_half);
    static_cast<const Own&>(*this).take(draw, gradient);
  }
};

}  // namespace residuum
