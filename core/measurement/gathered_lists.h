#pragma once
// Lists that probes see are those of all workers, in float64 whatever the precision of the model.

#include <vector>

#include "core/cluster/cluster.h"
#include "core/training/worker.h"

namespace residuum {

template <class Real>
SparseVector<double> widened(const SparseVector<Real>& vector) {
  return {.indices = vector.indices, .values = {vector.values.begin(), vector.values.end()}};
}

/// Gathers list_of(worker) of all workers on the root and widens the values to float64. `workers`
/// are those of this process. The call is collective.
template <class Real, class ListOf>
std::vector<SparseVector<double>> gathered(const Cluster& cluster,
                                           std::span<const Worker<Real>> workers,
                                           Mail<Real>& mail,
                                           const ListOf& list_of) {
  std::vector<const SparseVector<Real>*> mine;
  for (const auto& worker : workers) {
    mine.push_back(&list_of(worker));
  }
  std::vector<SparseVector<double>> all;
  for (const auto* list : cluster.all_gather<Real>(mine, mail)) {
    all.push_back(widened(*list));
  }
  return all;
}

}  // namespace residuum
