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

#include "core/vectors/cuda/tiles.cuh"

namespace residuum::cuda {

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
