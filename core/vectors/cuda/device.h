#pragma once
// Which CUDA device there is, if any, and memory on it, behind plain C++.

#include <cstddef>
#include <span>
#include <string>

namespace residuum::cuda {

/// Whether this build has CUDA and this machine a device that can be used.
bool available();

/// Name, compute capability, memory, driver and peak clocks of the device; "none" without one.
std::string description();

/// Numbers that lie on the device: an address for kernels, never to be read by the host. It starts
/// at a multiple of 16 bytes, as allocations do, and what fills it was ordered before by the
/// legacy default stream (libtorch's own) or waited for.
struct DeviceSpan {
  const float* data = nullptr;
  std::size_t size = 0;
};

/// Numbers on the device and their owner. Not initialised. All calls wait until they are done; a
/// resource error with the sizes where there is no room.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t size);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();  // NOLINT(performance-trivially-destructible): not so in a build with CUDA

  /// As many numbers as there are here.
  void set(std::span<const float> values);
  void get(std::span<float> values) const;

  std::size_t size() const { return size_; }
  float* data() { return data_; }
  DeviceSpan span() const { return {.data = data_, .size = size_}; }

 private:
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

/// to := from, from device to device, both of one size; waits.
void copy(DeviceSpan from, DeviceMemory& to);

}  // namespace residuum::cuda
