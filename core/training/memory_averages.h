#pragma once
// Workers that step by an optimiser of their own may average what these remember, each vector every
// so many exchanges (DES-LOC: Iacob et al., ICLR 2026, arXiv 2505.22549): in the exchange of
// version t, for each vector i whose period divides t + 1,
//   m_i^p <- (m_i^1 + .. + m_i^P) / P  for every worker p.
// The vectors go round a ring as they are, beside the compressed messages: 2 (P-1) d numbers each.

#include <cstdint>
#include <span>
#include <vector>

#include "core/aggregators/dense_sums.h"
#include "core/training/worker.h"

namespace residuum {

/// Returns the all-reduce by which the vectors are averaged.
inline AllReduce all_reduce_of_memories() { return {.algorithm = AllReduce::Algorithm::ring}; }

template <class Real>
class MemoryAverages {
 public:
  /// Averages the vectors whose turn it is with the exchange of this iteration, among the workers
  /// here and those of other processes, and adds their bytes and messages to those of `exchanged`.
  /// Collective where there are some.
  void take(std::uint64_t iteration,
            const Training& training,
            std::span<Worker<Real>> workers,
            ExchangeResult<Real>& exchanged);

 private:
  DenseSums<Real> sums_;
  std::vector<Real> mean_;
};

}  // namespace residuum
