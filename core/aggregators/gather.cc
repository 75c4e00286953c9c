#include "core/aggregators/gather.h"

namespace residuum {
namespace {

/// sum := the sum of neighbours, of neighbouring pairs, ... Every partial sum has a buffer of its
/// own, which soon is as long as it needs to be.
template <class Real>
void sum_pairwise(Lists<Real> lists, AggregationBuffers<Real>& buffers, SparseVector<Real>& sum) {
  if (lists.size() == 1) {
    copy(*lists.front(), sum);
    return;
  }
  buffers.sums.resize(lists.size());
  auto& left = buffers.looked_at;
  left.assign(lists.begin(), lists.end());
  for (std::size_t used = 0; left.size() > 1;) {
    const std::size_t pairs = left.size() / 2;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      SparseVector<Real>& target = left.size() == 2 ? sum : buffers.sums[used++];
      add(*left[2 * pair], *left[2 * pair + 1], target);
      left[pair] = &target;
    }
    if (left.size() % 2 != 0) {
      left[pairs] = left.back();
    }
    left.resize((left.size() + 1) / 2);
  }
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
                    Aggregation<Real>& result,
                    SparseVector<Real>& sum) {
  auto& buffers = result.buffers;
  result.is_dense = false;
  messages_as_lists(contributions, buffers);
  result.traffic = {.bytes = 0, .rounds = static_cast<std::uint64_t>(ceil_log2(cluster.workers()))};
  const auto copies = static_cast<std::uint64_t>(cluster.workers() - 1);
  for (const auto* list : buffers.lists) {
    result.traffic.bytes += copies * list->size() * entry_bytes<Real>(contributions.dimension);
  }
  sum_pairwise(cluster.all_gather<Real>(buffers.lists, buffers.mail), buffers, sum);
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
                                    Aggregation<float>&,
                                    SparseVector<float>&);
template void gather_and_sum<double>(const Cluster&,
                                     const Contributions<double>&,
                                     Aggregation<double>&,
                                     SparseVector<double>&);

}  // namespace residuum
