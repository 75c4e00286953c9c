#include "core/aggregators/doubling.h"

#include <algorithm>
#include <bit>

namespace residuum {
namespace {

/// Takes the entries at these indices (increasing) out of the list.
template <class Real>
void take_out(SparseVector<Real>& list, const std::vector<std::uint32_t>& indices) {
  std::size_t kept = 0;
  auto next = indices.begin();
  for (std::size_t i = 0; i < list.size(); ++i) {
    next = std::lower_bound(next, indices.end(), list.indices[i]);
    if (next != indices.end() && *next == list.indices[i]) {
      continue;
    }
    list.indices[kept] = list.indices[i];
    list.values[kept] = list.values[i];
    ++kept;
  }
  list.resize(kept);
}

}  // namespace

template <class Real>
void MergeDoubling<Real>::reduce(const Cluster& cluster,
                                 const Contributions<Real>& contributions,
                                 Lists<Real> lists,
                                 Ledger& ledger,
                                 SparseVector<Real>& result) {
  plan(cluster);
  held_.assign(lists.begin(), lists.end());
  merged_.resize(lists.size());
  dropped_by_.clear();
  below_whole_ = static_cast<std::size_t>(std::clamp(whole_ - cluster.first(), 0, cluster.count()));
  sent_.assign(lists.begin(), lists.begin() + static_cast<std::ptrdiff_t>(below_whole_));
  merge_all(cluster, contributions, ledger);
  if (cluster.here(0)) {
    // A single worker has merged nothing: its list may be longer than k.
    split_top_k(*held_[0], contributions.k, split_, result, remainder_);
  } else if (below_whole_ > 0) {
    copy(*held_[0], result);
  }
  if (whole_ < cluster.workers()) {
    cluster.broadcast(0, contributions.k, result, buffers_);
  }
}

template <class Real>
void MergeDoubling<Real>::plan(const Cluster& cluster) {
  const bool has_moved = cluster.has_own_blocks() && cluster.world().size() > 1;
  if (workers_ == cluster.workers() && processes_ == cluster.world().size() && !has_moved) {
    return;
  }
  workers_ = cluster.workers();
  processes_ = cluster.world().size();
  whole_ = static_cast<int>(std::bit_floor(static_cast<unsigned>(workers_)));
  edges_.clear();
  groups_.clear();
  round_ends_.clear();
  for (int size = whole_ < workers_ ? 1 : 2; size <= whole_; size *= 2) {
    const int end = size == 1 ? workers_ - whole_ : whole_;
    for (int first = 0; first < end; first += size) {
      plan_edges(cluster, {.first = first, .size = size});
      groups_.push_back({.first = first, .size = size, .edges_end = edges_.size()});
    }
    round_ends_.push_back(groups_.size());
  }
}

/// Lists the messages between processes by which every process of the group gets what it merges: a
/// process without workers of one half gets that half's list from the partner of its first worker.
template <class Real>
void MergeDoubling<Real>::plan_edges(const Cluster& cluster, const Group& group) {
  if (group.size == 1) {
    if (cluster.host(group.first + whole_) != cluster.host(group.first)) {
      edges_.push_back({.from = group.first + whole_, .to = group.first});
    }
    return;
  }
  const int half = group.size / 2;
  const int middle = group.first + half;
  const bool is_split = cluster.host(middle - 1) != cluster.host(middle);
  for (int worker = group.first; worker < group.first + group.size; ++worker) {
    const int host = cluster.host(worker);
    const bool is_first =
        worker == group.first || worker == middle || cluster.host(worker - 1) != host;
    if (is_first && (is_split || host != cluster.host(middle))) {
      edges_.push_back({.from = worker < middle ? worker + half : worker - half, .to = worker});
    }
  }
}

template <class Real>
void MergeDoubling<Real>::merge_all(const Cluster& cluster,
                                    const Contributions<Real>& contributions,
                                    Ledger& ledger) {
  folded_.resize(std::max(folded_.size(), below_whole_));
  expected_ = 0;
  passed_ = 0;
  auto round_end = round_ends_.begin();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    make_group(cluster, contributions, groups_[i], ledger);
    if (i + 1 == *round_end) {
      ledger.end_round();
      ++round_end;
    }
  }
}

/// Passes the messages of the group and merges its halves, once on every process that has workers
/// of it.
template <class Real>
void MergeDoubling<Real>::make_group(const Cluster& cluster,
                                     const Contributions<Real>& contributions,
                                     const Group& group,
                                     Ledger& ledger) {
  charge(cluster, contributions, group, ledger);
  const int half = group.first + std::max(group.size / 2, 1);
  const auto* lower = held_in(cluster, group.first, half);
  const auto* upper = group.size > 1 ? held_in(cluster, half, group.first + group.size)
                                     : held_in(cluster, group.first + whole_, half + whole_);
  const auto* incoming = exchange(cluster, group, contributions.k);
  if (incoming != nullptr) {
    (lower == nullptr ? lower : upper) = incoming;
  }
  if (group.size == 1 && cluster.here(group.first)) {
    if (!cluster.here(group.first + whole_)) {
      auto& kept =
          folded_[cluster.slot(group.first)];  // the buffers are used again before its outcome is
      copy(*upper, kept);                      // known
      upper = &kept;
    }
    sent_.push_back(upper);
  }
  ledger.work_group(
      group.first, group.size, [&] { merge(cluster, group, *lower, *upper, contributions.k); });
}

