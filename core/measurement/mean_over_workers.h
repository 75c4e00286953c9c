#pragma once
// The mean over the workers of a run has the same bits at any number of processes: it is summed in
// worker order.

#include <algorithm>
#include <span>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/training/worker.h"
#include "core/vectors/dense.h"

namespace residuum {

template <class Real>
class MeanOverWorkers {
 public:
  /// Takes means of `dimension` numbers.
  MeanOverWorkers(const Cluster& cluster, std::size_t dimension)
      : cluster_(cluster), passing_(cluster.world().is_root() ? 0 : dimension) {}

  /// Takes the mean of the numbers vector_of(worker) over all workers; only the root keeps it.
  /// `workers` are those of this process. The call is collective.
  template <class VectorOf>
  void take(std::span<const Worker<Real>> workers,
            const VectorOf& vector_of,
            std::vector<double>& mean) {
    take_some(
        workers, cluster_.workers(), [](int) { return true; }, vector_of, mean);
  }

  /// Takes the sum over the workers with takes(number), divided by `divisor`.
  template <class Takes, class VectorOf>
  void take_some(std::span<const Worker<Real>> workers,
                 double divisor,
                 const Takes& takes,
                 const VectorOf& vector_of,
                 std::vector<double>& mean) {
    const auto add = [&](const Worker<Real>& worker, std::size_t begin, std::span<double> block) {
      if (takes(worker.number)) {
        add_to<Real>(block, vector_of(worker).subspan(begin, block.size()));
      }
    };
    if (cluster_.world().size() == 1) {
      take_here(workers, divisor, add, mean);
      return;
    }
    const bool is_root = cluster_.world().is_root();
    cluster_.sum_in_worker_order(std::span(is_root ? mean : passing_),
                                 /*everywhere=*/false,
                                 [&](int worker, std::size_t begin, std::span<double> block) {
                                   add(workers[cluster_.slot(worker)], begin, block);
                                 });
    if (is_root) {
      divide(mean, divisor);
    }
  }

 private:
  /// Takes the mean on one process, which has all vectors. It goes block by block, so that sums
  /// stay in the nearest cache, and adds in the same order as several processes do.
  template <class Add>
  void take_here(std::span<const Worker<Real>> workers,
                 double divisor,
                 const Add& add,
                 std::vector<double>& mean) {
    constexpr std::size_t kBlock = 1024;
    for (std::size_t begin = 0; begin < mean.size(); begin += kBlock) {
      const auto block = std::span(mean).subspan(begin, std::min(kBlock, mean.size() - begin));
      std::fill(block.begin(), block.end(), 0.0);
      for (const auto& worker : workers) {
        add(worker, begin, block);
      }
      divide(block, divisor);
    }
  }

  static void divide(std::span<double> sums, double divisor) {
    for (double& value : sums) {
      value /= divisor;
    }
  }

  const Cluster& cluster_;
  std::vector<double> passing_;  // room for sums on the processes that do not keep them
};

}  // namespace residuum
