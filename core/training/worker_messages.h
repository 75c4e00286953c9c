#pragma once
// WorkerMessages owns the memories of this process's workers. It turns gradients into accumulators
// and accumulators into messages, and settles the memories after the exchange.

#include <cstdint>
#include <span>
#include <vector>

#include "core/training/training.h"
#include "core/training/worker_scalars.h"

namespace residuum {

template <class Real>
class WorkerMessages {
 public:
  explicit WorkerMessages(const Training& training);

  /// Forms a^p of every worker here, in one pass over its memory, and its message. It fills in the
  /// norms of gradients and accumulators and the numbers of entries sent. A worker whose
  /// accumulator is not finite selects nothing.
  void form(std::uint64_t t,
            double eta,
            std::span<const std::vector<Real>> gradients,
            std::span<WorkerScalars> scalars);

  /// Fills in |s^p|^2 and <s^p, a^p>; the accumulators must not be settled yet.
  void measure(std::span<WorkerScalars> scalars) const;

  /// Makes e^p of a^p and the fates of the messages; its norms are computed only if `measured`.
  void settle(const Delivery<Real>& delivery, bool measured, std::span<WorkerScalars> scalars);

  /// Saves or loads the memories. The bounds of passes are left out: they affect speed only.
  void visit(RunState& state);

  std::span<const std::vector<Real>> memories() const { return memories_; }
  std::span<const Message<Real>> messages() const { return messages_; }
  std::span<const Settlement<Real>> settlements() const { return settlements_; }
  /// Returns a^p of every worker here, or e^p after the settlement.
  std::span<const std::span<const Real>> accumulators() const { return accumulators_; }

 private:
  void note_norms(std::uint64_t t, const PassNorms& norms, WorkerScalars& scalars) const;
  void select(std::uint64_t t, double eta, std::size_t slot, WorkerScalars& scalars);
  double magnitude_added(double eta, const PassNorms& norms) const;
  void note_magnitudes(double eta,
                       std::size_t slot,
                       const PassNorms& norms,
                       WorkerScalars& scalars);
  void note_amplification(double eta, std::size_t slot, WorkerScalars& scalars);

  const Training& training_;
  const Method& method_;
  std::size_t d_;
  std::vector<Segment> segments_;
  std::vector<std::vector<Real>> memories_;
  std::vector<std::span<const Real>> accumulators_;
  std::vector<Message<Real>> messages_;
  std::vector<Settlement<Real>> settlements_;
  std::vector<double> drifts_;     // bounds on what rounding has made of each worker's estimate
  std::vector<double> bounds_;     // per worker and segment, for the next pass
  bool residuals_counted_ = true;  // |e^p|^2 is in total_error already
  SelectWorkspace workspace_;
};

}  // namespace residuum
