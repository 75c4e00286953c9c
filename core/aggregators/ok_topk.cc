// Ok-Topk (Li and Hoefler, PPoPP 2022): g holds the entries of the sum of all messages that reach a
// threshold, which is the k-th largest magnitude of that sum at every `period`-th exchange and is
// reused in between. The indices are divided into P regions; each worker sums one and sends what
// reaches the threshold to all others. The regions follow the workers' messages, so that each gets
// about as many entries: every `region_period` exchanges they are the means of what each worker
// would choose for its own.
//
//   indices     0 ........ begins[1] ........ begins[2] ........ d
//               |  region 0   |    region 1     |    region 2    |      P = 3
//
//   1. Worker p sends the part of s^p that lies in region r to worker r, which adds the parts up.
//   2. At every `period`-th exchange: all gather the sums of all regions; the threshold is their
//      k-th largest magnitude, and g what reaches it.
//      At the others: each worker keeps what reaches the threshold in its region. If one keeps more
//      than four times the mean, the workers first even out what is to be sent. Then all gather
//      what was kept, which is g.
//
// A message's entry is applied if its index is in g; the rest is put back.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "core/aggregators/region_sums.h"
#include "core/config/amount.h"
#include "core/vectors/merge.h"

namespace residuum {
namespace {

struct OkTopkRule {
  std::optional<Amount> amount;  // of g; absent where it is the k of the sparsifier
  std::uint64_t period = 1;
  std::uint64_t region_period = 1;
};

template <class Real>
class OkTopkExchange final : public Exchange<Real> {
 public:
  explicit OkTopkExchange(OkTopkRule rule) : rule_(std::move(rule)) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    Ledger ledger(cluster, exchanged.transfers);
    exchanged.is_dense = false;
    exchanged.applied_whole = false;
    const auto lists = lists_.of(contributions);
    if (exchanges_ % rule_.region_period == 0) {
      divide(cluster, contributions.dimension, lists, ledger);
    }
    const auto sizes = list_bytes<Real>(contributions.dimension, contributions.k);
    regions_.take(cluster, sizes, contributions.k, lists, begins_, ledger);
    if (exchanges_ % rule_.period == 0) {
      set_threshold(cluster, contributions, ledger, exchanged.sum);
    } else {
      gather_above(cluster, sizes, ledger, exchanged.sum);
    }
    ++exchanges_;
    exchanged.applied.resize(lists.size());
    intersect<Real>(lists, exchanged.sum.indices, intersect_, exchanged.applied);
    exchanged.dropped_in_merges.resize(lists.size());  // all of them are empty
    exchanged.traffic = ledger.traffic();
  }

  void save_or_load(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    RunState& state) override {
    begins_.resize(static_cast<std::size_t>(cluster.workers()) + 1);
    state.shared(exchanges_);
    state.shared(threshold_);
    state.shared(begins_);
    state.examine([&] {
      require(exchanges_ == 0 ||
                  (begins_.front() == 0 && std::is_sorted(begins_.begin(), begins_.end()) &&
                   begins_.back() == contributions.dimension),
              "the regions of Ok-Topk do not divide the {} indices",
              contributions.dimension);
    });
  }

 private:
  /// Each worker divides the indices so that its own list has equally many entries in each region,
  /// and the regions begin at the means of these over the workers.
  void divide(const Cluster& cluster, std::size_t dimension, Lists<Real> lists, Ledger& ledger) {
    const auto workers = static_cast<std::size_t>(cluster.workers());
    sums_.assign(workers - 1, 0);  // whole numbers, exact below 2^53
    for (const auto* list : lists) {
      for (std::size_t region = 1; region < workers; ++region) {
        const std::size_t at = part_begin(list->size(), region, workers);
        sums_[region - 1] += static_cast<double>(
            list->empty() ? part_begin(dimension, region, workers) : list->indices[at]);
      }
    }
    cluster.world().add_up(std::span(sums_));
    ledger.pass_doubling(sums_.size() * sizeof(std::uint64_t));
    begins_.assign(1, 0);
    for (const double sum : sums_) {
      begins_.push_back(static_cast<std::size_t>(sum) / workers);
    }
    begins_.push_back(dimension);
  }

