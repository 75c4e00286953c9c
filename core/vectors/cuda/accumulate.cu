// Device side of accumulate.h: launcher, two kernels, one helper. The grid is the same for every
// size and device, so that the order of the sum is too.

#include <cuda_runtime.h>

#include <cassert>
#include <cstddef>
#include <span>

#include "core/vectors/cuda/accumulate.h"
#include "core/vectors/cuda/device_error.h"

namespace residuum::cuda {
namespace {

constexpr unsigned kThreads = 256;  // per block, a power of two
constexpr unsigned kBlocks = 256;   // at most kThreads: the second stage is one block

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    device_error(call, cudaGetErrorString(code));
  }
}

/// Device memory for `size` values, freed with its owner.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t size) {
    check(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc");
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  T* data() { return data_; }

 private:
  T* data_ = nullptr;
};

template <typename T>
void to_device(DeviceBuffer<T>& to, std::span<const T> from) {
  check(cudaMemcpy(to.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice),
        "cudaMemcpy to the device");
}

template <typename T>
void to_host(std::span<T> to, DeviceBuffer<T>& from) {
  check(cudaMemcpy(to.data(), from.data(), to.size_bytes(), cudaMemcpyDeviceToHost),
        "cudaMemcpy to the host");
}

/// Sum over the block, by halving; the result is thread 0's.
__device__ double block_sum(double value) {
  __shared__ double sums[kThreads];
  sums[threadIdx.x] = value;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
  }
  return sums[0];
}

__global__ void accumulate_kernel(
    float* buffer, const float* addend, float scale, std::size_t size, double* block_sums) {
  double sum = 0;
  const std::size_t stride = std::size_t{kBlocks} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < size; i += stride) {
    // Rounded twice, as on the host: no fused multiply-add.
    const float value = __fadd_rn(buffer[i], __fmul_rn(scale, addend[i]));
    buffer[i] = value;
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    block_sums[blockIdx.x] = sum;
  }
}

__global__ void sum_kernel(const double* block_sums, double* total) {
  const double sum = block_sum(threadIdx.x < kBlocks ? block_sums[threadIdx.x] : 0.0);
  if (threadIdx.x == 0) {
    *total = sum;
  }
}

}  // namespace

bool available() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

double accumulate(std::span<float> buffer, std::span<const float> addend, float scale) {
  assert(buffer.size() == addend.size());
  if (buffer.empty()) {
    return 0;
  }
  DeviceBuffer<float> device_buffer(buffer.size());
  DeviceBuffer<float> device_addend(addend.size());
  DeviceBuffer<double> block_sums(kBlocks);
  DeviceBuffer<double> device_total(1);
  to_device(device_buffer, std::span<const float>(buffer));
  to_device(device_addend, addend);

  accumulate_kernel<<<kBlocks, kThreads>>>(
      device_buffer.data(), device_addend.data(), scale, buffer.size(), block_sums.data());
  check(cudaGetLastError(), "accumulate_kernel");
  sum_kernel<<<1, kThreads>>>(block_sums.data(), device_total.data());
  check(cudaGetLastError(), "sum_kernel");

  double total = 0;
  to_host(std::span(&total, 1), device_total);
  to_host(buffer, device_buffer);
  return total;
}

}  // namespace residuum::cuda
