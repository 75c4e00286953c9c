#include "core/feedback/put_back.h"

namespace residuum {
namespace {

template <class Real>
void choose(PutBack rule, const Fate<Real>& fate, Settlement<Real>& settlement) {
  const bool takes_all_sent = fate.applied_whole || rule == PutBack::discard;
  if (fate.equal_parts && rule != PutBack::discard) {
    settlement.clear_part_of_all();
  } else if (fate.equal_parts || (fate.sent.everything && takes_all_sent)) {
    settlement.clear_everything();
  } else if (fate.applied_whole) {
    settlement.clear(fate.sent.entries);
  } else if (rule == PutBack::discard) {
    settlement.clear_union(*fate.delivered, fate.sent.entries);
  } else {
    settlement.clear(*fate.delivered);
    if (rule == PutBack::captured) {
      settlement.give_back(*fate.cut_in_merges);
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
      return !aggregator.cuts_in_merges || aggregator.cuts_stay_with_senders || workers <= 2;
    case PutBack::discard:
      return aggregator.applies_whole_messages;
  }
  return false;
}

template <class Real>
void put_back(PutBack rule,
              std::span<Real> accumulator,
              const Fate<Real>& fate,
              Settlement<Real>& settlement) {
  choose(rule, fate, settlement);
  if (settlement.cleared_everything()) {
    std::fill(accumulator.begin(), accumulator.end(), Real{0});
    return;
  }
  if (fate.equal_parts) {
    fate.equal_parts->for_each(accumulator,
                               [&](std::size_t i, Real part) { accumulator[i] -= part; });
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

template void put_back<float>(PutBack, std::span<float>, const Fate<float>&, Settlement<float>&);
template void put_back<double>(PutBack,
                               std::span<double>,
                               const Fate<double>&,
                               Settlement<double>&);

}  // namespace residuum
