// This probe tells how far the workers select the same entries. With m_j of P messages that have
// the index j and N entries in all of them,
//   support_overlap = sum_j m_j (m_j - 1) / ((P - 1) N),
// the entries that two workers share over those of one of them, for the mean pair (Dice 1945,
// pooled over the pairs): 0 where the supports are disjoint, 1 where they are one. Random
// selections of k entries have k/d in expectation. support_union = (indices that any worker sent) /
// N is between 1/P and 1: what an all-gather of whole messages applies, over what it sends.

#include <algorithm>

#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

/// The sums that both columns are made of.
struct Multiplicities {
  double indices = 0;         // that any worker sent
  double entries = 0;         // N
  double ordered_shares = 0;  // sum of m (m - 1)
};

/// Counts equal indices, which lie side by side.
Multiplicities multiplicities(const std::vector<std::uint32_t>& sorted) {
  Multiplicities sums;
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto next =
        std::find_if(first, sorted.end(), [=](auto index) { return index != *first; });
    const auto count = static_cast<double>(next - first);
    sums.indices += 1;
    sums.entries += count;
    sums.ordered_shares += count * (count - 1);
    first = next;
  }
  return sums;
}

class OverlapProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::support_overlap, Column::support_union};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    if (!view.exchanges_gradients() || view.exchange.sent_everything) {
      return;
    }
    indices_.clear();
    for (const auto& list : view.exchange.sent) {
      indices_.insert(indices_.end(), list.indices.begin(), list.indices.end());
    }
    std::sort(indices_.begin(), indices_.end());
    const auto sums = multiplicities(indices_);
    const auto messages = static_cast<double>(view.exchange.sent.size());
    if (messages < 2 || sums.entries == 0) {
      return;
    }
    row.set(Column::support_overlap, sums.ordered_shares / ((messages - 1) * sums.entries));
    row.set(Column::support_union, sums.indices / sums.entries);
  }

 private:
  std::vector<std::uint32_t> indices_;  // of all messages
};

}  // namespace

std::unique_ptr<Probe> make_overlap_probe(const Section& /*section*/) {
  return std::make_unique<OverlapProbe>();
}

}  // namespace residuum
