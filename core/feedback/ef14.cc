// Error feedback (Seide et al., Interspeech 2014; Stich et al., NeurIPS 2018) is a^p = e^p + c G^p,
// and e^p_{t+1} is a^p less what was delivered of it, by the put-back rule.

#include "core/feedback/put_back.h"

namespace residuum {
namespace {

class Ef14 final : public FeedbackFor<Ef14> {
 public:
  Ef14(PutBack rule, Units units) : rule_(rule), units_(units) {}

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
  }

  Units units() const override { return units_; }

  bool conserves(const AggregatorLaw& aggregator,
                 bool /*sends_everything*/,
                 int workers) const override {
    return residuum::conserves(rule_, aggregator, workers);
  }

 private:
  PutBack rule_;
  Units units_;
};

}  // namespace

std::unique_ptr<Feedback> make_ef14(const Section& section) {
  const PutBack rule = put_back_from(section);
  return std::make_unique<Ef14>(rule, units_from(section));
}

}  // namespace residuum
