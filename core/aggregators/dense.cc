// g = sum_p s^p is exchanged as dense vectors, by the all-reduce that the key `algorithm` names
// (dense_sums.h): by default along the chain of workers and back. reduction = "fast" leaves the
// order of the chain's additions to MPI_Allreduce.

#include "core/aggregators/dense_sums.h"

namespace residuum {
namespace {

template <class Real>
class DenseExchange final : public Exchange<Real> {
 public:
  explicit DenseExchange(DenseRules rules) : rules_(std::move(rules)) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    const AllReduce& all_reduce = rules_.all_reduce;
    all_reduce.check(cluster.workers());
    exchanged.is_dense = true;
    exchanged.applied_whole = true;
    exchanged.dense_sum.resize(contributions.dimension);
    const DenseMessages<Real> messages(cluster, contributions);
    Ledger ledger(cluster, exchanged.transfers);
    ledger.work_all([&] { sums_.take(rules_, cluster, std::cref(messages), exchanged.dense_sum); },
                    all_reduce.work_share(cluster.workers()));
    all_reduce.charge(contributions.dimension, sizeof(Real), ledger);
    exchanged.traffic = ledger.traffic();
  }

 private:
  DenseRules rules_;
  DenseSums<Real> sums_;
};

class Dense final : public AggregatorFor<DenseExchange, DenseRules> {
 public:
  explicit Dense(const DenseRules& rules) : AggregatorFor(rules), all_reduce_(rules.all_reduce) {}

  AggregatorLaw law() const override {
    return {.applies_whole_messages = true,
            .drops_in_merges = false,
            .is_sparse = false,
            .carries_vectors = true};
  }
  bool needs_k() const override { return false; }
  void check(int workers, std::span<const MatrixPlace> /*layers*/) const override {
    all_reduce_.check(workers);
  }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    return {.bytes = all_reduce_.traffic(shape.workers, shape.dimension * shape.value_bytes),
            .exact = true};
  }

 private:
  AllReduce all_reduce_;
};

}  // namespace

std::unique_ptr<Aggregator> make_dense(const Section& section) {
  return std::make_unique<Dense>(dense_rules_from(section));
}

}  // namespace residuum
