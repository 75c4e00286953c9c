#pragma once
// The lists of a version, on the root: what each worker sent, what was taken from its accumulator,
// and what was put back.

#include <span>
#include <vector>

#include "core/measurement/late_measurement.h"
#include "core/training/participants.h"
#include "core/training/worker.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

template <class Real>
class VersionLists {
 public:
  /// Gathers the lists of a version in lockstep. `workers` are those of this process. The call is
  /// collective.
  void gather(const Cluster& cluster,
              std::span<const Worker<Real>> workers,
              const Participants& participants);
  /// Takes those of a version that is made of late messages: all that was sent is applied, so that
  /// nothing comes back.
  void take(const VersionParts<Real>& parts, LateMeasurement<Real>& measurement);

  /// Returns the messages of those that take part.
  std::span<const SparseVector<double>> sent() const { return sent_; }
  /// Return what became of the accumulators of all workers.
  std::span<const SparseVector<double>> cleared() const { return cleared_; }
  std::span<const SparseVector<double>> returned() const { return returned_; }
  /// True if messages are whole accumulators; they have no lists then.
  bool sent_everything() const { return sent_everything_; }
  bool cleared_is_dense() const { return cleared_is_dense_; }

 private:
  void share_form(const Cluster& cluster,
                  std::span<const Worker<Real>> workers,
                  const Participants& participants);

  std::vector<SparseVector<double>> sent_, cleared_, returned_;
  bool sent_everything_ = false;
  bool cleared_is_dense_ = false;
};

}  // namespace residuum
