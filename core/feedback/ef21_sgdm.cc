// In EF21-SGDM (Fatkhullin, Tyurin, Richtarik, "Momentum Provably Improves Error Feedback!",
// NeurIPS 2023, algorithm 1) the estimate g^p of EF21 follows an average v^p of the worker's
// gradients,
//   v^p = (1 - a) v^p + a G^p,  a^p = v^p - g^p,  s^p = C(a^p),  g^p += s^p,  w -= eta mean g^p,
// a being `averaging` in (0, 1]; a = 1 is EF21.
//
// At the start v^p is the worker's first gradient, as in the paper with an initial batch of the
// size of all others, and g^p = 0 as in EF21, so that the first message is that of any other
// iteration. In the paper's count g^p_0 is the estimate after that message. E|v^p_0 - grad
// f_p(w_0)|^2 is then the variance of one gradient; v^p = 0 would add (1 - a)^2 |grad f_p(w_0)|^2
// to it.
//
// The memory of a worker holds the residual v^p - g^p, then v^p, then g^p.

#include <array>
#include <numeric>

#include "core/feedback/put_back.h"
#include "core/vectors/fused.h"

namespace residuum {
namespace {

class Ef21Sgdm final : public FeedbackFor<Ef21Sgdm> {
 public:
  explicit Ef21Sgdm(double averaging) : averaging_(averaging) {}

  void begin(std::span<float> memory, std::span<const float> first_gradient) const override {
    start_average(memory, first_gradient);
  }
  void begin(std::span<double> memory, std::span<const double> first_gradient) const override {
    start_average(memory, first_gradient);
  }

  template <class Real>
  PassNorms accumulate(std::span<Real> memory,
                       std::span<const Real> gradient,
                       double /*step_size*/,
                       const Pass& pass) const {
    const std::size_t d = gradient.size();
    const std::span<Real> average = memory.subspan(d, d);
    const double change_sq = take_into_average(average, gradient);
    const std::span<const Real> estimate = memory.subspan(2 * d);
    PassNorms norms = subtract(memory.first(d), std::span<const Real>(average), estimate, pass);
    norms.average_sq = norms.gradient_sq;  // the gradient of the pass was v
    norms.average_change_sq = change_sq;
    norms.gradient_sq = norm_sq(gradient, pass.segments);
    return norms;
  }

  template <class Real>
  void update_residual(std::span<Real> memory,
                       const MessageOutcome<Real>& outcome,
                       ResidualUpdate<Real>& residual_update) const {
    const std::size_t d = memory.size() / 3;
    take_into_estimate(memory.first(d), memory.subspan(2 * d), outcome, residual_update);
  }

  Units units() const override { return Units::gradient; }
  std::size_t vectors() const override { return 3; }
  bool has_velocity() const override { return true; }
  bool estimates() const override { return true; }
  std::optional<double> averaging() const override { return averaging_; }
  bool conserves(const AggregatorLaw& /*aggregator*/,
                 bool /*sends_everything*/,
                 int /*workers*/) const override {
    return true;
  }

 private:
  template <class Real>
  static void start_average(std::span<Real> memory, std::span<const Real> first_gradient) {
    std::copy(first_gradient.begin(),
              first_gradient.end(),
              memory.subspan(first_gradient.size()).begin());
  }

  /// v := (1 - a) v + a G. Returns the squared norm of the change of v, summed in eight lanes.
  template <class Real>
  double take_into_average(std::span<Real> average, std::span<const Real> gradient) const {
    const auto kept = static_cast<Real>(1 - averaging_);
    const auto taken = static_cast<Real>(averaging_);
    std::array<double, 8> lanes{};
    for (std::size_t i = 0; i < average.size(); ++i) {
      const Real before = average[i];
      average[i] = kept * before + taken * gradient[i];
      const double change = static_cast<double>(average[i]) - static_cast<double>(before);
      lanes[i % lanes.size()] += change * change;
    }
    return std::accumulate(lanes.begin(), lanes.end(), 0.0);
  }

  double averaging_;
};

}  // namespace

std::unique_ptr<Feedback> make_ef21_sgdm(const Section& section) {
  return std::make_unique<Ef21Sgdm>(section.fraction("averaging", 0.1));
}

}  // namespace residuum
