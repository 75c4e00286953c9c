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
                        const Fate<Real>& fate,
                        Settlement<Real>& settlement) {
  if (fate.sent.everything && fate.applied_whole) {
    settlement.clear_everything();
    for (std::size_t i = 0; i < estimate.size(); ++i) {
      estimate[i] += accumulator[i];
      accumulator[i] = 0;
    }
    return;
  }
  if (fate.equal_parts) {
    settlement.clear_part_of_all();
    fate.equal_parts->for_each(accumulator, [&](std::size_t i, Real part) {
      accumulator[i] -= part;
      estimate[i] += part;
    });
    return;
  }
  if (fate.applied_whole) {
    settlement.clear(fate.sent.entries);
  } else {
    settlement.clear(*fate.delivered);
    settlement.give_back(*fate.cut_in_merges);
  }
  move(settlement.cleared(), accumulator, estimate);
  move(settlement.returned(), estimate, accumulator);
}

template void take_into_estimate<float>(std::span<float>,
                                        std::span<float>,
                                        const Fate<float>&,
                                        Settlement<float>&);
template void take_into_estimate<double>(std::span<double>,
                                         std::span<double>,
                                         const Fate<double>&,
                                         Settlement<double>&);

}  // namespace residuum
