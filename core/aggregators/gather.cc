#include "core/aggregators/gather.h"

#include <utility>

namespace residuum {
namespace {

/// Sums neighbours, then neighbours of neighbours, ...; the result is in lists[0].
template <class Real>
void sum_pairwise(std::vector<SparseVector<Real>>& lists, SparseVector<Real>& buffer) {
  for (std::size_t stride = 1; stride < lists.size(); stride *= 2) {
    for (std::size_t i = 0; i + stride < lists.size(); i += 2 * stride) {
      add(lists[i], lists[i + stride], buffer);
      std::swap(lists[i], buffer);
    }
  }
}

}  // namespace

template <class Real>
void messages_as_lists(const Contributions<Real>& contributions,
                       std::vector<SparseVector<Real>>& lists) {
  lists.resize(contributions.messages.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto& message = contributions.messages[i];
    if (message.everything) {
      to_sparse(contributions.accumulators[i], lists[i]);
    } else {
      lists[i] = message.entries;
    }
  }
}

template <class Real>
void gather_and_sum(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    Aggregation<Real>& result) {
  result.is_dense = false;
  result.traffic = {};
  result.traffic.rounds = static_cast<std::uint64_t>(ceil_log2(cluster.workers()));
  messages_as_lists(contributions, result.lists);
  const auto copies = static_cast<std::uint64_t>(cluster.workers() - 1);
  for (const auto& list : result.lists) {
    result.traffic.bytes += copies * list.size() * entry_bytes<Real>();
  }
  auto all = cluster.all_gather<Real>(result.lists);
  sum_pairwise(all, result.merged);
  result.sum = std::move(all.front());
}

TrafficModel gather_traffic_model(const TrafficShape& shape) {
  return {.bytes = (shape.workers - 1) * shape.entries * shape.entry_bytes(),
          .exact = !shape.whole_messages};
}

template void messages_as_lists<float>(const Contributions<float>&,
                                       std::vector<SparseVector<float>>&);
template void messages_as_lists<double>(const Contributions<double>&,
                                        std::vector<SparseVector<double>>&);
template void gather_and_sum<float>(const Cluster&,
                                    const Contributions<float>&,
                                    Aggregation<float>&);
template void gather_and_sum<double>(const Cluster&,
                                     const Contributions<double>&,
                                     Aggregation<double>&);

}  // namespace residuum
