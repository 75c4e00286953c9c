// g = sum_p s^p, where the indices are divided into P equal regions: every worker sends the part of
// its message that lies in a region to the owner of the region, owners sum, and the sums of the
// regions are gathered. Nothing that several workers sent is gathered twice, so the bytes depend on
// how much the messages overlap. Owners add neighbouring workers' parts pairwise, as the all-gather
// adds whole lists: the bits are the same.

#include <algorithm>
#include <cstring>

#include "core/aggregators/gather.h"
#include "core/aggregators/tree_rounds.h"

namespace residuum {
namespace {

template <class Real>
class ReduceScatterExchange final : public Exchange<Real> {
 public:
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Delivery<Real>& delivery) override {
    Ledger ledger(cluster, delivery.transfers);
    delivery.is_dense = false;
    delivery.applied_whole = true;
    const auto lists = lists_.of(contributions);
    cut_at_regions(cluster, contributions.dimension, lists);
    scatter(cluster, entry_bytes<Real>(contributions.dimension), ledger);
    const auto parts = parts_of_regions_here(cluster, lists);
    // Each worker sums its own region, which is one of those that the process sums together.
    ledger.work_all([&] { pairwise_.take(parts, sum_here_); }, 1.0 / cluster.count());
    gather(cluster, contributions.dimension, ledger, delivery.sum);
    delivery.traffic = ledger.traffic();
  }

 private:
  static std::size_t region_begin(const Cluster& cluster, std::size_t dimension, int worker) {
    return static_cast<std::size_t>(worker) * dimension /
           static_cast<std::size_t>(cluster.workers());
  }
  static std::size_t position_of(const SparseVector<Real>& list, std::size_t index) {
    const auto& indices = list.indices;
    return static_cast<std::size_t>(std::lower_bound(indices.begin(), indices.end(), index) -
                                    indices.begin());
  }
  static void cut_out(const SparseVector<Real>& list,
                      std::size_t begin,
                      std::size_t end,
                      SparseVector<Real>& part) {
    part.resize(end - begin);
    std::copy(list.indices.data() + begin, list.indices.data() + end, part.indices.data());
    std::copy(list.values.data() + begin, list.values.data() + end, part.values.data());
  }

  /// Returns where in the list of a worker here the entries of this region begin.
  std::size_t begin_in(const Cluster& cluster, int worker, int region) const {
    const auto regions = static_cast<std::size_t>(cluster.workers()) + 1;
    return begins_[cluster.slot(worker) * regions + static_cast<std::size_t>(region)];
  }

  void cut_at_regions(const Cluster& cluster, std::size_t dimension, Lists<Real> lists) {
    begins_.clear();
    for (const auto* list : lists) {
      for (int region = 0; region <= cluster.workers(); ++region) {
        begins_.push_back(position_of(*list, region_begin(cluster, dimension, region)));
      }
    }
    owners_.clear();
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      if (worker == 0 || cluster.host(worker) != cluster.host(worker - 1)) {
        owners_.push_back(worker);
      }
    }
    owners_.push_back(cluster.workers());
  }

  /// Charges the parts that workers send to owners: in round r, worker p sends to worker p + r.
  void scatter(const Cluster& cluster, std::size_t bytes_of_entry, Ledger& ledger) const {
    const int workers = cluster.workers();
    for (int round = 1; round < workers; ++round) {
      for (int from = 0; from < workers; ++from) {
        const int to = (from + round) % workers;
        const std::size_t entries =
            cluster.here(from) ? begin_in(cluster, from, to + 1) - begin_in(cluster, from, to) : 0;
        ledger.carry(from, to, entries * bytes_of_entry);
      }
      ledger.end_round();
    }
  }

  /// Returns what all workers have in the regions of this process's workers, in worker order.
  Lists<Real> parts_of_regions_here(const Cluster& cluster, Lists<Real> lists) {
    if (cluster.world().size() == 1) {
      return lists;
    }
    const auto workers = static_cast<std::size_t>(cluster.workers());
    parts_.resize(std::max(parts_.size(), workers));
    pointers_.clear();
    for (std::size_t worker = 0; worker < workers; ++worker) {
      pointers_.push_back(&parts_[worker]);
    }
    tell_sizes(cluster);
    expected_ = 0;
    const std::size_t processes = owners_.size() - 1;
    for (std::size_t edge = 0; edge < workers * processes; ++edge) {
      for (; expected_ < workers * processes && !mail_.is_full(); ++expected_) {
        const auto [from, to] = ends_of(expected_);
        cluster.expect(from, to, static_cast<std::size_t>(sizes_[expected_]), mail_);
      }
      pass(cluster, lists, edge);
    }
    return pointers_;
  }

