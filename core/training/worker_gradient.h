#pragma once
// A WorkerGradient computes the stochastic gradients of one worker, one iteration at a time: that
// of its batch and, for measurements, that of the first half of its batch.

#include <cstdint>
#include <span>
#include <vector>

#include "core/training/batches.h"
#include "core/training/run_state.h"
#include "core/training/training.h"
#include "core/training/worker_scalars.h"

namespace residuum {

template <class Real>
class WorkerGradient {
 public:
  WorkerGradient(const Training& training, int worker);

  /// Computes G^p_t at `model`. If workers exchange changes of estimates, it also fills in how much
  /// the gradient has changed. `part` is room for the gradients of the batch's parts, which the
  /// workers of a process use in turn.
  void compute(std::uint64_t t,
               std::span<const Real> model,
               std::vector<Real>& part,
               WorkerScalars& scalars);

  /// Computes the gradient of the first half of the current batch, and the noise that it shows.
  /// `can_split(training)` must hold.
  void compute_half(std::uint64_t t,
                    std::span<const Real> model,
                    std::vector<Real>& part,
                    WorkerScalars& scalars);

  /// Frees the gradient of the half: split batches are rare, and evaluations need the memory
  /// meanwhile.
  void drop_half() { half_ = std::vector<Real>(); }

  const std::vector<Real>& gradient() const { return gradient_; }
  const std::vector<Real>& half() const { return half_; }
  /// Returns the running statistics of the objective, as this worker's batches left them.
  std::vector<double>& statistics() { return statistics_; }
  const std::vector<double>& statistics() const { return statistics_; }

  /// Returns what the next iteration needs of G^p_{t-1}: all of it or nothing.
  std::span<Real> kept() { return keeps_previous_ ? std::span(gradient_) : std::span<Real>(); }

 private:
  void batch_gradient(const Draw& draw,
                      std::span<const Real> model,
                      std::vector<Real>& part,
                      std::span<Real> gradient);
  void clip();
  void weigh(std::vector<Real>& gradient) const;

  const Training& training_;
  const Objective& objective_;
  int worker_;
  bool keeps_previous_;
  Batches batches_;
  std::vector<Real> gradient_, previous_, half_;
  std::vector<double> statistics_;
};

/// Returns whether batches can be split for a measurement of their noise. They cannot where they
/// have one sample, have no noise (whole shards), are not independent draws (the halves of a
/// shuffled pass give biased estimates) or have clipped gradients.
bool can_split(const Training& training);

/// Returns the fraction of a batch that is its first half.
double first_half_of_batch(const Training& training);

/// Returns whether the previous gradient is kept. The theory of gradient estimates bounds their
/// error by the change of what they follow: the gradients, unless the feedback averages them.
bool keeps_previous_gradient(const Training& training);

}  // namespace residuum
