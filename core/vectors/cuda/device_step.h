#pragma once
// DeviceStep does one worker's step (accumulate, select, update the residual) on a CUDA device.
// Residual and accumulator stay there; only norms and the k selected pairs are copied to the host.
// It is for float only: doubles serve to check theory at small sizes, which the host does.
//
// Accumulators and selections have the bits of core/vectors/fused.h and select.h (rounded twice,
// ties to the lower index, zeros never). Norms are float64 sums in an order of their own, which
// depends on the dimension alone: the same on every device.

#include <cstddef>
#include <memory>
#include <span>

#include "core/vectors/cuda/device.h"
#include "core/vectors/fused.h"
#include "core/vectors/sparse_vector.h"

namespace residuum::cuda {

class Stream;  // stream.cuh

/// It takes device memory for the residual and, if gradients come from the host, for one gradient;
/// some 72 bytes per entry of the largest k seen, and 32 bytes per 4096 coordinates.
class DeviceStep {
 public:
  /// The residual starts at 0. d is below 2^32.
  explicit DeviceStep(std::size_t d);
  DeviceStep(const DeviceStep&) = delete;
  DeviceStep& operator=(const DeviceStep&) = delete;
  DeviceStep(DeviceStep&&) = delete;
  DeviceStep& operator=(DeviceStep&&) = delete;
  ~DeviceStep();

  std::size_t dimension() const;

  /// Copies the memory, d numbers: the residual, or between a step and its residual update the
  /// accumulator.
  void set_memory(std::span<const float> values);
  void get_memory(std::span<float> values) const;

  /// memory := memory + scale * gradient, and selected := Top_k of it; k is at most d. If the
  /// result is not finite, as its norm then shows, nothing is selected.
  PassNorms step(std::span<const float> gradient,
                 float scale,
                 std::size_t k,
                 SparseVector<float>& selected);
  /// Does the same with a gradient that is on the device.
  PassNorms step(DeviceSpan gradient, float scale, std::size_t k, SparseVector<float>& selected);

  /// Queues a step and does not wait for it. The gradient may be written again by what is queued
  /// from then on.
  void start(DeviceSpan gradient, float scale, std::size_t k);
  /// Waits for the step that was started, and returns what `step` does.
  PassNorms take(SparseVector<float>& selected);

  /// selected := Top_k of the memory as it is, finite and between a step and its residual update,
  /// for another k than that of the step.
  void select(std::size_t k, SparseVector<float>& selected);

  /// memory := memory - removed + returned, as core/feedback updates the residual.
  void update_residual(const SparseVector<float>& removed, const SparseVector<float>& returned);

  /// memory := memory - (the entries that the last step selected). It equals
  /// update_residual(selected, {}), but sends no list back, because the list is still on the
  /// device. A second call after a step does nothing.
  void update_selected_residual();

  /// Returns where the memory is on the device.
  float* memory() const;

  /// Returns the stream on which all of this is done. It is not ordered with the default stream,
  /// but for gradients.
  Stream& stream() const;

  /// Returns how many selections so far needed passes of their own, because the notes did not
  /// suffice.
  std::size_t cold_selections() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace residuum::cuda
