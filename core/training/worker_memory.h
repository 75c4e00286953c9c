#pragma once
// A WorkerMemory is the memory of one worker. It turns gradients into accumulators and accumulators
// into messages, and updates the residual after the exchange.

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/training/memory_vectors.h"
#include "core/training/training.h"
#include "core/training/worker_parts.h"

namespace residuum {

template <class Real>
class WorkerMemory {
 public:
  WorkerMemory(const Training& training, int worker);

  /// A turn is one gradient of the worker: its number, which keys random draws, and the version
  /// whose density and step size hold for it. In lockstep both are t, also where the worker had no
  /// part in some versions and `before` is smaller.
  struct Turn {
    std::uint64_t number = 0;
    std::uint64_t version = 0;
    double step_size = 0;      // eta
    std::uint64_t before = 0;  // turns of the worker before this one
  };

  /// Begins to form a^p and its message as far as nothing has to be waited for, so that the work of
  /// several workers overlaps on a device. `compress` ends it, with the same turn.
  void start(const Turn& turn,
             const GradientAt<Real>& gradient,
             const ScratchBuffers<Real>& scratch);

  /// Forms a^p, in one pass over the memory, and its message. It fills in the norms of gradient and
  /// accumulator and the number of entries sent. If the accumulator is not finite, nothing is
  /// selected.
  void compress(const Turn& turn,
                const GradientAt<Real>& gradient,
                ScratchBuffers<Real>& scratch,
                WorkerScalars& scalars);

  /// Fills in |s^p|^2 and <s^p, a^p>, while there is an accumulator.
  void measure(WorkerScalars& scalars) const;

  /// Makes e^p of a^p and the outcome of the message, once for each a^p. The norms of e^p are
  /// computed only if `measured`.
  void update_residual(const MessageOutcome<Real>& outcome,
                       bool measured,
                       const ScratchBuffers<Real>& scratch,
                       WorkerScalars& scalars);

  /// Skips a version in which the worker does not participate: e^p is unchanged, and so is its
  /// gradient estimate, by which the model moves on; there is no message. Norms of e^p are computed
  /// if the run is measured.
  void skip_version(double step_size, const ScratchBuffers<Real>& scratch, WorkerScalars& scalars);

  /// Returns a rejected message to e^p, so that the next message contains it. `accumulator` is the
  /// message where everything is sent.
  void return_message(const Message<Real>& message, std::span<const Real> accumulator);

  const Message<Real>& message() const { return message_; }
  const ResidualUpdate<Real>& residual_update() const { return residual_update_; }
  /// Returns a^p, from when it is formed until the residual is updated.
  std::span<const Real> accumulator() const {
    assert(has_accumulator_);
    return vectors_->first();
  }
  /// Returns what an exchange may read of a^p.
  std::span<const Real> accumulator_for_exchange() const {
    assert(has_accumulator_);
    return vectors_->for_exchange(message_);
  }
  /// Returns e^p, at all other times.
  std::span<const Real> residual() const {
    assert(!has_accumulator_);
    return vectors_->first();
  }
  /// Returns the room for an a^p that the protocol forms itself, d numbers.
  std::span<Real> accumulator_to_form() {
    has_accumulator_ = true;
    return vectors_->all_to_write().first(d_);
  }

  // State of the run, for checkpoints. The bounds of passes are left out: they affect speed only.

  /// Returns all vectors of the feedback, one after the other; the first is the accumulator.
  std::span<Real> all() { return vectors_->all_to_write(); }
  std::span<const Real> all() const { return std::as_const(*vectors_).all(); }
  /// Returns a bound on what rounding has made of the worker's estimate.
  double& drift() { return drift_; }
  /// Returns the threshold that is reused for each segment; there are none without them.
  std::span<double> thresholds() { return thresholds_; }
  /// True if |e^p|^2 is in total_error already.
  bool& is_residual_counted() { return is_residual_counted_; }

 private:
  void note_norms(bool is_first, const PassNorms& norms, WorkerScalars& scalars) const;
  void measure_residual(const ScratchBuffers<Real>& scratch, WorkerScalars& scalars) const;
  MemoryStep<Real> step_of(const Turn& turn, const GradientAt<Real>& gradient) const;
  void select(const MemoryStep<Real>& step, SelectWorkspace& workspace, WorkerScalars& scalars);
  double magnitude_added(double eta, const PassNorms& norms) const;
  void note_magnitudes(double eta, const PassNorms& norms, WorkerScalars& scalars);
  void note_amplification(double eta, WorkerScalars& scalars);

  const Training& training_;
  const Method& method_;
  int worker_;
  std::size_t d_;
  std::unique_ptr<MemoryVectors<Real>> vectors_;
  Message<Real> message_;
  ResidualUpdate<Real> residual_update_;
  double drift_ = 0;
  bool may_amplify_;                    // sent values may be larger than those they are made of
  std::vector<CandidateBound> bounds_;  // per segment, for the next pass
  std::vector<double> thresholds_;      // per segment, where the sparsifier reuses them
  bool is_residual_counted_ = true;
  bool has_accumulator_ = false;  // the first d numbers are a^p, and not e^p
};

}  // namespace residuum
