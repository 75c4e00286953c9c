#pragma once
// The one pass over memory: accumulate, three squared norms, and notes of what reaches a bound.
//
// A block works on one tile of the vector, so that sums are formed in an order that depends on the
// tile alone; tile sums are added in their order afterwards. A thread has eight 16-byte loads in
// flight, which is what it takes to keep the memory of a large device busy.

#include <cstddef>
#include <cstdint>

#include "core/vectors/cuda/narrowing.h"

namespace residuum::cuda {

inline constexpr unsigned kThreads = 256;  // per block
inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kWholeWarp = 0xFFFFFFFFU;
inline constexpr unsigned kQuads = 4;  // of four numbers, per thread and batch
inline constexpr unsigned kEach = 4 * kQuads;
inline constexpr unsigned kBatch = kThreads * kEach;
inline constexpr unsigned kTile = 2 * kBatch;

/// |e|^2, |G|^2 and |a|^2.
struct Sums {
  double of[3];
};

/// Where entries are noted; `count` goes on where the room ends.
struct Notes {
  std::uint64_t* entries;
  std::uint32_t* count;
  std::uint32_t capacity;
  std::uint32_t bound;  // bits of a magnitude
};

/// The product of two floats is exact in double, so fused or not the bits are the same.
__device__ inline void add_square(double& sum, float value) {
  const auto x = static_cast<double>(value);
  sum = __fma_rn(x, x, sum);
}

/// Sums over the block, the result is thread 0's. Always in the same order.
__device__ inline Sums block_sums(Sums sums) {
  __shared__ Sums of_warp[kThreads / kWarp];
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    for (double& sum : sums.of) {
      sum += __shfl_down_sync(kWholeWarp, sum, offset);
    }
  }
  if (threadIdx.x % kWarp == 0) {
    of_warp[threadIdx.x / kWarp] = sums;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned warp = 1; warp < kThreads / kWarp; ++warp) {
      for (unsigned n = 0; n < 3; ++n) {
        sums.of[n] += of_warp[warp].of[n];
      }
    }
  }
  return sums;
}

/// The first coordinate of a thread's quad in a batch: neighbours in a warp load neighbours.
__device__ inline std::size_t start_of(std::size_t batch, unsigned quad) {
  return batch + (std::size_t{quad} * kThreads + threadIdx.x) * 4;
}

/// Four numbers from `i`; zeros behind the end.
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

/// e + scale G, rounded twice as on the host: no fused multiply-add.
__device__ inline float accumulated(float residual, float scale, float gradient, Sums& sums) {
  const float value = __fadd_rn(residual, __fmul_rn(scale, gradient));
  add_square(sums.of[0], residual);
  add_square(sums.of[1], gradient);
  add_square(sums.of[2], value);
  return value;
}

/// Appends what reaches the bound, one atomic operation for the warp. All its lanes come here.
__device__ inline void note(const float4 (&quads)[kQuads], std::size_t batch, const Notes& notes) {
  unsigned mine = 0;
#pragma unroll
  for (const float4& quad : quads) {
    mine += (magnitude(quad.x) >= notes.bound) + (magnitude(quad.y) >= notes.bound) +
            (magnitude(quad.z) >= notes.bound) + (magnitude(quad.w) >= notes.bound);
  }
  if (__any_sync(kWholeWarp, mine > 0) == 0) {
    return;
  }
  const unsigned lane = threadIdx.x % kWarp;
  unsigned upto = mine;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const unsigned before = __shfl_up_sync(kWholeWarp, upto, offset);
    upto += lane >= offset ? before : 0;
  }
  std::uint32_t at = lane == kWarp - 1 ? atomicAdd(notes.count, upto) : 0;
  at = __shfl_sync(kWholeWarp, at, kWarp - 1) + upto - mine;
  const auto append = [&](float value, std::size_t index) {
    if (magnitude(value) >= notes.bound) {
      if (at < notes.capacity) {
        notes.entries[at] = entry_of(value, static_cast<std::uint32_t>(index));
      }
      ++at;
    }
  };
#pragma unroll
  for (unsigned q = 0; q < kQuads; ++q) {
    const std::size_t i = start_of(batch, q);
    append(quads[q].x, i);
    append(quads[q].y, i + 1);
    append(quads[q].z, i + 2);
    append(quads[q].w, i + 3);
  }
}

/// One block per tile. A bound of at least 1 keeps the zeros behind the end out of the notes.
__global__ void __launch_bounds__(kThreads, 4) accumulate_kernel(float* memory,
                                                                 const float* gradient,
                                                                 float scale,
                                                                 std::size_t size,
                                                                 Notes notes,
                                                                 Sums* tile_sums) {
  const std::size_t tile = std::size_t{blockIdx.x} * kTile;
  Sums sums{};
#pragma unroll 1
  for (std::size_t batch = tile; batch < tile + kTile; batch += kBatch) {
    float4 residuals[kQuads];
    float4 gradients[kQuads];
#pragma unroll
    for (unsigned q = 0; q < kQuads; ++q) {
      residuals[q] = load_quad(memory, start_of(batch, q), size);
      gradients[q] = load_quad(gradient, start_of(batch, q), size);
    }
#pragma unroll
    for (unsigned q = 0; q < kQuads; ++q) {
      float4& quad = residuals[q];
      const float4& step = gradients[q];
      quad = {accumulated(quad.x, scale, step.x, sums),
              accumulated(quad.y, scale, step.y, sums),
              accumulated(quad.z, scale, step.z, sums),
              accumulated(quad.w, scale, step.w, sums)};
      store_quad(memory, start_of(batch, q), size, quad);
    }
    note(residuals, batch, notes);
  }
  sums = block_sums(sums);
  if (threadIdx.x == 0) {
    tile_sums[blockIdx.x] = sums;
  }
}

/// One block.
__global__ void __launch_bounds__(kThreads)
    add_tiles_kernel(const Sums* tile_sums, unsigned tiles, Sums* total) {
  Sums sums{};
  for (unsigned tile = threadIdx.x; tile < tiles; tile += kThreads) {
    for (unsigned n = 0; n < 3; ++n) {
      sums.of[n] += tile_sums[tile].of[n];
    }
  }
  sums = block_sums(sums);
  if (threadIdx.x == 0) {
    *total = sums;
  }
}

}  // namespace residuum::cuda
