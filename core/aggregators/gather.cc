#include "core/aggregators/gather.h"

#include <utility>

namespace residuum {
namespace {

/// result.sum := the sum of neighbours, of neighbouring pairs, ...
template <class Real>
void sum_pairwise(Lists<Real> lists, Aggregation<Real>& result) {
  if (lists.size() == 1) {
    result.sum = *lists.front();
    return;
  }
  auto& buffers = result.buffers;
  auto& sums = buffers.sums;
  sums.resize((lists.size() + 1) / 2);
  for (std::size_t i = 0; i + 1 < lists.size(); i += 2) {
    add(*lists[i], *lists[i + 1], sums[i / 2]);
  }
  if (lists.size() % 2 != 0) {
    sums.back() = *lists.back();
  }
  for (std::size_t stride = 1; stride < sums.size(); stride *= 2) {
    for (std::size_t i = 0; i + stride < sums.size(); i += 2 * stride) {
      add(sums[i], sums[i + stride], buffers.sum);
      std::swap(sums[i], buffers.sum);
    }
  }
  std::swap(result.sum, sums.front());
}

}  // namespace

template <class Real>
void messages_as_lists(const Contributions<Real>& contributions,
                       AggregationBuffers<Real>& buffers) {
  buffers.whole.resize(contributions.messages.size());
  buffers.lists.clear();
  for (std::size_t slot = 0; slot < contributions.messages.size(); ++slot) {
    const auto& message = contributions.messages[slot];
    if (message.everything) {
      to_sparse(contributions.accumulators[slot], buffers.whole[slot]);
    }
    buffers.lists.push_back(message.everything ? &buffers.whole[slot] : &message.entries);
  }
}

template <class Real>
void find_delivered(Aggregation<Real>& result) {
  auto& buffers = result.buffers;
  result.delivered.resize(buffers.lists.size());
  intersect<Real>(buffers.lists, result.sum.indices, buffers.intersect, result.delivered);
}

template <class Real>
void gather_and_sum(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    Aggregation<Real>& result) {
  auto& buffers = result.buffers;
  result.is_dense = false;
  messages_as_lists(contributions, buffers);
  result.traffic = {.bytes = 0, .rounds = static_cast<std::uint64_t>(ceil_log2(cluster.workers()))};
  const auto copies = static_cast<std::uint64_t>(cluster.workers() - 1);
  for (const auto* list : buffers.lists) {
    result.traffic.bytes += copies * list->size() * entry_bytes<Real>(contributions.dimension);
  }
  sum_pairwise(cluster.all_gather<Real>(buffers.lists, buffers.mail), result);
}

TrafficModel gather_traffic_model(const TrafficShape& shape) {
  return {.bytes = (shape.workers - 1) * shape.entries * shape.entry_bytes(),
          .exact = !shape.whole_messages};
}

template void messages_as_lists<float>(const Contributions<float>&, AggregationBuffers<float>&);
template void messages_as_lists<double>(const Contributions<double>&, AggregationBuffers<double>&);
template void find_delivered<float>(Aggregation<float>&);
template void find_delivered<double>(Aggregation<double>&);
template void gather_and_sum<float>(const Cluster&,
                                    const Contributions<float>&,
                                    Aggregation<float>&);
template void gather_and_sum<double>(const Cluster&,
                                     const Contributions<double>&,
                                     Aggregation<double>&);

}  // namespace residuum
