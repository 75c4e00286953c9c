// g = sum_p s^p: every worker sends its message to every other, and g has up to kP entries.

#include "core/aggregators/gather.h"

namespace residuum {
namespace {

template <class Real>
class AllGatherExchange final : public Exchange<Real> {
 public:
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Delivery<Real>& delivery) override {
    Ledger ledger(cluster, delivery.transfers);
    delivery.is_dense = false;
    delivery.applied_whole = true;
    gathered_.take(cluster, lists_.of(contributions), contributions, ledger, delivery.sum);
    delivery.traffic = ledger.traffic();
  }

 private:
  MessageLists<Real> lists_;
  GatheredSum<Real> gathered_;
};

class AllGather final : public AggregatorFor<AllGatherExchange> {
 public:
  AggregatorLaw law() const override {
    return {.applies_whole_messages = true,
            .cuts_in_merges = false,
            .is_sparse = false,
            .forwards_messages = true};
  }
  bool needs_k() const override { return false; }
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return gather_traffic_model(shape);
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_allgather(const Section& /*section*/) {
  return std::make_unique<AllGather>();
}

}  // namespace residuum
