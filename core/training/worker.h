#pragma once
// A worker is one of the P logical workers of a run. It lives on one process, which may have
// several, and owns all that the algorithm gives to a worker: its batches, gradient, memory and
// message.

#include <cstdint>
#include <span>
#include <vector>

#include "core/cluster/run_state.h"
#include "core/training/scratch_buffers.h"
#include "core/training/training.h"
#include "core/training/worker_gradient.h"
#include "core/training/worker_memory.h"
#include "core/training/worker_scalars.h"

namespace residuum {

template <class Real>
struct Worker {
  Worker(const Training& training, int worker)
      : number(worker), gradient(training, worker), memory(training, worker) {}

  int number;  // 0 .. P - 1
  WorkerGradient<Real> gradient;
  WorkerMemory<Real> memory;
  WorkerScalars scalars;
  std::uint64_t turns = 0;  // versions that it took part in, where not all workers do
};

/// Returns the workers of this process, in worker order.
template <class Real>
std::vector<Worker<Real>> workers_here(const Training& training);

/// Returns the mean of the running statistics over all workers, summed in worker order: it has the
/// same bits on every process, at any number of them. It is empty where the objective has none. The
/// call is collective.
template <class Real>
std::vector<double> mean_statistics(const Training& training,
                                    std::span<const Worker<Real>> workers);

/// Saves or loads the numbers of the workers that the next version needs.
template <class Real>
void visit_scalars(std::span<Worker<Real>> workers, RunState& state);
/// Saves or loads the turns of the workers, where not all take part in a version.
template <class Real>
void visit_turns(std::span<Worker<Real>> workers, RunState& state);
template <class Real>
void visit_gradients(const Training& training, std::span<Worker<Real>> workers, RunState& state);
template <class Real>
void visit_memories(const Training& training, std::span<Worker<Real>> workers, RunState& state);

}  // namespace residuum
