// gTopKAllReduce (Shi et al., ICDCS 2019) merges lists pairwise along a binary tree to worker 0 and
// broadcasts the result. An index can be cut from one branch and survive through another. The cut
// entries are then reported in `cut_in_merges`, so that put-back "captured" can return it. Put-back
// "published" clears it on its owner all the same: that mass is lost.

#include "core/aggregators/gather.h"
#include "core/aggregators/tree.h"

namespace residuum {
namespace {

template <class Real>
class TreeExchange final : public Exchange<Real> {
 public:
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Delivery<Real>& delivery) override {
    Ledger ledger(cluster, delivery.transfers);
    delivery.is_dense = false;
    delivery.applied_whole = false;
    const auto lists = lists_.of(contributions);
    tree_.reduce(cluster, contributions, lists, ledger, delivery.sum);
    const std::size_t d = contributions.dimension;
    ledger.pass_down(list_bytes<Real>(d, d).of(delivery.sum.size(), d));
    tree_.find_cuts_on_support(delivery.sum, delivery.cut_in_merges);
    delivery.delivered.resize(lists.size());
    intersect<Real>(lists, delivery.sum.indices, intersect_, delivery.delivered);
    delivery.traffic = ledger.traffic();
  }

 private:
  MessageLists<Real> lists_;
  MergeTree<Real> tree_;
  IntersectWorkspace<Real> intersect_;
};

class GTopKTree final : public AggregatorFor<TreeExchange> {
 public:
  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .cuts_in_merges = true,
            .is_sparse = true,
            .selects_largest = true};
  }
  bool needs_k() const override { return true; }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return {.bytes = 2.0 * (shape.workers - 1) * shape.k * shape.entry_bytes(), .exact = false};
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_tree(const Section& /*section*/) {
  return std::make_unique<GTopKTree>();
}

}  // namespace residuum
