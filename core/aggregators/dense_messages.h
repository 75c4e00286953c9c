#pragma once
// DenseMessages adds workers' messages to blocks of a dense sum, entry by entry, so that no worker
// needs a dense copy of its list.

#include <algorithm>
#include <functional>

#include "core/aggregators/aggregator.h"

namespace residuum {

template <class Real>
class DenseMessages {
 public:
  DenseMessages(const Cluster& cluster, const Contributions<Real>& contributions)
      : cluster_(cluster), contributions_(contributions) {}

  /// Adds the numbers of a worker of this process, from `begin` on, to the block.
  void operator()(int worker, std::size_t begin, std::span<Real> block) const {
    const auto& [message, accumulator] = contributions_.of_workers[cluster_.slot(worker)];
    if (message->everything) {
      const auto part = accumulator.subspan(begin, block.size());
      std::transform(block.begin(), block.end(), part.begin(), block.begin(), std::plus<Real>());
    } else {
      add_entries(message->entries, begin, block);
    }
  }

 private:
  /// Adds the entries whose index lies in the block.
  static void add_entries(const SparseVector<Real>& entries,
                          std::size_t begin,
                          std::span<Real> block) {
    const auto& indices = entries.indices;
    const auto first = std::lower_bound(indices.begin(), indices.end(), begin);
    for (auto i = static_cast<std::size_t>(first - indices.begin());
         i < indices.size() && indices[i] < begin + block.size();
         ++i) {
      block[indices[i] - begin] += entries.values[i];
    }
  }

  const Cluster& cluster_;
  const Contributions<Real>& contributions_;
};

}  // namespace residuum
