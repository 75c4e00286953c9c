#pragma once
// WorkerGradients computes the stochastic gradients of this process's workers, one iteration at a
// time: those of their batches and, for measurements, those of the first halves of their batches.

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

  /// Computes G^p_t of every worker here at `model`. If workers exchange changes of estimates, it
  /// also fills in how much the gradients have changed.
  void compute(std::uint64_t t, std::span<const Real> model, std::span<WorkerScalars> scalars);

  /// Computes the gradients of the first halves of the current batches, and the noise that they
  /// show. Returns false if the batches cannot be split (one sample), have no noise (whole shards),
  /// are not independent draws (the halves of a shuffled pass give biased estimates) or have
  /// clipped gradients.
  bool compute_halves(std::uint64_t t,
                      std::span<const Real> model,
                      std::span<WorkerScalars> scalars);

  /// Frees the gradients of halves: split batches are rare, and evaluations need the memory
  /// meanwhile.
  void drop_halves() { halves_.clear(); }

  /// Returns the running statistics of each worker here.
  std::span<std::vector<double>> statistics() { return statistics_; }
  /// Returns their mean over all workers, summed in worker order: it has the same bits on every
  /// process, at any number of them. It is empty where the objective has none. The call is
  /// collective.
  std::vector<double> mean_statistics() const;

  void visit(RunState& state);

  std::span<const std::vector<Real>> all() const { return gradients_; }
  std::span<const std::vector<Real>> halves() const { return halves_; }
  /// Returns the fraction of a batch that is its first half.
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
  std::vector<Real> part_gradient_;  // the gradient of one part, where batches are taken in parts
  std::vector<std::vector<double>> statistics_;
  double first_half_ = 0.5;
};

}  // namespace residuum
