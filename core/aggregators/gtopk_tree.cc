// gTopKAllReduce (Shi et al., ICDCS 2019): pairwise merges along a binary tree to worker 0, then a
// broadcast. An index can be cut from one branch and survive through another; what was cut there is
// reported in `cut_in_merges`, so that put-back "captured" can return it. Put-back "published"
// clears it on its owner all the same: that mass is lost.

#include "core/aggregators/gather.h"
#include "core/aggregators/tree.h"

namespace residuum {
namespace {

class GTopKTree final : public AggregatorFor<GTopKTree> {
 public:
  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    result.is_dense = false;
    result.applied_whole = false;
    messages_as_lists(contributions, result.buffers);
    reduce_along_tree(cluster, contributions, result);
    find_cuts_on_support(result);
    find_delivered(result);
    // The broadcast: every worker but one receives the result from another.
    if (cluster.here(0)) {
      const auto receivers = static_cast<std::uint64_t>(cluster.workers() - 1);
      result.traffic.bytes +=
          receivers * result.sum.size() * entry_bytes<Real>(contributions.dimension);
    }
  }

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
