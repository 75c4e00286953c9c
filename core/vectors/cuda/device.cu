#include <cuda_runtime.h>

#include <cassert>

#include "core/vectors/cuda/buffer.cuh"
#include "core/vectors/cuda/device.h"

namespace residuum::cuda {
namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return value;
}

/// Writes CUDA's version number as text: 13000 is 13.0.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

bool available() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

std::string description() {
  if (!available()) {
    return "none";
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const auto mhz = [](cudaDeviceAttr which) { return std::to_string(attribute(which) / 1000); };
  return std::string(properties.name) + ", compute capability " + std::to_string(properties.major) +
         "." + std::to_string(properties.minor) + ", " +
         std::to_string(properties.multiProcessorCount) + " multiprocessors, " +
         std::to_string(properties.totalGlobalMem >> 20U) + " MiB, driver for CUDA " +
         version_text(driver) + ", runtime " + version_text(CUDART_VERSION) + ", peak clocks " +
         mhz(cudaDevAttrClockRate) + " MHz, memory " + mhz(cudaDevAttrMemoryClockRate) + " MHz";
}

std::string name(int index) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, index) == cudaSuccess ? properties.name : "";
}

DeviceMemory::DeviceMemory(std::size_t size)
    : data_(static_cast<float*>(allocate(size * sizeof(float)))), size_(size) {}

DeviceMemory::~DeviceMemory() { cudaFree(data_); }

void DeviceMemory::set(std::span<const float> values) {
  assert(values.size() == size_);
  check(cudaMemcpy(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
        "cudaMemcpy to the device");
}

void DeviceMemory::get(std::span<float> values) const {
  assert(values.size() == size_);
  check(cudaMemcpy(values.data(), data_, values.size_bytes(), cudaMemcpyDeviceToHost),
        "cudaMemcpy to the host");
}

void copy(DeviceSpan from, DeviceMemory& to) {
  assert(from.size == to.size());
  check(
      cudaMemcpyAsync(to.data(), from.data, from.size * sizeof(float), cudaMemcpyDeviceToDevice, 0),
      "cudaMemcpy on the device");
  check(cudaStreamSynchronize(0), "cudaMemcpy on the device");
}

}  // namespace residuum::cuda