  /// Gathers the sums of all regions and finds the threshold in them.
  void set_threshold(const Cluster& cluster,
                     const Contributions<Real>& contributions,
                     Ledger& ledger,
                     SparseVector<Real>& sum) {
    charge_gather(cluster,
                  regions_.sums(),
                  list_bytes<Real>(contributions.dimension, contributions.k),
                  ledger);
    regions_.gather(cluster, regions_.sums(), all_);
    const std::size_t k =
        rule_.amount ? rule_.amount->resolve(contributions.dimension) : contributions.k;
    ledger.work_all([&] {
      threshold_ = kth_magnitude(k);
      split_above(all_, threshold_, sum, remainder_);
    });
  }

  /// Returns the k-th largest magnitude of the whole sum, or 0 where it has no more than k entries:
  /// then all of them are wanted, now and later.
  Real kth_magnitude(std::size_t k) {
    if (all_.size() <= k) {
      return 0;
    }
    split_top_k(all_, k, split_, kept_, remainder_);
    Real smallest = std::abs(kept_.values.front());
    for (const Real value : kept_.values) {
      smallest = std::min(smallest, std::abs(value));
    }
    return smallest;
  }

  /// Gathers what reaches the threshold that was found before.
  void gather_above(const Cluster& cluster,
                    const ListBytes& sizes,
                    Ledger& ledger,
                    SparseVector<Real>& sum) {
    const auto sums = regions_.sums();
    above_.resize(sums.size());
    pointers_.clear();
    const auto keep_here = [&] {
      for (std::size_t slot = 0; slot < sums.size(); ++slot) {
        split_above(*sums[slot], threshold_, above_[slot], remainder_);
        pointers_.push_back(&above_[slot]);
      }
    };
    ledger.work_all(keep_here, 1.0 / cluster.count());
    charge_balanced_gather(cluster, pointers_, sizes, ledger);
    regions_.gather(cluster, pointers_, sum);
  }

  void charge_gather(const Cluster& cluster,
                     Lists<Real> lists,
                     const ListBytes& sizes,
                     Ledger& ledger) {
    bytes_.clear();
    int region = cluster.first();
    for (const auto* list : lists) {
      bytes_.push_back(regions_.bytes_in(region++, list->size(), sizes));
    }
    ledger.gather(bytes_);
  }

