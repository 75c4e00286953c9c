// gTop-k by recursive doubling makes the merges of the tree at all workers at once, in log2 P
// rounds of k entries each instead of 2 log2 P, and needs no broadcast. Every worker sees the
// merges that its entries go through, so it keeps an entry that was cut on its path although its
// index survived through another branch. The delivered parts add up to g: nothing is left for
// `cut_in_merges`, and put-back "published" and "captured" do the same.

#include <cmath>

#include "core/aggregators/doubling.h"
#include "core/aggregators/gather.h"

namespace residuum {
namespace {

template <class Real>
class DoublingExchange final : public Exchange<Real> {
 public:
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Delivery<Real>& delivery) override {
    Ledger ledger(cluster, delivery.transfers);
    delivery.is_dense = false;
    delivery.applied_whole = false;
    const auto lists = lists_.of(contributions);
    merges_.reduce(cluster, contributions, lists, ledger, delivery.sum);
    merges_.find_delivered(cluster, contributions, delivery.sum, ledger, delivery.delivered);
    delivery.cut_in_merges.resize(lists.size());  // all of them are empty
    delivery.traffic = ledger.traffic();
  }

 private:
  MessageLists<Real> lists_;
  MergeDoubling<Real> merges_;
};

class GTopKDoubling final : public AggregatorFor<DoublingExchange> {
 public:
  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .cuts_in_merges = true,
            .cuts_stay_with_senders = true,
            .is_sparse = true,
            .selects_largest = true};
  }
  bool needs_k() const override { return true; }

  /// A worker beyond the power of two sends its list and gets the result, with a bit for each entry
  /// that says whether its own was delivered.
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const double rounds = std::floor(std::log2(shape.workers));
    const double whole = std::exp2(rounds);
    const double folded = shape.workers - whole;
    const double list = shape.k * shape.entry_bytes();
    return {.bytes = whole * rounds * list + folded * (2 * list + std::ceil(shape.k / 8)),
            .exact = false};
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_doubling(const Section& /*section*/) {
  return std::make_unique<GTopKDoubling>();
}

}  // namespace residuum