/// Charges what the workers of the group send: to their partner, or to the one they are folded
/// into.
template <class Real>
void MergeDoubling<Real>::charge(const Cluster& cluster,
                                 const Contributions<Real>& contributions,
                                 const Group& group,
                                 Ledger& ledger) const {
  const std::size_t d = contributions.dimension;
  const auto carry = [&](int from, int to) {
    const std::size_t entries = cluster.here(from) ? held_[cluster.slot(from)]->size() : 0;
    ledger.carry(from, to, list_bytes<Real>(d, d).of(entries, d));
  };
  if (group.size == 1) {
    carry(group.first + whole_, group.first);
    return;
  }
  for (int worker = group.first; worker < group.first + group.size; ++worker) {
    const bool is_lower = worker < group.first + group.size / 2;
    carry(worker, is_lower ? worker + group.size / 2 : worker - group.size / 2);
  }
}

/// Returns what the workers from `begin` to `end` hold, if one of them lives here.
template <class Real>
const SparseVector<Real>* MergeDoubling<Real>::held_in(const Cluster& cluster,
                                                       int begin,
                                                       int end) const {
  const int worker = std::max(begin, cluster.first());
  return worker < end && cluster.here(worker) ? held_[cluster.slot(worker)] : nullptr;
}

/// Sends the messages of the group from this process and returns the one that comes to it, or null.
/// A process sends before it receives, so that a link carries both directions at once.
template <class Real>
const SparseVector<Real>* MergeDoubling<Real>::exchange(const Cluster& cluster,
                                                        const Group& group,
                                                        std::size_t most_entries) {
  for (; expected_ < edges_.size() && !buffers_.is_full(); ++expected_) {
    cluster.post_receive(edges_[expected_].from, edges_[expected_].to, most_entries, buffers_);
  }
  const auto edges = std::span(edges_).first(group.edges_end).subspan(passed_);
  passed_ = group.edges_end;
  for (const auto [from, to] : edges) {
    if (cluster.here(from)) {
      cluster.send_along(from, to, held_[cluster.slot(from)], buffers_);
    }
  }
  const SparseVector<Real>* incoming = nullptr;
  for (const auto [from, to] : edges) {
    if (cluster.here(to)) {
      incoming = cluster.send_along<Real>(from, to, nullptr, buffers_);
    }
  }
  return incoming;
}

/// Replaces the lists of the group's workers here by Top_k of the sum, and records the entries that
/// are dropped.
template <class Real>
void MergeDoubling<Real>::merge(const Cluster& cluster,
                                const Group& group,
                                const SparseVector<Real>& lower,
                                const SparseVector<Real>& upper,
                                std::size_t k) {
  const std::size_t number = dropped_by_.size();
  if (number == dropped_.size()) {
    dropped_.emplace_back();
  }
  const int begin = std::max(group.first, cluster.first());
  const int end = std::min(group.first + group.size, cluster.first() + cluster.count());
  auto& target = merged_[cluster.slot(begin)];
  merge_top_k(lower, upper, k, split_, target, dropped_[number]);
  for (int worker = begin; worker < end; ++worker) {
    held_[cluster.slot(worker)] = &target;
  }
  if (!dropped_[number].empty()) {
    dropped_by_.push_back(group);
  }
}

template <class Real>
void MergeDoubling<Real>::find_applied(const Cluster& cluster,
                                       const Contributions<Real>& contributions,
                                       const SparseVector<Real>& result,
                                       Ledger& ledger,
                                       std::vector<SparseVector<Real>>& applied) {
  found_.resize(std::max(found_.size(), sent_.size()));
  intersect<Real>(sent_, result.indices, intersect_, std::span(found_).first(sent_.size()));
  take_out_dropped(cluster, result);
  applied.resize(static_cast<std::size_t>(cluster.count()));
  for (std::size_t slot = 0; slot < below_whole_; ++slot) {
    std::swap(applied[slot], found_[slot]);
  }
  const std::size_t d = contributions.dimension;
  const std::size_t result_bytes = list_bytes<Real>(d, d).of(result.size(), d);
  const std::size_t mask_bytes = (result.size() + 7) / 8;
  for (int worker = whole_; worker < workers_; ++worker) {
    const int partner = worker - whole_;
    const auto* message =
        cluster.here(partner) ? &found_[below_whole_ + cluster.slot(partner)] : nullptr;
    ledger.carry(partner, worker, result_bytes + mask_bytes);
    cluster.post_receive(partner, worker, contributions.k, buffers_);
    const auto* incoming = cluster.send_along(partner, worker, message, buffers_);
    if (cluster.here(worker)) {
      copy(*incoming, applied[cluster.slot(worker)]);
    }
  }
  if (whole_ < workers_) {
    ledger.end_round();
  }
}

/// Takes out of `found_` what a merge on its sender's path has dropped.
template <class Real>
void MergeDoubling<Real>::take_out_dropped(const Cluster& cluster,
                                           const SparseVector<Real>& result) {
  const std::size_t count = dropped_by_.size();
  looked_at_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    looked_at_.push_back(&dropped_[i]);
  }
  inside_.resize(std::max(inside_.size(), count));
  intersect<Real>(looked_at_, result.indices, intersect_, std::span(inside_).first(count));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t at = 0; at < sent_.size() && !inside_[i].empty(); ++at) {
      const std::size_t slot = at < below_whole_ ? at : at - below_whole_;
      if (dropped_by_[i].has(cluster.first() + static_cast<int>(slot))) {
        take_out(found_[at], inside_[i].indices);
      }
    }
  }
}

template class MergeDoubling<float>;
template class MergeDoubling<double>;

}  // namespace residuum
