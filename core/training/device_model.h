#pragma once
// A DeviceModel is the model on the device where gradients are computed from its rounded numbers.
// It follows the host's: where an exchange moves k entries, these cross and no others.

#include <memory>
#include <span>
#include <vector>

#include "core/training/training.h"

namespace residuum {

class DeviceModel {
 public:
  /// The model takes room on the device, for d numbers, when it is first asked for.
  DeviceModel(const Device& device, std::size_t d) : device_(device), d_(d) {}

  /// Notes that the entries with these indices have moved, or that any may have.
  void moved(std::span<const std::uint32_t> indices, std::span<const float> model);
  void moved_anywhere() { is_there_ = false; }

  /// Returns the numbers on the device, which are those of `model`.
  DeviceSpan of(std::span<const float> model);

 private:
  const Device& device_;
  std::size_t d_;
  std::unique_ptr<DeviceVectors> there_;
  SparseVector<float> moved_;
  bool is_there_ = false;
};

/// The model that gradients are computed from: on the host, and on a device where there is one.
template <class Real>
struct ModelAt {
  // The conversions are implicit because most models are on the host alone.
  ModelAt(std::span<const Real> numbers) : on_host(numbers) {}
  ModelAt(const std::vector<Real>& numbers) : on_host(numbers) {}
  ModelAt(std::span<const Real> numbers, DeviceModel* there) : on_host(numbers), on_device(there) {}

  std::span<const Real> on_host;
  DeviceModel* on_device = nullptr;
};

/// Returns whether workers of this training take their gradients on its device, if they take one
/// for a version.
bool takes_gradients_there(const Training& training);

}  // namespace residuum
