// g = Top_k(sum_p s^p), "select k from k x P" (Shi et al., ICDCS 2019, the naive form): what the
// tree approximates.

#include <utility>

#include "core/aggregators/gather.h"

namespace residuum {
namespace {

class GTopKExact final : public AggregatorFor<GTopKExact> {
 public:
  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    gather_and_sum(cluster, contributions, result);
    split_top_k(result.sum, contributions.k, result.workspace, result.kept, result.cut);
    std::swap(result.sum, result.kept);
    result.applied_whole = false;
    result.delivered.resize(result.lists.size());
    result.cut_in_merges.assign(result.lists.size(), {});
    for (std::size_t i = 0; i < result.lists.size(); ++i) {
      split<Real>(result.lists[i], result.sum.indices, &result.delivered[i], nullptr);
    }
  }

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false, .cuts_in_merges = false, .is_sparse = true};
  }
  bool needs_k() const override { return true; }
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return gather_traffic_model(shape);
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_exact(const Section& /*section*/) {
  return std::make_unique<GTopKExact>();
}

}  // namespace residuum
