// g = sum_p s^p, where the indices are divided into P equal regions: every worker sends the part of
// its message that lies in a region to the owner of the region, owners sum, and the sums of the
// regions are gathered. Nothing that several workers sent is gathered twice, so the bytes depend on
// how much the messages overlap.

#include <algorithm>

#include "core/aggregators/region_sums.h"

namespace residuum {
namespace {

template <class Real>
class ReduceScatterExchange final : public Exchange<Real> {
 public:
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    Ledger ledger(cluster, exchanged.transfers);
    exchanged.is_dense = false;
    exchanged.applied_whole = true;
    const auto sizes = list_bytes<Real>(contributions.dimension,
                                        contributions.k,
                                        contributions.of_workers.front().message->everything);
    divide(static_cast<std::size_t>(cluster.workers()), contributions.dimension);
    regions_.take(cluster, sizes, contributions.k, lists_.of(contributions), begins_, ledger);
    bytes_.clear();
    int region = cluster.first();
    for (const auto* sum : regions_.sums()) {
      bytes_.push_back(regions_.bytes_in(region++, sum->size(), sizes));
    }
    ledger.gather(bytes_);
    regions_.gather(cluster, regions_.sums(), exchanged.sum);
    exchanged.traffic = ledger.traffic();
  }

 private:
  void divide(std::size_t workers, std::size_t dimension) {
    begins_.clear();
    for (std::size_t worker = 0; worker <= workers; ++worker) {
      begins_.push_back(part_begin(dimension, worker, workers));
    }
  }

  MessageLists<Real> lists_;
  RegionSums<Real> regions_;
  std::vector<std::size_t> begins_;  // of the regions, and d
  std::vector<std::size_t> bytes_;   // of the sums here
};

class SparseReduceScatter final : public AggregatorFor<ReduceScatterExchange> {
 public:
  AggregatorLaw law() const override {
    return {.applies_whole_messages = true, .drops_in_merges = false, .is_sparse = false};
  }
  bool needs_k() const override { return false; }

  /// The bound is met where no entry is in its sender's region and no two have one index.
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const double gathered = (shape.workers - 1) * std::min(shape.entries, shape.dimension);
    const double scattered = shape.workers > 1 ? shape.entries : 0;
    const double each = shape.whole_messages ? shape.value_bytes : shape.entry_bytes();
    return {.bytes = (scattered + gathered) * each, .exact = false};
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_sparse_reduce_scatter(const Section& /*section*/) {
  return std::make_unique<SparseReduceScatter>();
}

}  // namespace residuum
