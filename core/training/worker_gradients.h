#pragma once
// The stochastic gradients of this process's workers, one iteration at a time: of their batches,
// and where a measurement asks for them of the first halves of their batches.

#include <cstdint>
#include <span>
#include <vector>

#include "core/training/batches.h"
#include "core/training/training.h"
#include "core/training/worker_scalars.h"

namespace residuum {

template <class Real>
class WorkerGradients {
 public:
  explicit WorkerGradients(const Training& training);

  /// G^p_t of every worker here at `model`; fills how much the gradients have changed where workers
  /// exchange changes of estimates.
  void compute(std::uint64_t t, std::span<const Real> model, std::span<WorkerScalars> scalars);

  /// The gradients of the first halves of the batches just computed, and the noise that they show;
  /// false if the batches cannot be split (one sample), have no noise (whole shards), are not
  /// independent draws (a shuffled pass: what its halves say is biased) or their gradients clipped.
  bool compute_halves(std::uint64_t t,
                      std::span<const Real> model,
                      std::span<WorkerScalars> scalars);

  /// Gives their memory back: split batches are few, and evaluations need room meanwhile.
  void drop_halves() { halves_.clear(); }

  /// The running statistics that each worker here keeps.
  std::span<std::vector<double>> statistics() { return statistics_; }
  /// Their mean over all workers, summed in worker order: the same bits on every process, at any
  /// number of them. Empty where the objective has none. Collective.
  std::vector<double> mean_statistics() const;

  void visit(RunState& state);

  std::span<const std::vector<Real>> all() const { return gradients_; }
  std::span<const std::vector<Real>> halves() const { return halves_; }
  /// Fraction of a batch that its first half is.
  double first_half() const { return first_half_; }

 private:
  bool keeps_previous() const;
  void batch_gradient(const Draw& draw, std::span<const Real> model, std::span<Real> gradient);
  void clip(std::vector<Real>& gradient) const;
  void weigh(int worker, std::vector<Real>& gradient) const;

  const Training& training_;
  const Objective& objective_;
  const Cluster& cluster_;
  std::vector<Batches> batches_;
  std::vector<std::vector<Real>> gradients_, previous_, halves_;
  std::vector<Real> part_gradient_;  // of a part of a batch, where batches have parts
  std::vector<std::vector<double>> statistics_;
  double first_half_ = 0.5;
};

}  // namespace residuum
