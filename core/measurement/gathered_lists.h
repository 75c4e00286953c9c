#pragma once
// Probes see the lists and the scalars of all workers, in float64 whatever the precision of the
// model.

#include <cstring>
#include <span>
#include <type_traits>
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
                                           ReceiveBuffers<Real>& buffers,
                                           const ListOf& list_of) {
  std::vector<const SparseVector<Real>*> mine;
  for (const auto& worker : workers) {
    mine.push_back(&list_of(worker));
  }
  std::vector<SparseVector<double>> all;
  for (const auto* list : cluster.all_gather<Real>(mine, buffers)) {
    all.push_back(widened(*list));
  }
  return all;
}

/// Gathers the scalars of all workers on every process. `workers` are those of this process. The
/// call is collective.
template <class Real>
std::vector<WorkerScalars> gathered_scalars(const Cluster& cluster,
                                            std::span<const Worker<Real>> workers) {
  static_assert(std::is_trivially_copyable_v<WorkerScalars> &&
                sizeof(WorkerScalars) % sizeof(double) == 0);
  constexpr std::size_t kNumbers = sizeof(WorkerScalars) / sizeof(double);
  std::vector<double> mine(workers.size() * kNumbers);
  for (std::size_t slot = 0; slot < workers.size(); ++slot) {
    std::memcpy(&mine[slot * kNumbers], &workers[slot].scalars, sizeof(WorkerScalars));
  }
  const auto all = cluster.all_gather(mine);
  std::vector<WorkerScalars> scalars(all.size() / kNumbers);
  std::memcpy(static_cast<void*>(scalars.data()), all.data(), all.size() * sizeof(double));
  return scalars;
}

}  // namespace residuum
