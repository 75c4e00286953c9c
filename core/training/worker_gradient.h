#pragma once
// A WorkerGradient computes the stochastic gradients of one worker, one iteration at a time: that
// of its batch and, for measurements, that of the first half of its batch.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/cluster/run_state.h"
#include "core/messages/traffic.h"
#include "core/training/batches.h"
#include "core/training/device_model.h"
#include "core/training/memory_vectors.h"
#include "core/training/training.h"
#include "core/training/worker_parts.h"

namespace residuum {

template <class Real>
class WorkerGradient {
 public:
  WorkerGradient(const Training& training, int worker);

  /// The gradients that a worker takes for one version, on its batches `first`, `first` + 1, ...
  struct Steps {
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    double step_size = 0;       // between them
    bool splits_first = false;  // the noise of the first is wanted, of several
  };

  /// Computes G^p_t at `model`: one gradient, or the sum of the directions of several, between
  /// which the worker steps on a model of its own. If `steps_locally`, it also fills in the mean of
  /// the gradients' squared norms. If workers exchange changes of estimates, it also fills in how
  /// much G^p_t has changed.
  void compute(const Steps& steps,
               const ModelAt<Real>& model,
               ScratchBuffers<Real>& scratch,
               WorkerScalars& scalars);

  /// Computes the gradient of the first half of the current batch, and the noise that it shows.
  /// `can_split(training)` must hold.
  void compute_half(std::uint64_t t,
                    std::span<const Real> model,
                    ScratchBuffers<Real>& scratch,
                    WorkerScalars& scalars);

  /// Frees the gradient of the half: split batches are rare, and evaluations need the memory
  /// meanwhile.
  void drop_half() { half_ = std::vector<Real>(); }

  /// Returns G^p where it is.
  GradientAt<Real> placed() const {
    return is_there_ ? GradientAt<Real>(span_there()) : GradientAt<Real>(gradient());
  }
  /// Returns G^p as the host reads it.
  std::span<const Real> gradient() const;
  const std::vector<Real>& half() const { return half_; }
  /// Returns the first of the gradients between which the worker stepped, which it took at w_t;
  /// kept where u is followed.
  const std::vector<Real>& first() const { return first_; }
  /// Returns the running statistics of the objective, as this worker's batches left them.
  std::vector<double>& statistics() { return statistics_; }
  const std::vector<double>& statistics() const { return statistics_; }

  /// Returns G^p for checkpoints of protocols in which it is computed before it is needed.
  std::span<Real> in_the_making() { return gradient_; }

  /// Returns what the optimiser remembers of the gradients before; nothing without one.
  std::span<Real> optimiser_memory() { return optimiser_memory_; }

  /// Returns what the next iteration needs of G^p_{t-1}: all of it or nothing.
  std::span<Real> kept() { return keeps_previous_ ? std::span(gradient_) : std::span<Real>(); }

 private:
  void take(std::uint64_t number,
            std::span<const Real> model,
            std::vector<Real>& part,
            std::vector<Real>& gradient);
  void take_half(std::uint64_t number,
                 std::span<const Real> model,
                 std::vector<Real>& part,
                 const std::vector<Real>& whole,
                 WorkerScalars& scalars);
  void step_locally(const Steps& steps,
                    std::span<const Real> model,
                    ScratchBuffers<Real>& scratch,
                    WorkerScalars& scalars);
  void batch_gradient(const Draw& draw,
                      std::span<const Real> model,
                      std::vector<Real>& part,
                      std::span<Real> gradient);
  void take_there(std::uint64_t number, DeviceModel& model, std::span<const Real> on_host);
  Draw draw_of(std::uint64_t number);
  double weight() const;
  bool can_borrow() const;
  bool can_borrow_there() const;
  DeviceSpan span_there() const { return borrows_ ? borrowed_there_ : there_->vector(0).span(); }
  void borrow();
  void clip(std::vector<Real>& gradient) const;
  void weigh(std::vector<Real>& gradient) const;

  const Training& training_;
  const Objective& objective_;
  int worker_;
  bool keeps_previous_;
  Batches batches_;
  /// True if the gradient is read where the training outside has it, which saves a copy of it.
  bool borrows_;
  std::span<const Real> borrowed_;
  bool borrows_there_;  // and that is on the run's device
  DeviceSpan borrowed_there_;
  std::unique_ptr<DeviceVectors> there_;  // the gradient, where it is taken on a device
  bool is_there_ = false;                 // the gradient is
  mutable bool is_here_ = false;          // and gradient_ is a copy of it
  mutable std::vector<Real> gradient_;
  std::vector<Real> previous_, half_, first_;
  std::vector<Real> optimiser_memory_;
  std::vector<MatrixPlace> layers_;  // of the model; kept where an optimiser may ask for them
  std::vector<double> statistics_;
};

/// Returns whether a worker hands in the sum of its steps after `gradients` gradients, and not one
/// gradient at the model that all share.
bool steps_locally(const Method& method, std::uint64_t gradients);

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
