// g = sum_p s^p: every worker sends its message to every other, and g has up to kP entries.
//
// Two training codes apply something else than they clear (SparseLoCo's, 2025): with clip =
// "median-norm" a message whose norm is above the median of all norms is scaled down to it, and
// with weighting = "senders" an entry is divided by how many workers sent it, and not by P (who
// sends a code that is read as 0 does not count):
//   c_p = min(1, median_q |s^q| / |s^p|);  g_i = (P / n_i) sum_p c_p s^p_i,  n_i = #{p: s^p_i
//   sent}.
// The median of an even number of norms is the lower one, as torch.median has it. The workers'
// memories lose the whole messages all the same.

#include <algorithm>
#include <cmath>

#include "core/aggregators/gather.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

struct WeighingRules {
  bool by_senders = false;
  bool clips = false;

  bool any() const { return by_senders || clips; }
};

WeighingRules weighing_rules_from(const Section& section) {
  const auto weighting = section.choice("weighting", {"workers", "senders"}, "workers");
  const auto clip = section.choice("clip", {"none", "median-norm"}, "none");
  return {.by_senders = weighting == "senders", .clips = clip == "median-norm"};
}

template <class Real>
class AllGatherExchange final : public Exchange<Real> {
 public:
  explicit AllGatherExchange(WeighingRules rules) : rules_(rules) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    Ledger ledger(cluster, exchanged.transfers);
    exchanged.is_dense = false;
    exchanged.applied_whole = !rules_.any();
    const auto mine = lists_.of(contributions);
    if (!rules_.any()) {
      gathered_.take(cluster, mine, contributions, ledger, exchanged.sum);
      exchanged.traffic = ledger.traffic();
      return;
    }
    const auto lists = gathered_.gather(cluster, mine, contributions, ledger);
    ledger.work_all([&] {
      gathered_.add_up(rules_.clips ? clipped(lists) : lists, exchanged.sum);
      if (rules_.by_senders) {
        divide_by_senders(lists, exchanged.sum);
      }
    });
    exchanged.applied.resize(mine.size());
    exchanged.dropped_in_merges.resize(mine.size());  // all of them are empty
    for (std::size_t slot = 0; slot < mine.size(); ++slot) {
      copy(*mine[slot], exchanged.applied[slot]);
    }
    exchanged.traffic = ledger.traffic();
  }

 private:
  Lists<Real> clipped(Lists<Real> lists) {
    norms_.clear();
    for (const auto* list : lists) {
      norms_.push_back(std::sqrt(norm_sq<Real>(list->values)));
    }
    sorted_ = norms_;
    const auto median = sorted_.begin() + static_cast<std::ptrdiff_t>((sorted_.size() - 1) / 2);
    std::nth_element(sorted_.begin(), median, sorted_.end());
    scaled_.resize(lists.size());
    scaled_lists_.clear();
    for (std::size_t worker = 0; worker < lists.size(); ++worker) {
      scaled_lists_.push_back(lists[worker]);
      if (norms_[worker] > *median) {
        copy(*lists[worker], scaled_[worker]);
        const auto factor = static_cast<Real>(*median / norms_[worker]);
        for (Real& value : scaled_[worker].values) {
          value *= factor;
        }
        scaled_lists_.back() = &scaled_[worker];
      }
    }
    return scaled_lists_;
  }

  /// The indices of lists and sums rise, and a sum has those of all lists but where values cancel.
  void divide_by_senders(Lists<Real> lists, SparseVector<Real>& sum) {
    senders_.assign(sum.size(), 0);
    for (const auto* list : lists) {
      std::size_t at = 0;
      for (const std::uint32_t index : list->indices) {
        while (at < sum.size() && sum.indices[at] < index) {
          ++at;
        }
        if (at < sum.size() && sum.indices[at] == index) {
          ++senders_[at];
        }
      }
    }
    const auto workers = static_cast<double>(lists.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum.values[i] = static_cast<Real>(workers / senders_[i] * static_cast<double>(sum.values[i]));
    }
  }

  WeighingRules rules_;
  MessageLists<Real> lists_;
  GatheredSum<Real> gathered_;
  std::vector<double> norms_, sorted_;
  std::vector<SparseVector<Real>> scaled_;
  std::vector<const SparseVector<Real>*> scaled_lists_;
  std::vector<std::uint32_t> senders_;
};

class AllGather final : public AggregatorFor<AllGatherExchange, WeighingRules> {
 public:
  explicit AllGather(WeighingRules rules) : AggregatorFor(rules), weighs_(rules.any()) {}

  AggregatorLaw law() const override {
    return {.applies_whole_messages = !weighs_,
            .drops_in_merges = false,
            .is_sparse = false,
            .forwards_messages = true,
            .weighs_messages = weighs_};
  }
  bool needs_k() const override { return false; }
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return gather_traffic_model(shape);
  }

 private:
  bool weighs_;
};

}  // namespace

std::unique_ptr<Aggregator> make_allgather(const Section& section) {
  return std::make_unique<AllGather>(weighing_rules_from(section));
}

}  // namespace residuum
