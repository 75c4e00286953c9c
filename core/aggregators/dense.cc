// g = sum_p s^p is exchanged as dense vectors. In worker order, a reduction runs along the chain of
// workers and back: 2 (P-1) d values in all, as many as a ring all-reduce sends. reduction = "fast"
// leaves the order to MPI_Allreduce.

#include <algorithm>
#include <functional>

#include "core/aggregators/aggregator.h"
#include "core/cluster/ledger.h"

namespace residuum {
namespace {

/// Adds the entries whose index lies in the block.
template <class Real>
void add_entries(const SparseVector<Real>& entries, std::size_t begin, std::span<Real> sum) {
  const auto& indices = entries.indices;
  const auto first = std::lower_bound(indices.begin(), indices.end(), begin);
  for (auto i = static_cast<std::size_t>(first - indices.begin());
       i < indices.size() && indices[i] < begin + sum.size();
       ++i) {
    sum[indices[i] - begin] += entries.values[i];
  }
}

template <class Real>
class DenseExchange final : public Exchange<Real> {
 public:
  explicit DenseExchange(Reduction reduction) : reduction_(reduction) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Delivery<Real>& delivery) override {
    delivery.is_dense = true;
    delivery.applied_whole = true;
    delivery.dense_sum.resize(contributions.dimension);
    const auto add = [&](int worker, std::size_t begin, std::span<Real> sum) {
      const auto& [message, accumulator] = contributions.of_workers[cluster.slot(worker)];
      if (message->everything) {
        const auto part = accumulator.subspan(begin, sum.size());
        std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus<Real>());
      } else {
        add_entries(message->entries, begin, sum);
      }
    };
    Ledger ledger(cluster, delivery.transfers);
    ledger.work_all([&] { sum_everywhere<Real>(cluster, reduction_, delivery.dense_sum, add); });
    ledger.pass_chain(contributions.dimension * sizeof(Real));
    delivery.traffic = ledger.traffic();
  }

 private:
  Reduction reduction_;
};

class Dense final : public AggregatorFor<DenseExchange, Reduction> {
 public:
  using AggregatorFor::AggregatorFor;

  AggregatorLaw law() const override {
    return {.applies_whole_messages = true, .cuts_in_merges = false, .is_sparse = false};
  }
  bool needs_k() const override { return false; }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return {.bytes = 2.0 * (shape.workers - 1) * shape.dimension * shape.value_bytes,
            .exact = true};
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_dense(const Section& section) {
  return std::make_unique<Dense>(reduction_from(section));
}

}  // namespace residuum
