// g = sum_p s^p: every worker sends its message to every other; up to kP entries.

#include "core/aggregators/gather.h"

namespace residuum {
namespace {

class AllGather final : public AggregatorFor<AllGather> {
 public:
  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    gather_and_sum(cluster, contributions, result, result.sum);
    result.applied_whole = true;
  }

  AggregatorLaw law() const override {
    return {.applies_whole_messages = true, .cuts_in_merges = false, .is_sparse = false};
  }
  bool needs_k() const override { return false; }
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return gather_traffic_model(shape);
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_allgather(const Section& /*section*/) {
  return std::make_unique<AllGather>();
}

}  // namespace residuum
