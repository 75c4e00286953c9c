#include "core/feedback/put_back.h"

#include <cassert>

namespace residuum {

namespace {

template <class Real>
void choose(PutBack rule,
            const MessageOutcome<Real>& outcome,
            ResidualUpdate<Real>& residual_update) {
  const bool takes_all_sent = outcome.applied_whole || rule == PutBack::discard;
  if (outcome.dense_approximation && rule != PutBack::discard) {
    residual_update.remove_part_of_all();
  } else if (outcome.dense_approximation || (outcome.sent.everything && takes_all_sent)) {
    residual_update.remove_everything();
  } else if (outcome.applied_whole) {
    residual_update.remove(outcome.sent.entries);
  } else if (rule == PutBack::discard) {
    residual_update.remove_union(*outcome.applied, outcome.sent.entries);
  } else {
    residual_update.remove(*outcome.applied);
    if (rule == PutBack::captured) {
      residual_update.return_entries(*outcome.dropped_in_merges);
    }
  }
}

}  // namespace

PutBack put_back_from(const Section& section) {
  const auto rule = section.choice("putback", {"captured", "published", "discard"}, "captured");
  return rule == "captured"    ? PutBack::captured
         : rule == "published" ? PutBack::published
                               : PutBack::discard;
}

bool conserves(PutBack rule, const AggregatorLaw& aggregator, int workers) {
  switch (rule) {
    case PutBack::captured:
      return true;
    case PutBack::published:
      return !aggregator.drops_in_merges || aggregator.dropped_stay_with_senders || workers <= 2;
    case PutBack::discard:
      return aggregator.applies_whole_messages;
  }
  return false;
}

template <class Real>
void put_back(PutBack rule,
              std::span<Real> accumulator,
              const MessageOutcome<Real>& outcome,
              ResidualUpdate<Real>& residual_update) {
  choose(rule, outcome, residual_update);
  if (residual_update.removed_everything()) {
    std::fill(accumulator.begin(), accumulator.end(), Real{0});
    return;
  }
  if (outcome.dense_approximation) {
    outcome.dense_approximation->for_each(
        accumulator, [&](std::size_t i, Real part) { accumulator[i] -= part; });
    return;
  }
  const auto& removed = residual_update.removed();
  for (std::size_t i = 0; i < removed.size(); ++i) {
    accumulator[removed.indices[i]] -= removed.values[i];
  }
  const auto& returned = residual_update.returned();
  for (std::size_t i = 0; i < returned.size(); ++i) {
    accumulator[returned.indices[i]] += returned.values[i];
  }
}

void put_back(PutBack rule,
              DeviceVectors& memory,
              const MessageOutcome<float>& outcome,
              ResidualUpdate<float>& residual_update) {
  assert(!outcome.dense_approximation);  // its aggregators read whole accumulators
  choose(rule, outcome, residual_update);
  if (residual_update.removed_everything()) {
    memory.clear(0);
    return;
  }
  memory.add(0, residual_update.removed(), -1);
  memory.add(0, residual_update.returned(), 1);
}

template void put_back<float>(PutBack,
                              std::span<float>,
                              const MessageOutcome<float>&,
                              ResidualUpdate<float>&);
template void put_back<double>(PutBack,
                               std::span<double>,
                               const MessageOutcome<double>&,
                               ResidualUpdate<double>&);

namespace {

template <class Real>
void choose_applied(const MessageOutcome<Real>& outcome, ResidualUpdate<Real>& residual_update) {
  if (outcome.applied_whole) {
    residual_update.remove(outcome.sent.entries);
  } else {
    residual_update.remove(*outcome.applied);
    residual_update.return_entries(*outcome.dropped_in_merges);
  }
}

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
    residual_update.remove_everything();
    for (std::size_t i = 0; i < estimate.size(); ++i) {
      estimate[i] += accumulator[i];
      accumulator[i] = 0;
    }
    return;
  }
  if (outcome.dense_approximation) {
    residual_update.remove_part_of_all();
    outcome.dense_approximation->for_each(accumulator, [&](std::size_t i, Real part) {
      accumulator[i] -= part;
      estimate[i] += part;
    });
    return;
  }
  choose_applied(outcome, residual_update);
  move(residual_update.removed(), accumulator, estimate);
  move(residual_update.returned(), estimate, accumulator);
}

void take_into_estimate(DeviceVectors& memory,
                        const MessageOutcome<float>& outcome,
                        ResidualUpdate<float>& residual_update) {
  assert(!outcome.dense_approximation);  // its aggregators read whole accumulators
  if (outcome.sent.everything && outcome.applied_whole) {
    residual_update.remove_everything();
    memory.add_vector(1, 0);
    memory.clear(0);
    return;
  }
  choose_applied(outcome, residual_update);
  const auto move = [&](const SparseVector<float>& entries, std::size_t from, std::size_t to) {
    memory.add(from, entries, -1);
    memory.add(to, entries, 1);
  };
  move(residual_update.removed(), 0, 1);
  move(residual_update.returned(), 1, 0);
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
