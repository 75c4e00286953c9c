// Mask-then-reduce: the tree of gTop-k only decides the support S; then the full accumulators are
// summed on it, g_j = sum_p a^p_j for j in S, and every worker clears S. There is no error on
// selected indices (delta_in = 0) and nothing is lost.

#include "core/aggregators/gather.h"
#include "core/aggregators/tree.h"

namespace residuum {
namespace {

class GTopKMask final : public AggregatorFor<GTopKMask> {
 public:
  explicit GTopKMask(Reduction reduction) : reduction_(reduction) {}

  template <class Real>
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Aggregation<Real>& result) const {
    result.is_dense = false;
    result.applied_whole = false;
    auto& buffers = result.buffers;
    messages_as_lists(contributions, buffers);
    reduce_along_tree(cluster, contributions, result);
    std::swap(buffers.support, result.sum.indices);
    result.cut_in_merges.resize(buffers.lists.size());  // all of them empty
    take_from_accumulators(contributions, buffers.support, result.delivered);
    sum_on_support(cluster, contributions, result);
    if (cluster.here(0)) {
      // The support goes down the tree, the values go up and down it once more.
      const auto others = static_cast<std::uint64_t>(cluster.workers() - 1);
      result.traffic.bytes +=
          others * buffers.support.size() * (sizeof(std::uint32_t) + 2 * sizeof(Real));
    }
    result.traffic.rounds *= 2;
  }

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .cuts_in_merges = false,
            .is_sparse = true,
            .completes_support = true,
            .selects_largest = true};
  }
  bool needs_k() const override { return true; }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const double per_entry = shape.entry_bytes() + sizeof(std::uint32_t) + 2 * shape.value_bytes;
    return {.bytes = (shape.workers - 1) * shape.k * per_entry, .exact = false};
  }

 private:
  template <class Real>
  static void take_from_accumulators(const Contributions<Real>& contributions,
                                     std::span<const std::uint32_t> support,
                                     std::vector<SparseVector<Real>>& taken) {
    taken.resize(contributions.accumulators.size());
    for (std::size_t slot = 0; slot < taken.size(); ++slot) {
      taken[slot].clear();
      for (const std::uint32_t i : support) {
        if (const Real value = contributions.accumulators[slot][i]; value != 0) {
          taken[slot].push_back(i, value);
        }
      }
    }
  }

  template <class Real>
  void sum_on_support(const Cluster& cluster,
                      const Contributions<Real>& contributions,
                      Aggregation<Real>& result) const {
    const auto& support = result.buffers.support;
    auto& values = result.buffers.values;
    values.resize(support.size());
    const auto add = [&](int worker, std::size_t begin, std::span<Real> sum) {
      const auto accumulator = contributions.accumulators[cluster.slot(worker)];
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += accumulator[support[begin + i]];
      }
    };
    sum_everywhere<Real>(cluster, reduction_, values, add);
    result.sum.clear();
    for (std::size_t i = 0; i < support.size(); ++i) {
      if (values[i] != 0) {
        result.sum.push_back(support[i], values[i]);
      }
    }
  }

  Reduction reduction_;
};

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_mask(const Section& section) {
  return std::make_unique<GTopKMask>(reduction_from(section));
}

}  // namespace residuum
