#pragma once
// The .cu files share checked calls, and buffers on the device and on the host that grow.

#include <cuda_runtime.h>

#include <cstddef>

#include "core/vectors/cuda/device_error.h"

namespace residuum::cuda {

inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    device_error(call, cudaGetErrorString(code));
  }
}

/// Allocates bytes on the device; the caller frees them.
inline void* allocate(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t code = cudaMalloc(&data, bytes);
  if (code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // the next launch must not report it
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    no_room(bytes, free, total);
  }
  check(code, "cudaMalloc");
  return data;
}

/// A buffer is room for values on the device. Its contents are lost when it grows.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { reserve(size); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  void reserve(std::size_t size) {
    if (size <= size_) {
      return;
    }
    cudaFree(data_);  // waits for kernels that still use it
    data_ = nullptr;
    size_ = 0;
    data_ = static_cast<T*>(allocate(size * sizeof(T)));
    size_ = size;
  }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A pinned buffer is page-locked host memory, to which the device copies directly.
template <typename T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size) { reserve(size); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { cudaFreeHost(data_); }

  void reserve(std::size_t size) {
    if (size <= size_) {
      return;
    }
    cudaFreeHost(data_);
    data_ = nullptr;
    size_ = 0;
    void* data = nullptr;
    check(cudaMallocHost(&data, size * sizeof(T)), "cudaMallocHost");
    data_ = static_cast<T*>(data);
    size_ = size;
  }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace residuum::cuda
