// In EF21 (Richtarik, Sokolov, Fatkhullin, NeurIPS 2021) every worker keeps an estimate g^p of its
// gradient and sends the compressed change,
//   a^p = G^p - g^p,  s^p = C(a^p),  g^p += s^p,  w -= eta mean g^p,  g^p = 0 at the start.
// The residual e^p = G^p - g^p is the error of the estimate; its mean square is the distortion G_t
// of the theory. Nothing is lost, whatever the aggregator rejects (put_back.h).
//
// Workers that take no part in a version keep their g^p, and the model moves by the mean over all
// (EF21-PP: Fatkhullin, Sokolov, Gorbunov, Li, Richtarik, "EF21 with Bells & Whistles", 2021). As
// here g^p = 0 at the start, a worker counts as one of gradient 0 until it takes part.

#include "core/feedback/put_back.h"

namespace residuum {
namespace {

class Ef21 final : public FeedbackFor<Ef21>, public DeviceFeedback {
 public:
  template <class Real>
  PassNorms accumulate(std::span<Real> memory,
                       std::span<const Real> gradient,
                       double /*step_size*/,
                       const Pass& pass) const {
    const std::span<const Real> estimate = memory.subspan(gradient.size());
    return subtract(memory.first(gradient.size()), gradient, estimate, pass);
  }

  template <class Real>
  void update_residual(std::span<Real> memory,
                       const MessageOutcome<Real>& outcome,
                       ResidualUpdate<Real>& residual_update) const {
    const std::size_t d = memory.size() / 2;
    take_into_estimate(memory.first(d), memory.subspan(d), outcome, residual_update);
  }

  const DeviceFeedback* on_device() const override { return this; }
  void start_accumulate_there(DeviceVectors& memory,
                              DeviceSpan gradient,
                              double /*step_size*/,
                              std::span<const Segment> segments) const override {
    memory.start_subtract(gradient, segments);
  }
  void update_residual_there(DeviceVectors& memory,
                             const MessageOutcome<float>& outcome,
                             ResidualUpdate<float>& residual_update) const override {
    take_into_estimate(memory, outcome, residual_update);
  }

  Units units() const override { return Units::gradient; }
  std::size_t vectors() const override { return 2; }
  bool estimates() const override { return true; }
  bool conserves(const AggregatorLaw& /*aggregator*/,
                 bool /*sends_everything*/,
                 int /*workers*/) const override {
    return true;
  }
};

}  // namespace

std::unique_ptr<Feedback> make_ef21(const Section& /*section*/) { return std::make_unique<Ef21>(); }

}  // namespace residuum
