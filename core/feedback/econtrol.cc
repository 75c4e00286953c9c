// EControl (Gao, Islamov, Stich, "EControl: Fast Distributed Optimization with Compression and
// Error Control", ICLR 2024, algorithm 1) sums what the estimates h^p of EF21 have missed, and lets
// a part of that sum, `error_weight` = a, into the messages:
//   a^p = a e^p + G^p - h^p,  s^p = C(a^p),  e^p += G^p - h^p - s^p,  h^p += s^p,  w -= eta mean
//   h^p,
// with e^p = h^p = 0 at the start. As e^p grows by what the update misses, w - z = eta mean e^p, as
// with error feedback in units of gradients. a = 0 would be EF21.
//
// The memory of a worker holds a^p, in whose place e^p comes at the residual update, then h^p, and
// then the e^p that a^p was formed of.

#include <algorithm>

#include "core/feedback/put_back.h"
#include "core/vectors/fused.h"

namespace residuum {
namespace {

class EControl final : public FeedbackFor<EControl> {
 public:
  explicit EControl(double error_weight) : error_weight_(error_weight) {}

  template <class Real>
  PassNorms accumulate(std::span<Real> memory,
                       std::span<const Real> gradient,
                       double /*step_size*/,
                       const Pass& pass) const {
    const std::size_t d = gradient.size();
    const std::span<Real> accumulator = memory.first(d);
    const std::span<const Real> estimate = memory.subspan(d, d);
    const std::span<Real> error = memory.subspan(2 * d);
    std::copy(accumulator.begin(), accumulator.end(), error.begin());
    for (std::size_t i = 0; i < d; ++i) {
      accumulator[i] = static_cast<Real>(error_weight_) * error[i] - estimate[i];
    }
    PassNorms norms = residuum::accumulate(accumulator, gradient, Real{1}, pass);
    norms.residual_sq = norm_sq(std::span<const Real>(error), pass.segments);
    return norms;
  }

  template <class Real>
  void update_residual(std::span<Real> memory,
                       const MessageOutcome<Real>& outcome,
                       ResidualUpdate<Real>& residual_update) const {
    const std::size_t d = memory.size() / 3;
    const std::span<Real> residual = memory.first(d);
    take_into_estimate(residual, memory.subspan(d, d), outcome, residual_update);
    const std::span<const Real> error = memory.subspan(2 * d);
    const auto rest = static_cast<Real>(1 - error_weight_);
    for (std::size_t i = 0; i < d; ++i) {
      residual[i] += rest * error[i];
    }
  }

  Units units() const override { return Units::gradient; }
  std::size_t vectors() const override { return 3; }
  bool estimates() const override { return true; }
  std::optional<double> error_weight() const override { return error_weight_; }
  // An accumulator does not hold the whole e^p, so that it tells the lost mass by lists alone.
  bool needs_lists() const override { return true; }
  bool conserves(const AggregatorLaw& /*aggregator*/,
                 bool /*sends_everything*/,
                 int /*workers*/) const override {
    return true;
  }

 private:
  double error_weight_;
};

}  // namespace

std::unique_ptr<Feedback> make_econtrol(const Section& section) {
  return std::make_unique<EControl>(section.fraction("error_weight", 0.001));
}

}  // namespace residuum
