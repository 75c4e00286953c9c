#include "core/feedback/estimate.h"

namespace residuum {
namespace {

template <class Real>
void move(const SparseVector<Real>& entries, std::span<Real> from, std::span<Real> to) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    from[entries.indices[i]] -= entries.values[i];
    to[entries.indices[i]] += entries.values[i];
  }
}

}  // namespace

template <class Real>
void take_into_estimate(std::span<Real> accumulator,
                        std::span<Real> estimate,
                        const Message<Real>& message,
                        const Aggregation<Real>& aggregation,
                        std::size_t slot,
                        Settlement<Real>& settlement) {
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

template void take_into_estimate<float>(std::span<float>,
                                        std::span<float>,
                                        const Message<float>&,
                                        const Aggregation<float>&,
                                        std::size_t,
                                        Settlement<float>&);
template void take_into_estimate<double>(std::span<double>,
                                         std::span<double>,
                                         const Message<double>&,
                                         const Aggregation<double>&,
                                         std::size_t,
                                         Settlement<double>&);

}  // namespace residuum
