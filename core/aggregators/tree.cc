#include "core/aggregators/tree.h"

#include <algorithm>

namespace residuum {
namespace {

template <class Real>
void plan(int workers, AggregationBuffers<Real>& buffers) {
  if (buffers.edges.size() + 1 == static_cast<std::size_t>(workers)) {
    return;  // the tree of so many workers is planned
  }
  const auto rounds = tree_rounds(workers);
  buffers.rounds = rounds.size();
  buffers.edges.clear();
  for (const auto& round : rounds) {
    buffers.edges.insert(buffers.edges.end(), round.begin(), round.end());
  }
}

/// The worker in `slot` holds Top_k of what it held and what came in; what is cut is noted.
template <class Real>
void merge(const SparseVector<Real>& incoming,
           std::size_t k,
           std::size_t slot,
           AggregationBuffers<Real>& buffers) {
  const std::size_t number = buffers.cut_slots.size();
  if (number == buffers.cuts.size()) {
    buffers.cuts.emplace_back();
  }
  merge_top_k(
      *buffers.held[slot], incoming, k, buffers.split, buffers.merged[slot], buffers.cuts[number]);
  buffers.held[slot] = &buffers.merged[slot];
  if (!buffers.cuts[number].empty()) {
    buffers.cut_slots.push_back(slot);
  }
}

/// Every worker but worker 0 sends once: the bytes that those here send.
template <class Real>
std::uint64_t climb(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    AggregationBuffers<Real>& buffers) {
  const auto& edges = buffers.edges;
  std::uint64_t bytes = 0;
  std::size_t expected = 0;
  for (const auto [from, to] : edges) {
    for (; expected < edges.size() && !buffers.mail.is_full(); ++expected) {
      cluster.expect(edges[expected].from, edges[expected].to, contributions.k, buffers.mail);
    }
    const auto* message = cluster.here(from) ? buffers.held[cluster.slot(from)] : nullptr;
    if (message != nullptr) {
      bytes += message->size() * entry_bytes<Real>(contributions.dimension);
    }
    const auto* incoming = cluster.deliver(from, to, message, buffers.mail);
    if (incoming != nullptr) {
      merge(*incoming, contributions.k, cluster.slot(to), buffers);
    }
  }
  return bytes;
}

}  // namespace

template <class Real>
void reduce_along_tree(const Cluster& cluster,
                       const Contributions<Real>& contributions,
                       Aggregation<Real>& result) {
  auto& buffers = result.buffers;
  plan(cluster.workers(), buffers);
  buffers.held = buffers.lists;
  buffers.merged.resize(buffers.lists.size());
  buffers.cut_slots.clear();
  result.traffic = {.bytes = climb(cluster, contributions, buffers), .rounds = 2 * buffers.rounds};
  if (cluster.here(0)) {
    // A single worker has merged nothing: its list may be longer than k.
    split_top_k(*buffers.held[0], contributions.k, buffers.split, result.sum, buffers.cut);
  }
  cluster.broadcast(0, contributions.k, result.sum, buffers.mail);
}

template <class Real>
void find_cuts_on_support(Aggregation<Real>& result) {
  auto& buffers = result.buffers;
  const std::size_t merges = buffers.cut_slots.size();
  buffers.looked_at.clear();
  for (std::size_t i = 0; i < merges; ++i) {
    buffers.looked_at.push_back(&buffers.cuts[i]);
  }
  buffers.inside.resize(std::max(buffers.inside.size(), merges));
  const auto inside = std::span(buffers.inside).first(merges);
  intersect<Real>(buffers.looked_at, result.sum.indices, buffers.intersect, inside);
  result.cut_in_merges.resize(buffers.lists.size());
  for (auto& cuts : result.cut_in_merges) {
    cuts.clear();
  }
  buffers.sum.make_room(2 * result.sum.size());
  for (std::size_t i = 0; i < merges; ++i) {
    auto& cuts = result.cut_in_merges[buffers.cut_slots[i]];
    cuts.make_room(result.sum.size());
    if (!inside[i].empty()) {
      add(cuts, inside[i], buffers.sum);
      copy(buffers.sum, cuts);
    }
  }
}

template void reduce_along_tree<float>(const Cluster&,
                                       const Contributions<float>&,
                                       Aggregation<float>&);
template void reduce_along_tree<double>(const Cluster&,
                                        const Contributions<double>&,
                                        Aggregation<double>&);
template void find_cuts_on_support<float>(Aggregation<float>&);
template void find_cuts_on_support<double>(Aggregation<double>&);

}  // namespace residuum
