// Error feedback (Seide et al., Interspeech 2014; Stich et al., NeurIPS 2018) is a^p = e^p + c G^p,
// and e^p_{t+1} is a^p less what was delivered of it, by the put-back rule. With decay = beta < 1
// the rest fades, e^p_{t+1} := beta e^p_{t+1} (SparseLoCo, Sarfi et al. 2025): what has faded is
// lost by design.

#include "core/feedback/put_back.h"

namespace residuum {
namespace {

class Ef14 final : public FeedbackFor<Ef14> {
 public:
  Ef14(PutBack rule, Units units, double decay) : rule_(rule), units_(units), decay_(decay) {}

  template <class Real>
  PassNorms accumulate(std::span<Real> memory,
                       std::span<const Real> gradient,
                       double step_size,
                       const Pass& pass) const {
    const double scale = units_ == Units::step ? step_size : 1.0;
    return residuum::accumulate(memory, gradient, static_cast<Real>(scale), pass);
  }

  template <class Real>
  void settle(std::span<Real> memory, const Fate<Real>& fate, Settlement<Real>& settlement) const {
    put_back(rule_, memory, fate, settlement);
    if (decay_ < 1) {
      for (Real& value : memory) {
        value *= static_cast<Real>(decay_);
      }
      settlement.clear_part_of_all();
    }
  }

  Units units() const override { return units_; }

  bool conserves(const AggregatorLaw& aggregator,
                 bool /*sends_everything*/,
                 int workers) const override {
    return decay_ == 1 && residuum::conserves(rule_, aggregator, workers);
  }

 private:
  PutBack rule_;
  Units units_;
  double decay_;
};

/// A run's id depends on the keys that are read. This one is read only where it is given, so that
/// other runs keep their ids.
double decay_from(const Section& section) {
  section.knows("decay");
  if (!section.has("decay")) {
    return 1;
  }
  const double decay = section.number("decay");
  require(decay > 0 && decay <= 1,
          "{} must lie in (0, 1], got {}: it is what is left of a residual after an exchange",
          section.where("decay"),
          decay);
  return decay;
}

}  // namespace

std::unique_ptr<Feedback> make_ef14(const Section& section) {
  const PutBack rule = put_back_from(section);
  return std::make_unique<Ef14>(rule, units_from(section), decay_from(section));
}

}  // namespace residuum