  /// Charges the gathering of the lists, and before it of their lengths, and the balancing where
  /// one is long. Balanced lists are equal parts of all entries in the order of the workers.
  void charge_balanced_gather(const Cluster& cluster,
                              Lists<Real> lists,
                              const ListBytes& sizes,
                              Ledger& ledger) {
    bytes_.assign(lists.size(), sizeof(std::uint32_t));
    ledger.gather(bytes_);
    gather_sizes(cluster, lists);
    const std::size_t total = std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0});
    constexpr std::size_t kLongest = 4;  // times the mean
    const std::size_t workers = sizes_.size();
    const std::size_t longest = *std::max_element(sizes_.begin(), sizes_.end());
    if (longest * workers <= kLongest * total) {
      charge_gather(cluster, lists, sizes, ledger);
      return;
    }
    charge_balancing(sizes_, total, sizes.of_entry, ledger);
    for (std::size_t slot = 0; slot < lists.size(); ++slot) {
      const std::size_t worker = static_cast<std::size_t>(cluster.first()) + slot;
      bytes_[slot] = (part_begin(total, worker + 1, workers) - part_begin(total, worker, workers)) *
                     sizes.of_entry;
    }
    ledger.gather(bytes_);
  }

  /// sizes_ := the entries of every worker's list.
  void gather_sizes(const Cluster& cluster, Lists<Real> lists) {
    own_sizes_.clear();
    for (const auto* list : lists) {
      own_sizes_.push_back(list->size());
    }
    cluster.world().all_gather(std::as_bytes(std::span(own_sizes_)), gathered_);
    sizes_.resize(gathered_.bytes.size() / sizeof(std::uint64_t));
    std::memcpy(sizes_.data(), gathered_.bytes.data(), gathered_.bytes.size());
  }

  static void charge_balancing(std::span<const std::uint64_t> sizes,
                               std::size_t total,
                               std::size_t bytes_of_entry,
                               Ledger& ledger) {
    const std::size_t workers = sizes.size();
    std::size_t begin = 0;
    for (std::size_t from = 0; from < workers; ++from) {
      const std::size_t end = begin + sizes[from];
      for (std::size_t to = 0; to < workers; ++to) {
        const std::size_t first = std::max(begin, part_begin(total, to, workers));
        const std::size_t last = std::min(end, part_begin(total, to + 1, workers));
        if (to != from && first < last) {
          ledger.carry(
              static_cast<int>(from), static_cast<int>(to), (last - first) * bytes_of_entry);
        }
      }
      begin = end;
    }
    ledger.end_round();
  }

  OkTopkRule rule_;
  std::uint64_t exchanges_ = 0;
  Real threshold_ = 0;
  std::vector<std::size_t> begins_;  // of the regions, and d

  MessageLists<Real> lists_;
  RegionSums<Real> regions_;
  std::vector<double> sums_;  // whole numbers, exact below 2^53
  std::vector<std::uint64_t> own_sizes_, sizes_;
  Gathered gathered_;
  SparseVector<Real> all_, kept_, remainder_;
  SplitWorkspace<Real> split_;
  std::vector<SparseVector<Real>> above_;  // of the regions here
  std::vector<const SparseVector<Real>*> pointers_;
  std::vector<std::size_t> bytes_;
  IntersectWorkspace<Real> intersect_;
};

class OkTopk final : public AggregatorFor<OkTopkExchange, OkTopkRule> {
 public:
  explicit OkTopk(const OkTopkRule& rule) : AggregatorFor(rule), amount_(rule.amount) {}

  /// With a threshold that is reused, g may have more than k entries, and others than the largest.
  AggregatorLaw law() const override {
    return {.applies_whole_messages = false, .drops_in_merges = false, .is_sparse = false};
  }
  bool needs_k() const override { return !amount_.has_value(); }
  void check(int /*workers*/, std::span<const MatrixPlace> layers) const override {
    if (amount_) {
      const MatrixPlace& last = layers.back();
      amount_->resolve(last.begin + last.rows * last.columns);
    }
  }

  /// The bound is met where no entry is in its sender's region, no two have one index, all reach
  /// the threshold and must be evened out, and regions are divided anew.
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    if (shape.workers == 1) {
      return {.bytes = 0, .exact = false};
    }
    const double workers = shape.workers;
    const double sent = std::min(shape.entries, shape.dimension);
    const double lengths = workers * (workers - 1) * sizeof(std::uint32_t);
    const double division = workers * (std::ceil(std::log2(workers)) + 1) * (workers - 1) *
                            static_cast<double>(sizeof(std::uint64_t));
    return {.bytes = (shape.entries + workers * sent) * shape.entry_bytes() + lengths + division,
            .exact = false};
  }

 private:
  std::optional<Amount> amount_;
};

std::uint64_t period_of(const Section& section, const char* key, std::int64_t usual) {
  const std::int64_t period = section.integer(key, usual);
  require(period >= 1, "{} must be at least 1, got {}", section.where(key), period);
  return static_cast<std::uint64_t>(period);
}

}  // namespace

std::unique_ptr<Aggregator> make_ok_topk(const Section& section) {
  // As the paper trains VGG-16.
  constexpr std::int64_t kPeriod = 32;
  constexpr std::int64_t kRegionPeriod = 64;
  return std::make_unique<OkTopk>(
      OkTopkRule{.amount = Amount::if_given(section),
                 .period = period_of(section, "period", kPeriod),
                 .region_period = period_of(section, "region_period", kRegionPeriod)});
}

}  // namespace residuum
