// EF21 (Richtarik, Sokolov, Fatkhullin, NeurIPS 2021): every worker keeps an estimate g^p of its
// gradient and sends the compressed change,
//   a^p = G^p - g^p,  s^p = C(a^p),  g^p += s^p,  w -= eta mean g^p,  g^p = 0 at the start.
// The residual e^p = G^p - g^p is what the estimate still misses; its mean square is the distortion
// G_t of the theory. Nothing is lost: where an aggregator rejects entries that were sent, the
// estimate changes by what was delivered, so that the mean of the estimates is the sum of all
// updates so far.

#include "core/feedback/feedback.h"

namespace residuum {
namespace {

class Ef21 final : public FeedbackFor<Ef21> {
 public:
  template <class Real>
  PassNorms form(std::span<Real> memory,
                 std::span<const Real> gradient,
                 double /*step_size*/,
                 const Pass& pass) const {
    const std::span<const Real> estimate = memory.subspan(gradient.size());
    return subtract(memory.first(gradient.size()), gradient, estimate, pass);
  }

  template <class Real>
  void clear(std::span<Real> memory,
             const Message<Real>& message,
             const Aggregation<Real>& aggregation,
             std::size_t slot,
             Settlement<Real>& settlement) const {
    const auto accumulator = memory.first(memory.size() / 2);
    const auto estimate = memory.subspan(memory.size() / 2);
    if (message.everything && aggregation.applied_whole) {
      settlement.clear_everything();
      for (std::size_t i = 0; i < estimate.size(); ++i) {
        estimate[i] += accumulator[i];
        accumulator[i] = 0;
      }
      return;
    }
    if (aggregation.applied_whole) {
      settlement.clear(message.entries);
    } else {
      settlement.clear(aggregation.delivered[slot]);
      settlement.give_back(aggregation.cut_in_merges[slot]);
    }
    move(settlement.cleared(), accumulator, estimate);
    move(settlement.returned(), estimate, accumulator);
  }

  Units units() const override { return Units::gradient; }
  std::size_t vectors() const override { return 2; }
  bool estimates() const override { return true; }
  bool conserves(const AggregatorLaw& /*aggregator*/,
                 bool /*sends_everything*/,
                 int /*workers*/) const override {
    return true;
  }

 private:
  template <class Real>
  static void move(const SparseVector<Real>& entries, std::span<Real> from, std::span<Real> to) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      from[entries.indices[i]] -= entries.values[i];
      to[entries.indices[i]] += entries.values[i];
    }
  }
};

}  // namespace

std::unique_ptr<Feedback> make_ef21(const Section& /*section*/) { return std::make_unique<Ef21>(); }

}  // namespace residuum
