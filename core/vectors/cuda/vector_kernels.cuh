#pragma once
// Plain kernels on vectors: one thread for each number or list entry. Sums are taken by tiles, in
// an order that depends on the size alone.

#include <cstddef>
#include <cstdint>

#include "core/vectors/cuda/tiles.cuh"

namespace residuum::cuda {

__device__ inline std::size_t index_of_thread() {
  return std::size_t{blockIdx.x} * kThreads + threadIdx.x;
}

/// result := gradient - estimate.
__global__ void subtract_kernel(float* result,
                                const float* gradient,
                                const float* estimate,
                                std::size_t size) {
  const std::size_t i = index_of_thread();
  if (i < size) {
    result[i] = __fsub_rn(gradient[i], estimate[i]);
  }
}

__global__ void scale_kernel(float* x, float factor, std::size_t size) {
  const std::size_t i = index_of_thread();
  if (i < size) {
    x[i] = __fmul_rn(x[i], factor);
  }
}

__global__ void add_vector_kernel(float* to, const float* from, std::size_t size) {
  const std::size_t i = index_of_thread();
  if (i < size) {
    to[i] = __fadd_rn(to[i], from[i]);
  }
}

/// x[index] := value; the indices differ.
__global__ void assign_kernel(float* x,
                              const std::uint32_t* indices,
                              const float* values,
                              std::uint32_t count) {
  const std::size_t i = index_of_thread();
  if (i < count) {
    x[indices[i]] = values[i];
  }
}

/// x[index] += sign * value; the indices differ.
__global__ void add_list_kernel(
    float* x, const std::uint32_t* indices, const float* values, std::uint32_t count, float sign) {
  const std::size_t i = index_of_thread();
  if (i < count) {
    x[indices[i]] = __fadd_rn(x[indices[i]], __fmul_rn(sign, values[i]));
  }
}

__global__ void gather_kernel(const float* x,
                              const std::uint32_t* indices,
                              float* values,
                              std::uint32_t count) {
  const std::size_t i = index_of_thread();
  if (i < count) {
    values[i] = x[indices[i]];
  }
}

/// Sums over entries: how many there are, and of which the magnitude is above a threshold, or not
/// 0.
struct MomentSums {
  double of[6];  // entries, non-zero ones, signed sum, sum, sum of squares, sum of logarithms
};

/// Adds up the moments of a tile of x. With a threshold they are those of |x_i| - threshold where
/// that is positive; without one, all entries count. Blocks add in an order of their own: each has
/// a place.
__global__ void __launch_bounds__(kThreads) tile_moments_kernel(const float* x,
                                                                std::size_t size,
                                                                double threshold,
                                                                bool of_excesses,
                                                                bool with_logarithms,
                                                                MomentSums* sums) {
  __shared__ double of_warp[kWarps];
  MomentSums mine{};
  for (std::size_t i = std::size_t{blockIdx.x} * kTile + threadIdx.x;
       i < size && i < (std::size_t{blockIdx.x} + 1) * kTile;
       i += kThreads) {
    const double value = x[i];
    const double amount = of_excesses ? fabs(value) - threshold : fabs(value);
    if (of_excesses && !(amount > 0)) {
      continue;
    }
    mine.of[0] += 1;
    if (amount > 0) {
      mine.of[1] += 1;
      mine.of[2] += of_excesses ? amount : value;
      mine.of[3] += amount;
      mine.of[4] += amount * amount;
      mine.of[5] += with_logarithms ? log(amount) : 0;
    }
  }
  for (unsigned n = 0; n < 6; ++n) {
    double sum = mine.of[n];
    for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
      sum += __shfl_down_sync(kWholeWarp, sum, offset);
    }
    __syncthreads();  // until the sums before have been read
    if (threadIdx.x % kWarp == 0) {
      of_warp[threadIdx.x / kWarp] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned w = 1; w < kWarps; ++w) {
        sum += of_warp[w];
      }
      sums[blockIdx.x].of[n] = sum;
    }
  }
}

/// Adds up the moments of the tiles, in one warp.
__global__ void join_moments_kernel(const MomentSums* tiles, unsigned count, MomentSums* whole) {
  for (unsigned n = 0; n < 6; ++n) {
    double sum = 0;
    for (unsigned t = threadIdx.x; t < count; t += kWarp) {
      sum += tiles[t].of[n];
    }
    for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
      sum += __shfl_down_sync(kWholeWarp, sum, offset);
    }
    if (threadIdx.x == 0) {
      whole->of[n] = sum;
    }
  }
}

/// total += how many entries have a magnitude of at least these bits, which are above 0.
__global__ void count_kernel(const float* x,
                             std::size_t size,
                             std::uint32_t least,
                             std::uint32_t* total) {
  const std::size_t i = index_of_thread();
  const unsigned reach = __ballot_sync(kWholeWarp, i < size && magnitude(x[i]) >= least);
  if (threadIdx.x % kWarp == 0 && reach != 0) {
    atomicAdd(total, static_cast<std::uint32_t>(__popc(reach)));
  }
}

/// Holds |x|^2 of a vector, and the bits of its largest magnitude.
struct Extent {
  double norm_sq;
  std::uint32_t largest;
};

/// Computes the sum of squares and the largest magnitude of each tile.
__global__ void __launch_bounds__(kThreads)
    tile_extent_kernel(const float* x, std::size_t size, Extent* extents) {
  __shared__ std::uint32_t largest;
  if (threadIdx.x == 0) {
    largest = 0;
  }
  __syncthreads();
  Sums sums{};
  std::uint32_t mine = 0;
#pragma unroll
  for (unsigned q = 0; q < kQuads; ++q) {
    const float4 quad = load_quad(x, start_of(q), size);
    const float values[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
    for (unsigned c = 0; c < 4; ++c) {
      add_square(sums.of[0], values[c]);
      mine = max(mine, magnitude(values[c]));
    }
  }
  atomicMax(&largest, mine);
  sums = block_sums(sums);
  __syncthreads();
  if (threadIdx.x == 0) {
    extents[blockIdx.x] = {sums.of[0], largest};
  }
}

/// Joins the extents of the tiles, in one warp.
__global__ void join_extents_kernel(const Extent* extents, unsigned tiles, Extent* whole) {
  Sums sums{};
  std::uint32_t largest = 0;
  for (unsigned t = threadIdx.x; t < tiles; t += kWarp) {
    sums.of[0] += extents[t].norm_sq;
    largest = max(largest, extents[t].largest);
  }
  sums = warp_sums(sums);
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    largest = max(largest, __shfl_xor_sync(kWholeWarp, largest, offset));
  }
  if (threadIdx.x == 0) {
    *whole = {sums.of[0], largest};
  }
}

}  // namespace residuum::cuda
