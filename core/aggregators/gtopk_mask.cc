// Mask-then-reduce: the tree of gTop-k only decides the support S; then the full accumulators are
// summed on it, g_j = sum_p a^p_j for j in S, and every worker clears S. There is no error on
// selected indices (delta_in = 0) and nothing is lost.

#include "core/aggregators/gather.h"
#include "core/aggregators/tree.h"

namespace residuum {
namespace {

class GTopKMask final : public AggregatorFor<GTopKMask> {
 public:
  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    result.is_dense = false;
    result.applied_whole = false;
    messages_as_lists(contributions, result.lists);
    reduce_along_tree(cluster, contributions.k, result);
    result.cut_in_merges.assign(result.lists.size(), {});
    const std::vector<std::uint32_t> support = result.sum.indices;
    sum_on(support, cluster, contributions, result);
    if (cluster.here(0)) {
      // The support goes down the tree, the values go up and down it once more.
      const auto others = static_cast<std::uint64_t>(cluster.workers() - 1);
      result.traffic.bytes += others * support.size() * (sizeof(std::uint32_t) + 2 * sizeof(Real));
    }
    result.traffic.rounds *= 2;
  }

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false, .cuts_in_merges = false, .is_sparse = true};
  }
  bool needs_k() const override { return true; }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const double per_entry = shape.entry_bytes() + sizeof(std::uint32_t) + 2 * shape.value_bytes;
    return {.bytes = (shape.workers - 1) * shape.k * per_entry, .exact = false};
  }

 private:
  template <class Real>
  static void sum_on(const std::vector<std::uint32_t>& support,
                     const Cluster& cluster,
                     const Contributions<Real>& contributions,
                     Aggregation<Real>& result) {
    result.delivered.assign(contributions.messages.size(), {});
    std::vector<Real> values(support.size());
    const auto add = [&](int worker, std::span<Real> sum) {
      const std::size_t slot = cluster.slot(worker);
      for (std::size_t i = 0; i < support.size(); ++i) {
        const Real value = contributions.accumulators[slot][support[i]];
        sum[i] += value;
        if (value != 0) {
          result.delivered[slot].push_back(support[i], value);
        }
      }
    };
    cluster.sum_in_worker_order<Real>(values, /*everywhere=*/true, add);
    result.sum.clear();
    for (std::size_t i = 0; i < support.size(); ++i) {
      if (values[i] != 0) {
        result.sum.push_back(support[i], values[i]);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_mask(const Section& /*section*/) {
  return std::make_unique<GTopKMask>();
}

}  // namespace residuum
