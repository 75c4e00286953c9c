#pragma once
// The kernel makes one pass over memory: it accumulates, computes three squared norms, and notes
// the entries that reach a bound.
//
// A block works on one tile of the vector. It writes its notes as one run, in the order of the
// indices, so that a walk over the tiles meets entries by index. The order of its sums depends on
// the tile alone. A thread has eight 16-byte loads in flight, which keeps the memory of a large
// device busy.

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

/// Returns e + scale G, rounded twice as on the host: no fused multiply-add.
__device__ inline float accumulated(float residual, float scale, float gradient, Sums& sums) {
  const float value = __fadd_rn(residual, __fmul_rn(scale, gradient));
  add_square(sums.of[0], residual);
  add_square(sums.of[1], gradient);
  add_square(sums.of[2], value);
  return value;
}

/// Each byte counts one of the four quads; a warp has at most 128 entries of each.
static_assert(kQuads == 4 && 4 * kWarp < 256);

/// Returns how many numbers of each quad reach the bound, a byte for each quad.
__device__ inline std::uint32_t count_of(const float4 (&quads)[kQuads], std::uint32_t bound) {
  std::uint32_t counts = 0;
#pragma unroll
  for (unsigned q = 0; q < kQuads; ++q) {
    const std::uint32_t count = (magnitude(quads[q].x) >= bound) +
                                (magnitude(quads[q].y) >= bound) +
                                (magnitude(quads[q].z) >= bound) + (magnitude(quads[q].w) >= bound);
    counts |= count << (8 * q);
  }
  return counts;
}

__device__ inline std::uint32_t count_in(std::uint32_t counts, unsigned quad) {
  return counts >> (8 * quad) & 0xFFU;
}

/// Returns the sums over the lanes up to and including this one.
__device__ inline std::uint32_t up_to_this_lane(std::uint32_t counts) {
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned offset = 1; offset < kWarp; offset *= 2) {
    const std::uint32_t before = __shfl_up_sync(kWholeWarp, counts, offset);
    counts += lane >= offset ? before : 0;
  }
  return counts;
}

/// Writes the entries of a quad that reach the bound.
__device__ inline void note_quad(float4 quad,
                                 std::size_t index,
                                 std::uint32_t at,
                                 const Notes& to) {
  const float values[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
  for (unsigned c = 0; c < 4; ++c) {
    if (magnitude(values[c]) >= to.bound) {
      if (at < to.capacity) {
        to.entries[at] = entry_of(values[c], static_cast<std::uint32_t>(index + c));
      }
      ++at;
    }
  }
}

/// Appends the entries that reach the bound, by index, with one atomic operation for the block.
__device__ inline void note(const float4 (&quads)[kQuads], const Notes& notes) {
  __shared__ std::uint32_t of_warp[kWarps];
  __shared__ std::uint32_t begin;
  const std::uint32_t mine = count_of(quads, notes.bound);
  if (__syncthreads_or(mine != 0) == 0) {
    if (threadIdx.x == 0) {
      notes.runs[blockIdx.x] = {0, 0};
    }
    return;
  }
  const unsigned warp = threadIdx.x / kWarp;
  const std::uint32_t upto = up_to_this_lane(mine);
  const std::uint32_t all = __shfl_sync(kWholeWarp, upto, kWarp - 1);
  if (threadIdx.x % kWarp == 0) {
    of_warp[warp] = count_in(all, 0) + count_in(all, 1) + count_in(all, 2) + count_in(all, 3);
  }
  __syncthreads();
  std::uint32_t before = 0;
  std::uint32_t size = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    before += w < warp ? of_warp[w] : 0;
    size += of_warp[w];
  }
  if (threadIdx.x == 0) {
    begin = atomicAdd(notes.count, size);
    notes.runs[blockIdx.x] = {begin, size};
  }
  __syncthreads();
  std::uint32_t at = begin + before;
#pragma unroll
  for (unsigned q = 0; q < kQuads; ++q) {
    note_quad(quads[q], start_of(q), at + count_in(upto, q) - count_in(mine, q), notes);
    at += count_in(all, q);
  }
}

/// Works on one tile per block. The bound is at least 1, which keeps the zeros beyond the end out
/// of the notes.
__global__ void __launch_bounds__(kThreads, 4) accumulate_kernel(float* memory,
                                                                 const float* gradient,
                                                                 float scale,
                                                                 std::size_t size,
                                                                 Notes notes,
                                                                 Sums* tile_sums) {
  Sums sums{};
  float4 residuals[kQuads];
  float4 gradients[kQuads];
#pragma unroll
  for (unsigned q = 0; q < kQuads; ++q) {
    residuals[q] = load_quad(memory, start_of(q), size);
    gradients[q] = load_quad(gradient, start_of(q), size);
  }
#pragma unroll
  for (unsigned q = 0; q < kQuads; ++q) {
    float4& quad = residuals[q];
    const float4& step = gradients[q];
    quad = {accumulated(quad.x, scale, step.x, sums),
            accumulated(quad.y, scale, step.y, sums),
            accumulated(quad.z, scale, step.z, sums),
            accumulated(quad.w, scale, step.w, sums)};
    store_quad(memory, start_of(q), size, quad);
  }
  note(residuals, notes);
  sums = block_sums(sums);
  if (threadIdx.x == 0) {
    tile_sums[blockIdx.x] = sums;
  }
}

}  // namespace residuum::cuda
