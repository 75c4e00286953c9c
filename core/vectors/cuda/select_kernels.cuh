#pragma once
// The kernels of the exact selection: one histogram per digit narrows down to the smallest entry
// that is wanted, then whatever is not smaller is kept. They run over what a pass has noted or,
// where that does not do, over the accumulator itself.

#include <cub/block/block_scan.cuh>

#include <cstddef>
#include <cstdint>

#include "core/vectors/cuda/accumulate_kernel.cuh"
#include "core/vectors/cuda/narrowing.h"

namespace residuum::cuda {

/// Entries that a pass has noted.
struct Noted {
  const std::uint64_t* entries;
  const std::uint32_t* count;
  std::uint32_t capacity;

  __device__ std::size_t size() const { return *count < capacity ? *count : capacity; }
  __device__ std::uint64_t operator[](std::size_t i) const { return entries[i]; }
};

/// All coordinates of a vector.
struct Everything {
  const float* values;
  std::size_t length;

  __device__ std::size_t size() const { return length; }
  __device__ std::uint64_t operator[](std::size_t i) const {
    return entry_of(values[i], static_cast<std::uint32_t>(i));
  }
};

/// What a search needs on the device. All counters are 0 between kernels.
struct Search {
  Narrowing narrowing;
  std::uint32_t blocks_done;
  std::uint32_t histogram[kBins];
};

/// True in the block that comes here last; it sees what all others have written.
__device__ inline bool is_last_block(std::uint32_t& blocks_done) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&blocks_done, 1U) == gridDim.x - 1;
  }
  __syncthreads();
  __threadfence();
  return last;
}

/// Finds the bin of the wanted entry, counting from the largest digit down, and leaves the counters
/// at 0. One block.
__device__ inline void choose_bin(Digit digit, Search& search) {
  constexpr unsigned kEachBins = kBins / kThreads;
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  const Narrowing now = search.narrowing;
  const unsigned first = kBins - 1 - threadIdx.x * kEachBins;
  std::uint32_t counts[kEachBins];
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned b = 0; b < kEachBins; ++b) {
    counts[b] = __ldcg(&search.histogram[first - b]);
    search.histogram[first - b] = 0;
    sum += counts[b];
  }
  std::uint32_t above = 0;
  std::uint32_t total = 0;
  Scan(storage).ExclusiveSum(sum, above, total);  // a barrier: every thread has read `now`
  if (threadIdx.x == 0) {
    search.blocks_done = 0;
    if (total < now.rank) {
      search.narrowing = satisfied(now);
    }
  }
#pragma unroll
  for (unsigned b = 0; b < kEachBins; ++b) {
    if (above < now.rank && now.rank <= above + counts[b]) {
      search.narrowing = narrowed(now, digit, first - b, above, counts[b]);
    }
    above += counts[b];
  }
}

/// What a step tells the host besides the selection.
struct Told {
  Sums norms;
  std::uint32_t noted;
  std::uint32_t kept;
  std::uint32_t cut;  // bits of a magnitude that no kept entry is below
};

/// Before a pass and a search for the k-th largest, or before another search. One thread.
__global__ void begin_kernel(Search* search, Told* told, std::uint32_t k) {
  *told = Told{};
  search->narrowing = Narrowing{};
  search->narrowing.rank = k;
}

/// One digit. The state is written by the last block only, after all others have read it.
template <class Source>
__global__ void __launch_bounds__(kThreads)
    narrow_kernel(Source source, Digit digit, Search* search) {
  __shared__ std::uint32_t counts[kBins];
  if (search->narrowing.done != 0) {
    return;
  }
  const std::uint64_t prefix = search->narrowing.prefix;
  for (unsigned b = threadIdx.x; b < kBins; b += kThreads) {
    counts[b] = 0;
  }
  __syncthreads();
  const std::size_t size = source.size();
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < size; i += stride) {
    const std::uint64_t entry = source[i];
    if (entry >= kLeastEntry && leading(entry, digit) == prefix) {
      atomicAdd(&counts[bin_of(entry, digit)], 1U);
    }
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < kBins; b += kThreads) {
    if (counts[b] > 0) {
      atomicAdd(&search->histogram[b], counts[b]);
    }
  }
  if (is_last_block(search->blocks_done)) {
    choose_bin(digit, *search);
  }
}

/// Where the kept entries go, in any order; there is room for k.
struct Kept {
  std::uint32_t* indices;
  float* values;
  Told* told;
  std::uint32_t k;
};

template <class Source>
__global__ void __launch_bounds__(kThreads)
    keep_kernel(Source source, const Search* search, Kept kept) {
  const std::uint64_t cut = search->narrowing.cut;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    kept.told->cut = static_cast<std::uint32_t>(cut >> 33U);
  }
  const std::size_t size = source.size();
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  // Whole blocks go round, so that all lanes of a warp meet.
  for (std::size_t block = std::size_t{blockIdx.x} * kThreads; block < size; block += stride) {
    const std::size_t i = block + threadIdx.x;
    const std::uint64_t entry = i < size ? source[i] : 0;
    const unsigned wanting = __ballot_sync(kWholeWarp, entry >= cut);
    if (wanting == 0) {
      continue;
    }
    const unsigned lane = threadIdx.x % kWarp;
    std::uint32_t at = lane == 0 ? atomicAdd(&kept.told->kept, __popc(wanting)) : 0;
    at = __shfl_sync(kWholeWarp, at, 0) + __popc(wanting & ((1U << lane) - 1U));
    if (entry >= cut && at < kept.k) {
      kept.indices[at] = index_of(entry);
      kept.values[at] = value_of(entry);
    }
  }
}

/// memory[index] += sign * value; the indices differ.
__global__ void scatter_kernel(float* memory,
                               const std::uint32_t* indices,
                               const float* values,
                               std::uint32_t count,
                               float sign) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) {
    // A product with 1 or -1 is exact.
    memory[indices[i]] = __fadd_rn(memory[indices[i]], __fmul_rn(sign, values[i]));
  }
}

}  // namespace residuum::cuda
