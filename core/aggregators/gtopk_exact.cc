// g = Top_k(sum_p s^p), "select k from k x P" (Shi et al., ICDCS 2019, the naive form). The tree
// approximates it.

#include "core/aggregators/gather.h"
#include "core/vectors/merge.h"

namespace residuum {
namespace {

template <class Real>
class ExactExchange final : public Exchange<Real> {
 public:
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Delivery<Real>& delivery) override {
    Ledger ledger(cluster, delivery.transfers);
    delivery.is_dense = false;
    delivery.applied_whole = false;
    const auto lists = lists_.of(contributions);
    gathered_.take(cluster, lists, contributions, ledger, sum_);
    ledger.work_all([&] { split_top_k(sum_, contributions.k, split_, delivery.sum, cut_); });
    delivery.delivered.resize(lists.size());
    intersect<Real>(lists, delivery.sum.indices, intersect_, delivery.delivered);
    delivery.cut_in_merges.resize(lists.size());  // all of them are empty
    delivery.traffic = ledger.traffic();
  }

 private:
  MessageLists<Real> lists_;
  GatheredSum<Real> gathered_;
  SparseVector<Real> sum_, cut_;
  SplitWorkspace<Real> split_;
  IntersectWorkspace<Real> intersect_;
};

class GTopKExact final : public AggregatorFor<ExactExchange> {
 public:
  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .cuts_in_merges = false,
            .is_sparse = true,
            .forwards_messages = true,
            .selects_largest = true};
  }
  bool needs_k() const override { return true; }
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return gather_traffic_model(shape);
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_exact(const Section& /*section*/) {
  return std::make_unique<GTopKExact>();
}

}  // namespace residuum
