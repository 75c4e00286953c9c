#pragma once
// The aggregators a second time, on maps from index to value and by recursion: slow, and written
// from the definitions alone. A merge is Top_k of a sum, ties to the lower index.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/vectors/sparse_vector.h"

namespace residuum::test {

/// A vector by its non-zero entries.
using Entries = std::map<std::uint32_t, double>;

inline Entries entries(const std::vector<double>& dense) {
  Entries result;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (dense[i] != 0) {
      result[static_cast<std::uint32_t>(i)] = dense[i];
    }
  }
  return result;
}

inline Entries entries(const SparseVector<double>& sparse) {
  Entries result;
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    result[sparse.indices[i]] = sparse.values[i];
  }
  return result;
}

inline Entries sum(const Entries& a, const Entries& b) {
  Entries result = a;
  for (const auto& [index, value] : b) {
    result[index] += value;
    if (result[index] == 0) {
      result.erase(index);
    }
  }
  return result;
}

inline Entries sum(const std::vector<Entries>& all) {
  Entries result;
  for (const auto& one : all) {
    result = sum(result, one);
  }
  return result;
}

inline Entries top(const Entries& x, std::size_t k) {
  std::vector<std::pair<std::uint32_t, double>> order(x.begin(), x.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::abs(a.second) > std::abs(b.second);
  });
  order.resize(std::min(k, order.size()));
  return {order.begin(), order.end()};
}

/// The entries of x that are as large as its k-th largest: all of top(x, k), and ties.
inline Entries as_large_as_top(const Entries& x, std::size_t k) {
  double smallest = 0;
  for (const auto& [index, value] : top(x, k)) {
    smallest = smallest == 0 ? std::abs(value) : std::min(smallest, std::abs(value));
  }
  Entries result = x;
  std::erase_if(result, [&](const auto& entry) { return std::abs(entry.second) < smallest; });
  return result;
}

/// gTopKAllReduce: a reduction over m = 2^floor(log2 P) workers, the others folded in first.
class TreeOracle {
 public:
  TreeOracle(const std::vector<Entries>& messages, std::size_t k)
      : messages_(messages), k_(k), whole_(std::bit_floor(messages.size())) {}

  Entries result() const { return top(reduced(0, whole_), k_); }

 private:
  /// The entries of worker `first` once workers first, ..., first + count - 1 have been merged.
  Entries reduced(std::size_t first, std::size_t count) const {
    if (count == 1) {
      const std::size_t folded = first + whole_;
      return folded < messages_.size() ? top(sum(messages_[first], messages_[folded]), k_)
                                       : messages_[first];
    }
    const std::size_t half = count / 2;
    return top(sum(reduced(first, half), reduced(first + half, half)), k_);
  }

  const std::vector<Entries>& messages_;
  std::size_t k_;
  std::size_t whole_;
};

/// g of the named aggregator.
inline Entries aggregated(const std::string& name,
                          const std::vector<Entries>& messages,
                          const std::vector<Entries>& accumulators,
                          std::size_t k) {
  if (name == "gtopk-exact") {
    return top(sum(messages), k);
  }
  if (name == "ok-topk") {  // in its first exchange
    return as_large_as_top(sum(messages), k);
  }
  if (name == "gtopk-tree" || name == "gtopk-doubling") {
    return TreeOracle(messages, k).result();
  }
  if (name == "gtopk-mask") {
    Entries result;
    const Entries total = sum(accumulators);
    for (const auto& [index, unused] : TreeOracle(messages, k).result()) {
      if (total.contains(index)) {
        result[index] = total.at(index);
      }
    }
    return result;
  }
  return sum(messages);  // dense, allgather, sparse-reduce-scatter, parameter-server
}

}  // namespace residuum::test
