#pragma once
// P logical workers on R processes, R <= P. Worker p lives on one process; workers are numbered so
// that each process has a contiguous block. Algorithms are written over workers: an edge is a
// function call where both ends live on one process and a message where they do not, and every
// order of summation is defined on worker numbers, so that results have the same bits at any R.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/cluster/world.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// What an exchange costs: bytes that workers send to other workers, and messages on the critical
/// path. Counted per worker, also where two workers share a process; `bytes` is the part sent by
/// the workers of this process.
struct Traffic {
  std::uint64_t bytes = 0;
  std::uint64_t rounds = 0;
};

class Cluster {
 public:
  /// More processes than workers is a usage error.
  Cluster(World& world, int workers);

  World& world() const { return *world_; }
  int workers() const { return workers_; }
  int host(int worker) const;
  bool here(int worker) const { return worker >= first_ && worker < first_ + count_; }
  /// This process has the workers first(), ..., first() + count() - 1.
  int first() const { return first_; }
  int count() const { return count_; }
  /// The position of a worker of this process among them.
  std::size_t slot(int worker) const { return static_cast<std::size_t>(worker - first_); }

  /// Moves one message along the edge from -> to. Every process calls this for every edge, in the
  /// same order. `message` is read where `from` lives; the result is the message where `to` lives
  /// (in `buffer` if it came from another process) and null elsewhere.
  template <class Real>
  const SparseVector<Real>* deliver(int from,
                                    int to,
                                    const SparseVector<Real>* message,
                                    SparseVector<Real>& buffer) const;

  /// Copies what the process of `from` holds to all processes.
  template <class Real>
  void broadcast(int from, SparseVector<Real>& vector) const;

  /// The vectors of all workers in worker order, on every process; `mine` are this process's.
  template <class Real>
  std::vector<SparseVector<Real>> all_gather(std::span<const SparseVector<Real>> mine) const;

  /// The numbers of all workers in worker order, on every process; `mine` holds `per_worker`
  /// numbers for each worker of this process.
  std::vector<double> all_gather(std::span<const double> mine) const;

  /// sum := add(P-1, ... add(1, add(0, 0))): every worker's part is added on its own process, in
  /// worker order. The result is on every process if `everywhere`, else on the root alone (`sum` is
  /// then spoilt on the others).
  template <class T>
  void sum_in_worker_order(std::span<T> sum,
                           bool everywhere,
                           const std::function<void(int worker, std::span<T> sum)>& add) const;

 private:
  World* world_;
  int workers_;
  int first_;
  int count_;
};

/// Rounds up to the next whole power: messages on the critical path of recursive doubling.
int ceil_log2(int n);

}  // namespace residuum