  /// Each worker sends one message to every process, with what it has in the regions there. Returns
  /// its ends; messages are numbered by sender, then by process.
  Edge ends_of(std::size_t number) const {
    const std::size_t processes = owners_.size() - 1;
    return {.from = static_cast<int>(number / processes), .to = owners_[number % processes]};
  }

  /// sizes_ := the entries of every message, on every process.
  void tell_sizes(const Cluster& cluster) {
    mine_.clear();
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      for (std::size_t i = 0; i + 1 < owners_.size(); ++i) {
        mine_.push_back(begin_in(cluster, worker, owners_[i + 1]) -
                        begin_in(cluster, worker, owners_[i]));
      }
    }
    cluster.world().all_gather(std::as_bytes(std::span(mine_)), all_sizes_);
    sizes_.resize(all_sizes_.bytes.size() / sizeof(std::uint64_t));
    std::memcpy(sizes_.data(), all_sizes_.bytes.data(), all_sizes_.bytes.size());
  }

  void pass(const Cluster& cluster, Lists<Real> lists, std::size_t number) {
    const auto [from, to] = ends_of(number);
    auto& part = cluster.here(to) ? parts_[static_cast<std::size_t>(from)] : outgoing_;
    if (cluster.here(from)) {
      const int end = owners_[number % (owners_.size() - 1) + 1];
      cut_out(*lists[cluster.slot(from)],
              begin_in(cluster, from, to),
              begin_in(cluster, from, end),
              part);
    }
    const auto* incoming = cluster.deliver(from, to, &part, mail_);
    if (incoming != nullptr && incoming != &part) {
      copy(*incoming, part);
    }
  }

  /// sum := the sums of all regions, each of which its owner sends to all others.
  void gather(const Cluster& cluster,
              std::size_t dimension,
              Ledger& ledger,
              SparseVector<Real>& sum) {
    const auto count = static_cast<std::size_t>(cluster.count());
    regions_.resize(std::max(regions_.size(), count));
    pointers_.clear();
    bytes_.clear();
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      auto& region = regions_[cluster.slot(worker)];
      cut_out(sum_here_,
              position_of(sum_here_, region_begin(cluster, dimension, worker)),
              position_of(sum_here_, region_begin(cluster, dimension, worker + 1)),
              region);
      pointers_.push_back(&region);
      bytes_.push_back(region.size() * entry_bytes<Real>(dimension));
    }
    ledger.gather(bytes_);
    std::size_t entries = 0;
    const auto all = cluster.all_gather<Real>(pointers_, mail_);
    for (const auto* region : all) {
      entries += region->size();
    }
    sum.clear();
    sum.make_room(entries);
    for (const auto* region : all) {
      sum.indices.insert(sum.indices.end(), region->indices.begin(), region->indices.end());
      sum.values.insert(sum.values.end(), region->values.begin(), region->values.end());
    }
  }

  MessageLists<Real> lists_;
  PairwiseSum<Real> pairwise_;
  std::vector<std::size_t> begins_;  // of every region, and the end, in each list here
  std::vector<int> owners_;          // the first worker of each process, and P
  std::vector<SparseVector<Real>> parts_;
  std::vector<const SparseVector<Real>*> pointers_;
  std::vector<std::uint64_t> mine_, sizes_;
  Gathered all_sizes_;
  std::size_t expected_ = 0;  // messages that have room
  SparseVector<Real> outgoing_;
  SparseVector<Real> sum_here_;  // of the regions here
  std::vector<SparseVector<Real>> regions_;
  std::vector<std::size_t> bytes_;  // of each region here
  Mail<Real> mail_;
};

class SparseReduceScatter final : public AggregatorFor<ReduceScatterExchange> {
 public:
  AggregatorLaw law() const override {
    return {.applies_whole_messages = true, .cuts_in_merges = false, .is_sparse = false};
  }
  bool needs_k() const override { return false; }

  /// The bound is met where no entry is in its sender's region and no two have one index.
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const double gathered = (shape.workers - 1) * std::min(shape.entries, shape.dimension);
    const double scattered = shape.workers > 1 ? shape.entries : 0;
    return {.bytes = (scattered + gathered) * shape.entry_bytes(), .exact = false};
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_sparse_reduce_scatter(const Section& /*section*/) {
  return std::make_unique<SparseReduceScatter>();
}

}  // namespace residuum
