// g = sum_p s^p, exchanged as dense vectors: in worker order a reduction along the chain of workers
// and back, 2 (P-1) d values in all, as many as a ring all-reduce sends. reduction = "fast" leaves
// the order to MPI_Allreduce.

#include <algorithm>

#include "core/aggregators/aggregator.h"

namespace residuum {
namespace {

class Dense final : public AggregatorFor<Dense> {
 public:
  explicit Dense(Reduction reduction) : reduction_(reduction) {}

  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    result.is_dense = true;
    result.applied_whole = true;
    result.dense_sum.resize(contributions.dimension);
    const auto add = [&](int worker, std::size_t begin, std::span<Real> sum) {
      const std::size_t slot = cluster.slot(worker);
      const auto& message = contributions.messages[slot];
      if (message.everything) {
        const auto part = contributions.accumulators[slot].subspan(begin, sum.size());
        std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus<Real>());
      } else {
        add_entries(message.entries, begin, sum);
      }
    };
    sum_everywhere<Real>(cluster, reduction_, result.dense_sum, add);
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
  /// Those whose index lies in the block.
  template <class Real>
  static void add_entries(const SparseVector<Real>& entries,
                          std::size_t begin,
                          std::span<Real> sum) {
    const auto& indices = entries.indices;
    const auto first = std::lower_bound(indices.begin(), indices.end(), begin);
    for (auto i = static_cast<std::size_t>(first - indices.begin());
         i < indices.size() && indices[i] < begin + sum.size();
         ++i) {
      sum[indices[i] - begin] += entries.values[i];
    }
  }

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

  Reduction reduction_;
};

}  // namespace

std::unique_ptr<Aggregator> make_dense(const Section& section) {
  return std::make_unique<Dense>(reduction_from(section));
}

}  // namespace residuum
