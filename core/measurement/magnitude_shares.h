#pragma once
// MagnitudeShares is the histogram of the workers' accumulators, mean over those that take part in
// the iteration. Counts are exact, so that it does not matter which process counts whose.

#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement/magnitudes.h"
#include "core/training/participants.h"
#include "core/training/training.h"
#include "core/training/worker.h"

namespace residuum {

class MagnitudeShares {
 public:
  /// Takes the shares of this iteration if they are due. `workers` are those of this process. The
  /// call is collective.
  template <class Real>
  void take(const Training& training,
            std::span<const Worker<Real>> workers,
            const Participants& participants,
            std::uint64_t iteration) {
    shares_.clear();
    if (!is_due(training.plan.magnitudes, iteration)) {
      return;
    }
    std::vector<double> counts(kMagnitudeBins);
    for (const auto& worker : workers) {
      if (participants.has(worker.number)) {
        count_magnitudes<Real>(worker.memory.accumulator(), counts);
      }
    }
    const auto of_processes = training.cluster->all_gather(counts);
    shares_.resize(kMagnitudeBins);
    for (std::size_t i = 0; i < of_processes.size(); ++i) {
      shares_[i % kMagnitudeBins] += of_processes[i];
    }
    const auto entries = static_cast<double>(participants.count()) *
                         static_cast<double>(training.objective->dimension());
    for (double& share : shares_) {
      share /= entries;
    }
  }

  /// Returns the share of each bin; empty where the iteration was not due.
  std::span<const double> shares() const { return shares_; }

 private:
  std::vector<double> shares_;
};

}  // namespace residuum
