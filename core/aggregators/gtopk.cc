// Three ways to k entries of the sum of all messages, which are sparse lists. Each entry of a list
// was applied or not: those on the support of the result were, unless a merge dropped them.

#include <cmath>

#include "core/aggregators/doubling.h"
#include "core/aggregators/gather.h"
#include "core/aggregators/tree.h"

namespace residuum {
namespace {

template <class Real>
class GTopKExchange : public Exchange<Real> {
 public:
  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) final {
    Ledger ledger(cluster, exchanged.transfers);
    exchanged.is_dense = false;
    exchanged.applied_whole = false;
    const auto lists = lists_.of(contributions);
    exchanged.applied.resize(lists.size());
    exchanged.dropped_in_merges.resize(lists.size());  // all of them are empty, but in the tree
    select(cluster, contributions, lists, ledger, exchanged);
    exchanged.traffic = ledger.traffic();
  }

 protected:
  /// Makes the sum, and says what was applied and dropped of the lists.
  virtual void select(const Cluster& cluster,
                      const Contributions<Real>& contributions,
                      Lists<Real> lists,
                      Ledger& ledger,
                      ExchangeResult<Real>& exchanged) = 0;

  void take_applied_on_support(Lists<Real> lists, ExchangeResult<Real>& exchanged) {
    intersect<Real>(lists, exchanged.sum.indices, intersect_, exchanged.applied);
  }

 private:
  MessageLists<Real> lists_;
  IntersectWorkspace<Real> intersect_;
};

/// g = Top_k(sum_p s^p), "select k from k x P" (Shi et al., ICDCS 2019, the naive form), is what
/// the tree approximates.
template <class Real>
class ExactExchange final : public GTopKExchange<Real> {
  void select(const Cluster& cluster,
              const Contributions<Real>& contributions,
              Lists<Real> lists,
              Ledger& ledger,
              ExchangeResult<Real>& exchanged) override {
    gathered_.take(cluster, lists, contributions, ledger, sum_);
    ledger.work_all([&] { split_top_k(sum_, contributions.k, split_, exchanged.sum, remainder_); });
    this->take_applied_on_support(lists, exchanged);
  }

  GatheredSum<Real> gathered_;
  SparseVector<Real> sum_, remainder_;
  SplitWorkspace<Real> split_;
};

/// gTopKAllReduce (Shi et al., ICDCS 2019) merges lists pairwise along a binary tree to worker 0
/// and broadcasts the result. An index can be dropped from one branch and survive through another.
/// What was dropped is then reported in `dropped_in_merges`, so that put-back "captured" can return
/// it. Put-back "published" clears it on its owner all the same: that mass is lost.
template <class Real>
class TreeExchange final : public GTopKExchange<Real> {
  void select(const Cluster& cluster,
              const Contributions<Real>& contributions,
              Lists<Real> lists,
              Ledger& ledger,
              ExchangeResult<Real>& exchanged) override {
    tree_.reduce(cluster, contributions, lists, ledger, exchanged.sum);
    const std::size_t d = contributions.dimension;
    ledger.pass_down(list_bytes<Real>(d, d).of(exchanged.sum.size(), d));
    tree_.find_dropped_on_support(exchanged.sum, exchanged.dropped_in_merges);
    this->take_applied_on_support(lists, exchanged);
  }

  MergeTree<Real> tree_;
};

/// Recursive doubling makes the merges of the tree at all workers at once, in log2 P rounds of k
/// entries each instead of 2 log2 P, and needs no broadcast. Every worker sees the merges that its
/// entries go through, so it keeps what was dropped on its path although the index survived through
/// another branch. What is applied adds up to g: nothing is left for `dropped_in_merges`, and
/// put-back "published" and "captured" do the same.
template <class Real>
class DoublingExchange final : public GTopKExchange<Real> {
  void select(const Cluster& cluster,
              const Contributions<Real>& contributions,
              Lists<Real> lists,
              Ledger& ledger,
              ExchangeResult<Real>& exchanged) override {
    merges_.reduce(cluster, contributions, lists, ledger, exchanged.sum);
    merges_.find_applied(cluster, contributions, exchanged.sum, ledger, exchanged.applied);
  }

  MergeDoubling<Real> merges_;
};

template <template <class> class ExchangeOf>
class GTopK final : public AggregatorFor<ExchangeOf> {
 public:
  using Model = TrafficModel (*)(const TrafficShape& shape);
  GTopK(const AggregatorLaw& law, Model traffic) : law_(law), traffic_(traffic) {}

  AggregatorLaw law() const override { return law_; }
  bool needs_k() const override { return true; }
  TrafficModel traffic_model(const TrafficShape& shape) const override { return traffic_(shape); }

 private:
  AggregatorLaw law_;
  Model traffic_;
};

TrafficModel tree_traffic_model(const TrafficShape& shape) {
  return {.bytes = 2.0 * (shape.workers - 1) * shape.k * shape.entry_bytes(), .exact = false};
}

/// A worker beyond the power of two sends its list and gets the result, with a bit for each entry
/// that says whether its own was applied.
TrafficModel doubling_traffic_model(const TrafficShape& shape) {
  const double rounds = std::floor(std::log2(shape.workers));
  const double whole = std::exp2(rounds);
  const double folded = shape.workers - whole;
  const double list = shape.k * shape.entry_bytes();
  return {.bytes = whole * rounds * list + folded * (2 * list + std::ceil(shape.k / 8)),
          .exact = false};
}

}  // namespace

std::unique_ptr<Aggregator> make_gtopk_exact(const Section& /*section*/) {
  return std::make_unique<GTopK<ExactExchange>>(
      AggregatorLaw{
          .applies_whole_messages = false, .forwards_messages = true, .selects_largest = true},
      gather_traffic_model);
}

std::unique_ptr<Aggregator> make_gtopk_tree(const Section& /*section*/) {
  return std::make_unique<GTopK<TreeExchange>>(
      AggregatorLaw{
          .applies_whole_messages = false, .drops_in_merges = true, .selects_largest = true},
      tree_traffic_model);
}

std::unique_ptr<Aggregator> make_gtopk_doubling(const Section& /*section*/) {
  return std::make_unique<GTopK<DoublingExchange>>(AggregatorLaw{.applies_whole_messages = false,
                                                                 .drops_in_merges = true,
                                                                 .dropped_stay_with_senders = true,
                                                                 .selects_largest = true},
                                                   doubling_traffic_model);
}

}  // namespace residuum
