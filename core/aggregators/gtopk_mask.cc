// Mask-then-reduce uses the tree of gTop-k only to decide the support S; then the full accumulators
// are summed on it along the same tree, g_j = sum_p a^p_j for j in S, and every worker clears S.
// There is no error on selected indices (delta_in = 0) and nothing is lost. reduction = "fast"
// leaves the order of the additions to MPI_Allreduce.

#include <functional>

#include "core/aggregators/dense_sums.h"
#include "core/aggregators/gather.h"
#include "core/aggregators/tree.h"

namespace residuum {
namespace {

template <class Real>
class MaskExchange final : public Exchange<Real> {
 public:
  explicit MaskExchange(Reduction reduction) : rules_{.reduction = reduction} {
    if (reduction == Reduction::ordered) {
      rules_.all_reduce.algorithm = AllReduce::Algorithm::tree;
    }
  }

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    Ledger ledger(cluster, exchanged.transfers);
    exchanged.is_dense = false;
    exchanged.applied_whole = false;
    const auto lists = lists_.of(contributions);
    tree_.reduce_to_root(cluster, contributions, lists, ledger, exchanged.sum);
    std::swap(support_, exchanged.sum.indices);
    share_support(cluster, contributions.k);
    // All indices together need not be told.
    const bool is_everything = support_.size() == contributions.dimension;
    ledger.pass_down(is_everything ? 0 : support_.size() * sizeof(std::uint32_t));
    exchanged.dropped_in_merges.resize(lists.size());  // all of them are empty
    take_from_accumulators(contributions, exchanged.applied);
    ledger.pass_up(support_.size() * sizeof(Real));
    // The sums of a level of the tree are taken at the same time.
    ledger.work_all([&] { sum_on_support(cluster, contributions, exchanged.sum); },
                    ledger.level_share());
    ledger.pass_down(support_.size() * sizeof(Real));
    exchanged.traffic = ledger.traffic();
  }

 private:
  /// Copies the indices of the support, at most k, from the process of worker 0 to all.
  void share_support(const Cluster& cluster, std::size_t k) {
    if (!cluster.here(0)) {
      support_.resize(k);
    }
    const auto indices = cluster.broadcast(0, std::as_writable_bytes(std::span(support_)));
    support_.resize(indices.size() / sizeof(std::uint32_t));
  }

  void take_from_accumulators(const Contributions<Real>& contributions,
                              std::vector<SparseVector<Real>>& taken) const {
    taken.resize(contributions.of_workers.size());
    for (std::size_t slot = 0; slot < taken.size(); ++slot) {
      taken[slot].clear();
      for (const std::uint32_t i : support_) {
        if (const Real value = contributions.of_workers[slot].accumulator[i]; value != 0) {
          taken[slot].push_back(i, value);
        }
      }
    }
  }

  void sum_on_support(const Cluster& cluster,
                      const Contributions<Real>& contributions,
                      SparseVector<Real>& sum) {
    values_.resize(support_.size());
    const auto add = [&](int worker, std::size_t begin, std::span<Real> block) {
      const auto accumulator = contributions.of_workers[cluster.slot(worker)].accumulator;
      for (std::size_t i = 0; i < block.size(); ++i) {
        block[i] += accumulator[support_[begin + i]];
      }
    };
    sums_.take(rules_, cluster, std::cref(add), values_);
    sum.clear();
    for (std::size_t i = 0; i < support_.size(); ++i) {
      if (values_[i] != 0) {
        sum.push_back(support_[i], values_[i]);
      }
    }
  }

  DenseRules rules_;
  DenseSums<Real> sums_;
  MessageLists<Real> lists_;
  MergeTree<Real> tree_;
  std::vector<std::uint32_t> support_;
  std::vector<Real> values_;
};

class GTopKMask final : public AggregatorFor<MaskExchange, Reduction> {
 public:
  using AggregatorFor::AggregatorFor;

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .drops_in_merges = false,
            .is_sparse = true,
            .completes_support = true,
            .selects_largest = true};
  }
  bool needs_k() const override { return true; }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const double per_entry = shape.entry_bytes() + sizeof(std::uint32_t) + 2 * shape.value_bytes;
    return {.bytes = (shape.workers - 1) * shape.k * per_entry, .exact = false};
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_mask(const Section& section) {
  return std::make_unique<GTopKMask>(reduction_from(section));
}

}  // namespace residuum
