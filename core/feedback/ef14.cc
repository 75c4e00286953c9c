// Error feedback (Seide et al., Interspeech 2014; Stich et al., NeurIPS 2018): a^p = e^p + c G^p,
// and e^p_{t+1} is a^p less what was delivered of it. The residual follows the message: what is
// subtracted is what was taken, so that an entry that was sent as it is leaves exactly 0, and one
// that was sent scaled leaves the difference. Where gTop-k rejects entries that were sent, the
// put-back rule decides (S: support of the result, S^p: support of the message):
//   published  R2: clear S^p and S; the rule of the papers and their code. With the tree it loses
//              what a merge cut at an index that survived through another branch.
//   captured   R2*: R2, and the worker that merged returns what it cut there to its own residual.
//   discard    R1: clear all of S^p; rejected entries are lost. A negative control.

#include <algorithm>

#include "core/feedback/feedback.h"

namespace residuum {
namespace {

enum class PutBack { captured, published, discard };

class Ef14 final : public FeedbackFor<Ef14> {
 public:
  Ef14(PutBack put_back, Units units) : put_back_(put_back), units_(units) {}

  template <class Real>
  PassNorms form(std::span<Real> memory,
                 std::span<const Real> gradient,
                 double step_size,
                 const Pass& pass) const {
    const double scale = units_ == Units::step ? step_size : 1.0;
    return residuum::accumulate(memory, gradient, static_cast<Real>(scale), pass);
  }

  template <class Real>
  void clear(std::span<Real> memory,
             const Message<Real>& message,
             const Aggregation<Real>& aggregation,
             std::size_t slot,
             Settlement<Real>& settlement) const {
    choose(message, aggregation, slot, settlement);
    if (settlement.cleared_everything()) {
      std::fill(memory.begin(), memory.end(), Real{0});
      return;
    }
    const auto& cleared = settlement.cleared();
    for (std::size_t i = 0; i < cleared.size(); ++i) {
      memory[cleared.indices[i]] -= cleared.values[i];
    }
    const auto& returned = settlement.returned();
    for (std::size_t i = 0; i < returned.size(); ++i) {
      memory[returned.indices[i]] += returned.values[i];
    }
  }

  Units units() const override { return units_; }

  bool conserves(const AggregatorLaw& aggregator,
                 bool /*sends_everything*/,
                 int workers) const override {
    switch (put_back_) {
      case PutBack::captured:
        return true;
      case PutBack::published:
        return !(aggregator.cuts_in_merges && workers > 2);
      case PutBack::discard:
        return aggregator.applies_whole_messages;
    }
    return false;
  }

 private:
  template <class Real>
  void choose(const Message<Real>& message,
              const Aggregation<Real>& aggregation,
              std::size_t slot,
              Settlement<Real>& settlement) const {
    const bool takes_all_sent = aggregation.applied_whole || put_back_ == PutBack::discard;
    if (message.everything && takes_all_sent) {
      settlement.clear_everything();
    } else if (aggregation.applied_whole) {
      settlement.clear(message.entries);
    } else if (put_back_ == PutBack::discard) {
      settlement.clear_union(aggregation.delivered[slot], message.entries);
    } else {
      settlement.clear(aggregation.delivered[slot]);
      if (put_back_ == PutBack::captured) {
        settlement.give_back(aggregation.cut_in_merges[slot]);
      }
    }
  }

  PutBack put_back_;
  Units units_;
};

}  // namespace

std::unique_ptr<Feedback> make_ef14(const Section& section) {
  const auto rule = section.choice("putback", {"captured", "published", "discard"}, "captured");
  const PutBack put_back = rule == "captured"    ? PutBack::captured
                           : rule == "published" ? PutBack::published
                                                 : PutBack::discard;
  return std::make_unique<Ef14>(put_back, units_from(section));
}

}  // namespace residuum
