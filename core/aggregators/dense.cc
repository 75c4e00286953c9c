// g = sum_p s^p in worker order, exchanged as dense vectors: a reduction along the chain of workers
// and back, 2 (P-1) d values in all, as many as a ring all-reduce sends.

#include <algorithm>

#include "core/aggregators/aggregator.h"

namespace residuum {
namespace {

class Dense final : public AggregatorFor<Dense> {
 public:
  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    result.is_dense = true;
    result.applied_whole = true;
    result.dense_sum.resize(contributions.dimension);
    const auto add = [&](int worker, std::span<Real> sum) {
      const std::size_t slot = cluster.slot(worker);
      const auto& message = contributions.messages[slot];
      if (message.everything) {
        const auto accumulator = contributions.accumulators[slot];
        std::transform(sum.begin(), sum.end(), accumulator.begin(), sum.begin(), std::plus<Real>());
        return;
      }
      for (std::size_t i = 0; i < message.entries.size(); ++i) {
        sum[message.entries.indices[i]] += message.entries.values[i];
      }
    };
    cluster.sum_in_worker_order<Real>(result.dense_sum, /*everywhere=*/true, add);
    result.traffic = traffic(cluster, contributions.dimension * sizeof(Real));
  }

  AggregatorLaw law() const override {
    return {.applies_whole_messages = true, .cuts_in_merges = false, .is_sparse = false};
  }
  bool needs_k() const override { return false; }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return {.bytes = 2.0 * (shape.workers - 1) * shape.dimension * shape.value_bytes,
            .exact = true};
  }

 private:
  /// Worker p sends the partial sum to p+1, and the last the result back along the chain.
  static Traffic traffic(const Cluster& cluster, std::size_t vector_bytes) {
    Traffic traffic;
    const int last = cluster.workers() - 1;
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      traffic.bytes += worker < last ? vector_bytes : 0;
      traffic.bytes += worker > 0 ? vector_bytes : 0;
    }
    traffic.rounds = 2 * static_cast<std::uint64_t>(last);
    return traffic;
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_dense(const Section& /*section*/) {
  return std::make_unique<Dense>();
}

}  // namespace residuum
