#include "core/aggregators/tree.h"

#include <bit>
#include <utility>

namespace residuum {
namespace {

/// lists[to] := Top_k(lists[to] + incoming); what is cut is added to the worker's cuts.
template <class Real>
void merge(const SparseVector<Real>& incoming,
           std::size_t k,
           SparseVector<Real>& list,
           SparseVector<Real>& cuts,
           Aggregation<Real>& result) {
  add(list, incoming, result.merged);
  split_top_k(result.merged, k, result.workspace, list, result.cut);
  if (!result.cut.empty()) {
    add(cuts, result.cut, result.kept);
    std::swap(cuts, result.kept);
  }
}

}  // namespace

std::vector<std::vector<Edge>> tree_rounds(int workers) {
  std::vector<std::vector<Edge>> rounds;
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
  if (workers > whole) {
    auto& fold = rounds.emplace_back();
    for (int worker = whole; worker < workers; ++worker) {
      fold.push_back({.from = worker, .to = worker - whole});
    }
  }
  for (int stride = 1; stride < whole; stride *= 2) {
    auto& round = rounds.emplace_back();
    for (int to = 0; to + stride < whole; to += 2 * stride) {
      round.push_back({.from = to + stride, .to = to});
    }
  }
  return rounds;
}

template <class Real>
void reduce_along_tree(const Cluster& cluster, std::size_t k, Aggregation<Real>& result) {
  result.traffic = {};
  result.cut_in_merges.assign(result.lists.size(), {});
  const auto rounds = tree_rounds(cluster.workers());
  for (const auto& round : rounds) {
    for (const auto [from, to] : round) {
      const auto* message = cluster.here(from) ? &result.lists[cluster.slot(from)] : nullptr;
      if (message != nullptr) {
        result.traffic.bytes += message->size() * entry_bytes<Real>();
      }
      const auto* incoming = cluster.deliver(from, to, message, result.incoming);
      if (incoming != nullptr) {
        const std::size_t slot = cluster.slot(to);
        merge(*incoming, k, result.lists[slot], result.cut_in_merges[slot], result);
      }
    }
  }
  if (cluster.here(0)) {
    // A single worker has merged nothing: its list may be longer than k.
    split_top_k(result.lists[0], k, result.workspace, result.sum, result.cut);
  }
  cluster.broadcast(0, result.sum);
  result.traffic.rounds = 2 * rounds.size();
  for (auto& cuts : result.cut_in_merges) {
    split<Real>(cuts, result.sum.indices, &result.kept, nullptr);
    std::swap(cuts, result.kept);
  }
}

template void reduce_along_tree<float>(const Cluster&, std::size_t, Aggregation<float>&);
template void reduce_along_tree<double>(const Cluster&, std::size_t, Aggregation<double>&);

}  // namespace residuum
