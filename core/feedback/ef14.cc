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

/// united := the entries of a, and those of b at other indices.
template <class Real>
void unite(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& united) {
  SparseVector<Real> only_b;
  split<Real>(b, a.indices, nullptr, &only_b);
  add(a, only_b, united);
}

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
    if (settlement.cleared_everything) {
      std::fill(memory.begin(), memory.end(), Real{0});
    }
    for (std::size_t i = 0; i < settlement.cleared.size(); ++i) {
      memory[settlement.cleared.indices[i]] -= settlement.cleared.values[i];
    }
    for (std::size_t i = 0; i < settlement.returned.size(); ++i) {
      memory[settlement.returned.indices[i]] += settlement.returned.values[i];
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
    settlement.cleared.clear();
    settlement.returned.clear();
    const bool takes_all_sent = aggregation.applied_whole || put_back_ == PutBack::discard;
    settlement.cleared_everything = message.everything && takes_all_sent;
    if (settlement.cleared_everything) {
      return;
    }
    if (aggregation.applied_whole) {
      settlement.cleared = message.entries;
      return;
    }
    settlement.cleared = aggregation.delivered[slot];
    if (put_back_ == PutBack::captured) {
      settlement.returned = aggregation.cut_in_merges[slot];
    } else if (put_back_ == PutBack::discard) {
      unite(aggregation.delivered[slot], message.entries, settlement.cleared);
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
