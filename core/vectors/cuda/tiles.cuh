#pragma once
// Kernels that read a vector tile by tile share this: who reads which numbers, and sums in an order
// that depends on the tile alone.

#include <cstddef>
#include <cstdint>

#include "core/vectors/cuda/narrowing.h"

namespace residuum::cuda {

inline constexpr unsigned kThreads = 256;  // per block
inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kWarps = kThreads / kWarp;  // per block
inline constexpr unsigned kWholeWarp = 0xFFFFFFFFU;
inline constexpr unsigned kQuads = 4;  // groups of four numbers, per thread
inline constexpr unsigned kTile = kThreads * 4 * kQuads;

/// Sums are |e|^2, |G|^2 and |a|^2.
struct Sums {
  double of[3];
};

/// A run is where a tile's notes are among all notes.
struct Run {
  std::uint32_t begin;
  std::uint32_t size;
};

/// Entries are noted here. `count` is 0 before the pass and goes on counting when the room is full.
struct Notes {
  std::uint64_t* entries;
  Run* runs;  // one per tile
  std::uint32_t* count;
  std::uint32_t capacity;
  std::uint32_t bound;  // bits of a magnitude
};

/// The product of two floats is exact in double, so a fused multiply-add gives the same bits.
__device__ inline void add_square(double& sum, float value) {
  const auto x = static_cast<double>(value);
  sum = __fma_rn(x, x, sum);
}

__device__ inline void add(Sums& sums, const Sums& more) {
  for (unsigned n = 0; n < 3; ++n) {
    sums.of[n] += more.of[n];
  }
}

/// Sums over the warp, always in the same order; lane 0 has the result.
__device__ inline Sums warp_sums(Sums sums) {
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    for (double& sum : sums.of) {
      sum += __shfl_down_sync(kWholeWarp, sum, offset);
    }
  }
  return sums;
}

/// Sums over the block, always in the same order; thread 0 has the result.
__device__ inline Sums block_sums(Sums sums) {
  __shared__ Sums of_warp[kWarps];
  sums = warp_sums(sums);
  if (threadIdx.x % kWarp == 0) {
    of_warp[threadIdx.x / kWarp] = sums;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned warp = 1; warp < kWarps; ++warp) {
      add(sums, of_warp[warp]);
    }
  }
  return sums;
}

/// Returns the first coordinate of a thread's quad. A warp has 512 consecutive numbers, and in each
/// of its four loads neighbouring threads load neighbouring quads.
__device__ inline std::size_t start_of(unsigned quad) {
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  return std::size_t{blockIdx.x} * kTile + ((warp * kQuads + quad) * kWarp + lane) * 4;
}

/// Loads four numbers from `i` on; zeros beyond the end.
__device__ inline float4 load_quad(const float* x, std::size_t i, std::size_t size) {
  if (i + 4 <= size) {
    return *reinterpret_cast<const float4*>(x + i);
  }
  return {i < size ? x[i] : 0, i + 1 < size ? x[i + 1] : 0, i + 2 < size ? x[i + 2] : 0, 0};
}

__device__ inline void store_quad(float* x, std::size_t i, std::size_t size, float4 quad) {
  if (i + 4 <= size) {
    *reinterpret_cast<float4*>(x + i) = quad;
    return;
  }
  const float values[3] = {quad.x, quad.y, quad.z};
  for (unsigned c = 0; c < 3 && i + c < size; ++c) {
    x[i + c] = values[c];
  }
}

}  // namespace residuum::cuda
