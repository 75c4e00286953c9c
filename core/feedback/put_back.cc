#include "core/feedback/put_back.h"

namespace residuum {
namespace {

template <class Real>
void choose(PutBack rule,
            const Message<Real>& message,
            const Aggregation<Real>& aggregation,
            std::size_t slot,
            Settlement<Real>& settlement) {
  const bool takes_all_sent = aggregation.applied_whole || rule == PutBack::discard;
  if (message.everything && takes_all_sent) {
    settlement.clear_everything();
  } else if (aggregation.applied_whole) {
    settlement.clear(message.entries);
  } else if (rule == PutBack::discard) {
    settlement.clear_union(aggregation.delivered[slot], message.entries);
  } else {
    settlement.clear(aggregation.delivered[slot]);
    if (rule == PutBack::captured) {
      settlement.give_back(aggregation.cut_in_merges[slot]);
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
      return !(aggregator.cuts_in_merges && workers > 2);
    case PutBack::discard:
      return aggregator.applies_whole_messages;
  }
  return false;
}

template <class Real>
void put_back(PutBack rule,
              std::span<Real> accumulator,
              const Message<Real>& message,
              const Aggregation<Real>& aggregation,
              std::size_t slot,
              Settlement<Real>& settlement) {
  choose(rule, message, aggregation, slot, settlement);
  if (settlement.cleared_everything()) {
    std::fill(accumulator.begin(), accumulator.end(), Real{0});
    return;
  }
  const auto& cleared = settlement.cleared();
  for (std::size_t i = 0; i < cleared.size(); ++i) {
    accumulator[cleared.indices[i]] -= cleared.values[i];
  }
  const auto& returned = settlement.returned();
  for (std::size_t i = 0; i < returned.size(); ++i) {
    accumulator[returned.indices[i]] += returned.values[i];
  }
}

template void put_back<float>(PutBack,
                              std::span<float>,
                              const Message<float>&,
                              const Aggregation<float>&,
                              std::size_t,
                              Settlement<float>&);
template void put_back<double>(PutBack,
                               std::span<double>,
                               const Message<double>&,
                               const Aggregation<double>&,
                               std::size_t,
                               Settlement<double>&);

}  // namespace residuum
