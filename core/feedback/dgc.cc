// With momentum correction (DGC: Lin, Han, Mao, Wang, Dally, ICLR 2018, section 3.2) every worker
// keeps a velocity and sparsifies the sum of velocities instead of that of gradients,
//   u^p = m u^p + G^p;  a^p = e^p + c u^p;  s^p = C(a^p);  e^p_{t+1} = a^p less what was applied,
// so that an entry that waited is applied with the momentum it would have had. Momentum factor
// masking (section 3.3) resets the velocity of applied entries to 0. The paper masks the sent
// entries; where the aggregator rejects sent entries, they stay, and so does their velocity.
// Conservation is that of error feedback with c u^p in the place of c G^p.

#include "core/feedback/put_back.h"

namespace residuum {
namespace {

class Dgc final : public FeedbackFor<Dgc> {
 public:
  Dgc(double momentum, bool masks, PutBack rule, Units units)
      : momentum_(momentum), masks_(masks), rule_(rule), units_(units) {}

  template <class Real>
  PassNorms accumulate(std::span<Real> memory,
                       std::span<const Real> gradient,
                       double step_size,
                       const Pass& pass) const {
    const std::span<Real> velocity = memory.subspan(gradient.size());
    const auto momentum = static_cast<Real>(momentum_);
    for (std::size_t i = 0; i < velocity.size(); ++i) {
      velocity[i] = momentum * velocity[i] + gradient[i];
    }
    const double scale = units_ == Units::step ? step_size : 1.0;
    PassNorms norms = residuum::accumulate(memory.first(gradient.size()),
                                           std::span<const Real>(velocity),
                                           static_cast<Real>(scale),
                                           pass);
    norms.gradient_sq = norm_sq(gradient, pass.segments);
    return norms;
  }

  template <class Real>
  void update_residual(std::span<Real> memory,
                       const MessageOutcome<Real>& outcome,
                       ResidualUpdate<Real>& residual_update) const {
    const std::size_t d = memory.size() / 2;
    put_back(rule_, memory.first(d), outcome, residual_update);
    if (!masks_) {
      return;
    }
    const auto velocity = memory.subspan(d);
    if (residual_update.removed_everything()) {
      std::fill(velocity.begin(), velocity.end(), Real{0});
      return;
    }
    for (const auto index : residual_update.removed().indices) {
      velocity[index] = 0;
    }
  }

  Units units() const override { return units_; }
  std::size_t vectors() const override { return 2; }
  bool has_velocity() const override { return true; }
  bool needs_lists() const override { return masks_; }
  /// 1/(1 - m) is an upper bound here: masking drops the momentum of applied entries, so the gain
  /// falls as more is sent.
  double momentum() const override { return momentum_; }
  bool conserves(const AggregatorLaw& aggregator,
                 bool /*sends_everything*/,
                 int workers) const override {
    return residuum::conserves(rule_, aggregator, workers);
  }

 private:
  double momentum_;
  bool masks_;
  PutBack rule_;
  Units units_;
};

}  // namespace

std::unique_ptr<Feedback> make_dgc(const Section& section) {
  const double momentum = section.number("momentum", 0.9);
  require(momentum >= 0 && momentum < 1,
          "{} must lie in [0, 1), got {}",
          section.where("momentum"),
          momentum);
  const bool masks = section.flag("masking", true);
  const PutBack rule = put_back_from(section);
  return std::make_unique<Dgc>(momentum, masks, rule, units_from(section));
}

}  // namespace residuum
