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
                        const MessageOutcome<Real>& outcome,
                        ResidualUpdate<Real>& residual_update) {
  if (outcome.sent.everything && outcome.applied_whole) {
    residual_update.clear_everything();
    for (std::size_t i = 0; i < estimate.size(); ++i) {
      estimate[i] += accumulator[i];
      accumulator[i] = 0;
    }
    return;
  }
  if (outcome.dense_approximation) {
    residual_update.clear_part_of_all();
    outcome.dense_approximation->for_each(accumulator, [&](std::size_t i, Real part) {
      accumulator[i] -= part;
      estimate[i] += part;
    });
    return;
  }
  if (outcome.applied_whole) {
    residual_update.clear(outcome.sent.entries);
  } else {
    residual_update.clear(*outcome.delivered);
    residual_update.give_back(*outcome.cut_in_merges);
  }
  move(residual_update.cleared(), accumulator, estimate);
  move(residual_update.returned(), estimate, accumulator);
}

template void take_into_estimate<float>(std::span<float>,
                                        std::span<float>,
                                        const MessageOutcome<float>&,
                                        ResidualUpdate<float>&);
template void take_into_estimate<double>(std::span<double>,
                                         std::span<double>,
                                         const MessageOutcome<double>&,
                                         ResidualUpdate<double>&);

}  // namespace residuum
