#include "core/aggregators/gather.h"

namespace residuum {

template <class Real>
Lists<Real> MessageLists<Real>::of(const Contributions<Real>& contributions) {
  const auto of_workers = contributions.of_workers;
  whole_.resize(of_workers.size());
  lists_.clear();
  for (std::size_t slot = 0; slot < of_workers.size(); ++slot) {
    const auto& [message, accumulator] = of_workers[slot];
    if (message->everything) {
      to_sparse(accumulator, whole_[slot]);
    }
    lists_.push_back(message->everything ? &whole_[slot] : &message->entries);
  }
  return lists_;
}

template <class Real>
Lists<Real> GatheredSum<Real>::gather(const Cluster& cluster,
                                      Lists<Real> mine,
                                      const Contributions<Real>& contributions,
                                      Ledger& ledger) {
  bytes_.resize(mine.size());
  for (std::size_t slot = 0; slot < mine.size(); ++slot) {
    bytes_[slot] = contributions.of_workers[slot].message->bytes(contributions.dimension);
  }
  ledger.gather(bytes_);
  return cluster.all_gather<Real>(mine, buffers_);
}

template <class Real>
void GatheredSum<Real>::take(const Cluster& cluster,
                             Lists<Real> mine,
                             const Contributions<Real>& contributions,
                             Ledger& ledger,
                             SparseVector<Real>& sum) {
  const auto lists = gather(cluster, mine, contributions, ledger);
  ledger.work_all([&] { add_up(lists, sum); });
}

/// Every partial sum keeps its own buffer, so that reallocation soon ends.
template <class Real>
void PairwiseSum<Real>::take(Lists<Real> lists, SparseVector<Real>& sum) {
  if (lists.size() == 1) {
    copy(*lists.front(), sum);
    return;
  }
  partial_sums_.resize(lists.size());
  left_.assign(lists.begin(), lists.end());
  for (std::size_t used = 0; left_.size() > 1;) {
    const std::size_t pairs = left_.size() / 2;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      SparseVector<Real>& target = left_.size() == 2 ? sum : partial_sums_[used++];
      add(*left_[2 * pair], *left_[2 * pair + 1], target);
      left_[pair] = &target;
    }
    if (left_.size() % 2 != 0) {
      left_[pairs] = left_.back();
    }
    left_.resize((left_.size() + 1) / 2);
  }
}

TrafficModel gather_traffic_model(const TrafficShape& shape) {
  return {.bytes = (shape.workers - 1) * shape.message_bytes(),
          .exact = !shape.coded_bytes || shape.coded_bytes_are_exact};
}

template class MessageLists<float>;
template class MessageLists<double>;
template class PairwiseSum<float>;
template class PairwiseSum<double>;
template class GatheredSum<float>;
template class GatheredSum<double>;

}  // namespace residuum
