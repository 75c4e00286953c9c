#pragma once
// A worker is one of the P logical workers of a run. It lives on one process, which may have
// several, and owns all that the algorithm gives to a worker: its batches, gradient, memory and
// message.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cluster/run_state.h"
#include "core/training/training.h"
#include "core/training/worker_gradient.h"
#include "core/training/worker_memory.h"
#include "core/training/worker_parts.h"

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
void save_or_load_scalars(std::span<Worker<Real>> workers, RunState& state);
/// Saves or loads the turns of the workers, where not all take part in a version.
template <class Real>
void save_or_load_turns(std::span<Worker<Real>> workers, RunState& state);
template <class Real>
void save_or_load_gradients(const Training& training,
                            std::span<Worker<Real>> workers,
                            RunState& state);
template <class Real>
void save_or_load_memories(const Training& training,
                           std::span<Worker<Real>> workers,
                           RunState& state);

/// Participants are the workers that take part in a version where not all do (federated averaging:
/// McMahan, Moore, Ramage, Hampson, Aguera y Arcas, AISTATS 2017): m of P, drawn without
/// replacement at every version, each subset with the same probability. They are a pure function of
/// (seed, version), so that every process knows them.
class Participants {
 public:
  /// `count` workers of `workers` take part, 1 <= count <= workers. Until the first draw they are
  /// the first ones.
  Participants(std::uint64_t seed, int workers, int count);

  /// Draws those of a version.
  void draw(std::uint64_t version);

  bool are_all() const { return numbers_.size() == takes_part_.size(); }
  int count() const { return static_cast<int>(numbers_.size()); }
  bool has(int worker) const { return takes_part_[static_cast<std::size_t>(worker)]; }
  /// Returns the numbers of the workers that take part, which increase.
  std::span<const int> numbers() const { return numbers_; }

 private:
  std::uint64_t seed_;
  std::vector<int> order_;  // of all workers; those that are drawn come first
  std::vector<int> numbers_;
  std::vector<bool> takes_part_;
};

/// LocalSeconds are the times of the workers of one process for one version on this machine, one
/// after the other; empty where they are not wanted.
struct LocalSeconds {
  std::vector<double> compute;  // of each gradient
  std::vector<double> select;   // of each accumulation and selection
};

/// Calls act() for the worker in `slot` and takes its seconds, if there is room for them.
template <class Act>
void take_seconds(std::vector<double>& seconds, std::size_t slot, const Act& act) {
  if (seconds.empty()) {
    act();
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  act();
  seconds[slot] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace residuum
