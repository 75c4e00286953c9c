#pragma once
// A late message is a message that a worker has handed in, taken at some version of the model.
// Without lockstep a version is made of the late messages before it. A late message keeps what the
// update and the measurement need of its worker, which has gone on meanwhile.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/messages/message.h"
#include "core/training/worker_parts.h"

namespace residuum {

template <class Real>
struct LateMessage {
  int worker = 0;
  std::uint64_t number = 0;         // of the worker's gradient, from 0
  std::uint64_t base = 0;           // the version that it was taken at
  double step_size = 0;             // eta of that version
  double weight = 1;                // its part in the sum over late messages
  Message<Real> message;            // s^p
  bool removed_everything = false;  // of a^p, whatever was sent
  bool has_noise = false;           // the scalars have the noise of this gradient

  // The root keeps these fields for the measurement. Where a message is the whole accumulator,
  // every process keeps the accumulator.
  std::vector<Real> gradient;         // G^p
  std::vector<Real> accumulator;      // a^p
  std::vector<Real> weighed;          // weight * a^p, where that is sent
  std::vector<Real> residual_before;  // e^p that the gradient was added to
  std::vector<Real> residual_after;   // what the message left of a^p
  WorkerScalars scalars;              // of the worker when it handed in
  double magnitude = 0;               // what this gradient added to the worker's magnitude
};

/// Notes say of what a version was made, where that is not one gradient of each worker at the
/// version before it. Counts and waits are those since the version before.
struct VersionNotes {
  std::uint64_t contributions = 0;
  std::uint64_t total_contributions = 0;  // in all versions so far
  std::optional<double> staleness_mean;
  std::optional<std::uint64_t> staleness_max;
  std::span<const std::uint64_t> staleness_counts;  // gradients so far, by their staleness
  std::optional<std::uint64_t> control_bytes;
  std::optional<double> seconds;                // from the start, virtual
  std::optional<double> version_seconds;        // since the version before
  std::optional<std::array<double, 4>> waits;   // of the quota, staleness, pulls; idle workers
  std::optional<double> weight_skew;            // largest over mean of the workers' weights so far
  std::optional<double> consensus_sq;           // mean of |w^p - mean w|^2
  std::optional<double> wall_s = std::nullopt;  // from the start, of a run on the wall clock
};

/// The parts of a version: its late messages by worker and number, and what their weighted sum is
/// divided by.
template <class Real>
struct VersionParts {
  std::span<const LateMessage<Real>* const> late_messages;
  double divisor = 1;
  VersionNotes notes;
  /// A server whose workers' processes tell it nothing but messages knows this of them. It is empty
  /// where the processes gather the workers' own scalars.
  std::span<const WorkerScalars> of_workers;
};

}  // namespace residuum
