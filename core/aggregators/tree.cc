// One reduction goes through the edges of tree_rounds (transfers.h), round after round. On an edge
// from -> to the sender's list travels, and the receiver replaces its own by Top_k of the sum:
//
//   held[to] := Top_k(held[to] + held[from]);  dropped := what Top_k left out
//
// Two cursors run over the edges. `merged` counts the messages that were merged. `posted` runs
// ahead of it and posts receives, as many as the buffers have room for, so that a list can arrive
// while this process still merges an earlier one:
//
//   edges   0  1  2  3  4  5  6 ...
//                 ^ merged
//                          ^ posted: the receives of edges 2 to 4 are posted
//
// All processes go through all edges in this order, also through those that are none of theirs, so
// that nobody waits for a message that its sender has not come to. An edge within a process hands
// the list over without a copy. Afterwards worker 0 has the result, and `reduce` broadcasts it.

#include "core/aggregators/tree.h"

#include <algorithm>

namespace residuum {

template <class Real>
void MergeTree<Real>::reduce(const Cluster& cluster,
                             const Contributions<Real>& contributions,
                             Lists<Real> lists,
                             Ledger& ledger,
                             SparseVector<Real>& result) {
  reduce_to_root(cluster, contributions, lists, ledger, result);
  cluster.broadcast(0, contributions.k, result, buffers_);
}

template <class Real>
void MergeTree<Real>::reduce_to_root(const Cluster& cluster,
                                     const Contributions<Real>& contributions,
                                     Lists<Real> lists,
                                     Ledger& ledger,
                                     SparseVector<Real>& result) {
  plan(cluster.workers());
  held_.assign(lists.begin(), lists.end());
  merged_.resize(lists.size());
  dropping_slots_.clear();
  merge_up(cluster, contributions, ledger);
  if (cluster.here(0)) {
    // A single worker has merged nothing: its list may be longer than k.
    split_top_k(*held_[0], contributions.k, split_, result, remainder_);
  }
}

template <class Real>
void MergeTree<Real>::plan(int workers) {
  if (edges_.size() + 1 == static_cast<std::size_t>(workers)) {
    return;  // the tree for this many workers is planned already
  }
  edges_.clear();
  round_ends_.clear();
  for (const auto& round : tree_rounds(workers)) {
    edges_.insert(edges_.end(), round.begin(), round.end());
    round_ends_.push_back(edges_.size());
  }
}

/// Merges along the tree; every worker but worker 0 sends once.
template <class Real>
void MergeTree<Real>::merge_up(const Cluster& cluster,
                               const Contributions<Real>& contributions,
                               Ledger& ledger) {
  std::size_t posted = 0;
  std::size_t merged = 0;
  auto round_end = round_ends_.begin();
  for (const auto [from, to] : edges_) {
    for (; posted < edges_.size() && !buffers_.is_full(); ++posted) {
      cluster.post_receive(edges_[posted].from, edges_[posted].to, contributions.k, buffers_);
    }
    const auto* message = cluster.here(from) ? held_[cluster.slot(from)] : nullptr;
    const std::size_t entries = message != nullptr ? message->size() : 0;
    const std::size_t d = contributions.dimension;
    ledger.carry(from, to, list_bytes<Real>(d, d).of(entries, d));
    const auto* incoming = cluster.send_along(from, to, message, buffers_);
    ledger.work(to, [&, worker = to] { merge(*incoming, contributions.k, cluster.slot(worker)); });
    if (++merged == *round_end) {
      ledger.end_round();
      ++round_end;
    }
  }
}

/// Replaces the list of the worker in `slot` by Top_k of its sum with the incoming list, and
/// records the entries that it drops.
template <class Real>
void MergeTree<Real>::merge(const SparseVector<Real>& incoming, std::size_t k, std::size_t slot) {
  const std::size_t number = dropping_slots_.size();
  if (number == dropped_.size()) {
    dropped_.emplace_back();
  }
  merge_top_k(*held_[slot], incoming, k, split_, merged_[slot], dropped_[number]);
  held_[slot] = &merged_[slot];
  if (!dropped_[number].empty()) {
    dropping_slots_.push_back(slot);
  }
}

template <class Real>
void MergeTree<Real>::find_dropped_on_support(const SparseVector<Real>& result,
                                              std::vector<SparseVector<Real>>& dropped_in_merges) {
  const std::size_t merges = dropping_slots_.size();
  looked_at_.clear();
  for (std::size_t i = 0; i < merges; ++i) {
    looked_at_.push_back(&dropped_[i]);
  }
  inside_.resize(std::max(inside_.size(), merges));
  const auto inside = std::span(inside_).first(merges);
  intersect<Real>(looked_at_, result.indices, intersect_, inside);
  dropped_in_merges.resize(held_.size());
  for (auto& dropped : dropped_in_merges) {
    dropped.clear();
  }
  sum_.make_room(2 * result.size());
  for (std::size_t i = 0; i < merges; ++i) {
    auto& dropped = dropped_in_merges[dropping_slots_[i]];
    dropped.make_room(result.size());
    if (!inside[i].empty()) {
      add(dropped, inside[i], sum_);
      copy(sum_, dropped);
    }
  }
}

template class MergeTree<float>;
template class MergeTree<double>;

}  // namespace residuum
