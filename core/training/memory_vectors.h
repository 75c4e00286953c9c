#pragma once
// The vectors of a worker's memory are where its gradient is: on the host, or on a device, where
// they stay. The worker's memory (worker_memory.h) uses either through one interface. What it asks
// for crosses from a device: the entries that are selected and norms, and at measured iterations
// what a probe reads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/training/training.h"
#include "core/training/worker_parts.h"

namespace residuum {

/// A gradient of d numbers, on the host or on the run's device.
template <class Real>
struct GradientAt {
  // The conversion is implicit because most gradients are on the host.
  GradientAt(std::span<const Real> numbers) : on_host(numbers) {}
  explicit GradientAt(DeviceSpan numbers) : on_device(numbers) {}

  std::span<const Real> on_host = {};
  DeviceSpan on_device = {};  // without address where it is on the host
};

/// Norms of a residual.
struct ResidualNorms {
  double square = 0;
  double largest = 0;
};

/// A step is what makes the message of a worker in one iteration.
template <class Real>
struct MemoryStep {
  GradientAt<Real> gradient;
  double step_size = 0;
  bool is_first = false;      // of this worker
  std::uint64_t version = 0;  // whose method holds
  SelectionContext context = {};
};

template <class Real>
class MemoryVectors {
 public:
  MemoryVectors() = default;
  MemoryVectors(const MemoryVectors&) = delete;
  MemoryVectors& operator=(const MemoryVectors&) = delete;
  MemoryVectors(MemoryVectors&&) = delete;
  MemoryVectors& operator=(MemoryVectors&&) = delete;
  virtual ~MemoryVectors() = default;

  /// Begins a step as far as nothing has to be waited for: on a device its work is queued, beside
  /// that of other workers. Who does without begins the step by the next call.
  virtual void start(const MemoryStep<Real>& step, std::span<const Segment> segments) = 0;
  /// Makes the accumulator, by the feedback.
  virtual PassNorms accumulate(const MemoryStep<Real>& step, const Pass& pass) = 0;
  /// message := Q(C(accumulator)), by the method of this version. The accumulator is finite.
  virtual void compress(const MemoryStep<Real>& step,
                        SelectWorkspace& workspace,
                        Message<Real>& message) = 0;
  /// Makes the residual, by the feedback.
  virtual void update_residual(const MessageOutcome<Real>& outcome,
                               ResidualUpdate<Real>& residual_update) = 0;

  /// Returns the inner product of the entries and the first vector.
  virtual double dot(const SparseVector<Real>& entries) const = 0;
  virtual ResidualNorms norms(std::span<const Segment> segments) const = 0;

  /// Returns what an exchange may read of the accumulator: all of it where it is on the host or the
  /// message is everything, else nothing.
  virtual std::span<const Real> for_exchange(const Message<Real>& message) const = 0;
  /// Returns the first vector as the host reads it, until the next call that changes it.
  virtual std::span<const Real> first() const = 0;
  /// Returns all vectors, one after the other, as the host reads them.
  virtual std::span<const Real> all() const = 0;
  /// Returns all vectors for the host to write; they are taken over by the next call.
  virtual std::span<Real> all_to_write() = 0;
};

/// Makes the vectors where the training has its memories.
template <class Real>
std::unique_ptr<MemoryVectors<Real>> make_memory_vectors(const Training& training);

}  // namespace residuum
