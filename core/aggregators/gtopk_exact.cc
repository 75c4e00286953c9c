// g = Top_k(sum_p s^p), "select k from k x P" (Shi et al., ICDCS 2019, the naive form): what the
// tree approximates.

#include "core/aggregators/gather.h"

namespace residuum {
namespace {

class GTopKExact final : public AggregatorFor<GTopKExact> {
 public:
  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    auto& buffers = result.buffers;
    gather_and_sum(cluster, contributions, result, buffers.sum);
    split_top_k(buffers.sum, contributions.k, buffers.split, result.sum, buffers.cut);
    result.applied_whole = false;
    find_delivered(result);
    result.cut_in_merges.resize(buffers.lists.size());  // all of them empty
  }

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .cuts_in_merges = false,
            .is_sparse = true,
            .selects_largest = true};
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
