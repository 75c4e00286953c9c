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
    if (cluster_.world().size() == 1) {
      take_here(workers, vector_of, mean);
      return;
    }
    const bool is_root = cluster_.world().is_root();
    const auto add = [&](int worker, std::size_t begin, std::span<double> block) {
      add_to<Real>(block, vector_of(workers[cluster_.slot(worker)]).subspan(begin, block.size()));
    };
    cluster_.sum_in_worker_order(std::span(is_root ? mean : passing_), /*everywhere=*/false, add);
    if (is_root) {
      divide(mean);
    }
  }

 private:
  /// Takes the mean on one process, which has all vectors. It goes block by block, so that sums
  /// stay in the nearest cache, and adds in the same order as several processes do.
  template <class VectorOf>
  void take_here(std::span<const Worker<Real>> workers,
                 const VectorOf& vector_of,
                 std::vector<double>& mean) {
    constexpr std::size_t kBlock = 1024;
    for (std::size_t begin = 0; begin < mean.size(); begin += kBlock) {
      const auto block = std::span(mean).subspan(begin, std::min(kBlock, mean.size() - begin));
      std::fill(block.begin(), block.end(), 0.0);
      for (const auto& worker : workers) {
        add_to<Real>(block, vector_of(worker).subspan(begin, block.size()));
      }
      divide(block);
    }
  }

  void divide(std::span<double> sums) const {
    const double count = cluster_.workers();
    for (double& value : sums) {
      value /= count;
    }
  }

  const Cluster& cluster_;
  std::vector<double> passing_;  // room for sums on the processes that do not keep them
};

}  // namespace residuum
