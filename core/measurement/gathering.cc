#include "core/measurement/gathering.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace residuum {
namespace {

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

}  // namespace

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

template <class Real>
void VersionLists<Real>::take(const VersionParts<Real>& parts, LateMeasurement<Real>& measurement) {
  const LateMessage<Real>& first = *parts.late_messages.front();
  sent_everything_ = first.message.everything;
  removed_is_dense_ = first.removed_everything;
  measurement.lists(parts, sent_);
  removed_ = removed_is_dense_ ? std::vector<SparseVector<double>>(sent_.size()) : sent_;
  returned_.assign(sent_.size(), {});
}

template <class Real>
void VersionLists<Real>::gather(const Cluster& cluster,
                                std::span<const Worker<Real>> workers,
                                const Participants& participants) {
  share_form(cluster, workers, participants);
  ReceiveBuffers<Real> buffers;
  using List = const SparseVector<Real>;
  using Of = const Worker<Real>;
  sent_ = gathered(cluster, workers, buffers, [](Of& worker) -> List& {
    return worker.memory.message().entries;
  });
  removed_ = gathered(cluster, workers, buffers, [](Of& worker) -> List& {
    return worker.memory.residual_update().removed();
  });
  returned_ = gathered(cluster, workers, buffers, [](Of& worker) -> List& {
    return worker.memory.residual_update().returned();
  });
  if (participants.are_all()) {
    return;
  }
  std::size_t kept = 0;
  for (const int worker : participants.numbers()) {
    std::swap(sent_[kept++], sent_[static_cast<std::size_t>(worker)]);
  }
  sent_.resize(kept);  // an absent worker sends no message, not an empty one
}

/// The method decides whether messages and residual updates are whole, so the first worker that
/// takes part tells for all.
template <class Real>
void VersionLists<Real>::share_form(const Cluster& cluster,
                                    std::span<const Worker<Real>> workers,
                                    const Participants& participants) {
  const int first = participants.are_all() ? cluster.first() : participants.numbers().front();
  std::array<bool, 2> are_whole{};
  if (cluster.here(first)) {
    const WorkerMemory<Real>& memory = workers[cluster.slot(first)].memory;
    are_whole = {memory.message().everything, memory.residual_update().removed_is_dense()};
  }
  if (!participants.are_all()) {
    cluster.world().broadcast(cluster.host(first), std::as_writable_bytes(std::span(are_whole)));
  }
  sent_everything_ = are_whole[0];
  removed_is_dense_ = are_whole[1];
}

template std::vector<WorkerScalars> gathered_scalars(const Cluster&,
                                                     std::span<const Worker<float>>);
template std::vector<WorkerScalars> gathered_scalars(const Cluster&,
                                                     std::span<const Worker<double>>);
template class VersionLists<float>;
template class VersionLists<double>;

}  // namespace residuum
