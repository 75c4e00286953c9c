#pragma once
// This header tells which CUDA device there is, if any, and gives access to its memory in plain
// C++.

#include <cstddef>
#include <span>
#include <string>

#include "core/vectors/device.h"

namespace residuum::cuda {

/// True if this build has CUDA and this machine a usable device.
bool available();

/// Returns name, compute capability, memory, driver and peak clocks of the device; "none" without
/// one.
std::string description();

/// Returns the name of device `index` of those that CUDA shows to this process; empty where there
/// is no such device, or no CUDA in this build.
std::string name(int index);

/// Owns numbers on the device, which are not initialised. All calls wait until they are done. If
/// there is no room, the resource error names the sizes.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t size);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();  // NOLINT(performance-trivially-destructible): not so in a build with CUDA

  /// Copies numbers to or from the device; `values` has as many as there are here.
  void set(std::span<const float> values);
  void get(std::span<float> values) const;

  std::size_t size() const { return size_; }
  float* data() { return data_; }
  DeviceSpan span() const { return {.data = data_, .size = size_}; }

 private:
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

/// to := from, on the device; both have the same size. The call waits until the copy is done.
void copy(DeviceSpan from, DeviceMemory& to);

}  // namespace residuum::cuda
