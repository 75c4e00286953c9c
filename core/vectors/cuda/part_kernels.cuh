#pragma once
// Selection from many parts of one vector: layers, blocks, or the tiles of a threshold. A block of
// threads finds the smallest entry that its part wants, by the radix search of narrowing.h in
// shared memory. A scan over the parts says where the entries of each are written, by index.

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include <cstddef>
#include <cstdint>

#include "core/vectors/cuda/narrowing.h"
#include "core/vectors/cuda/select_sources.cuh"

namespace residuum::cuda {

/// A part as the kernels see it; `least` numbers the threshold of the part.
struct PartThere {
  std::uint64_t begin;
  std::uint32_t size;
  std::uint32_t most;
  std::uint32_t least;
};

/// Returns the smallest entry that reaches a threshold, of which `bits` are the bits.
__device__ inline std::uint64_t entry_at_least(std::uint32_t bits) {
  const std::uint64_t entry = std::uint64_t{bits} << 33U;
  return entry < kLeastEntry ? kLeastEntry : entry;
}

/// Finds the bin of the entry of this rank in a histogram of the block, counting from the largest
/// digit down.
__device__ inline Bin bin_in_block(std::uint32_t rank, const Histogram& histogram) {
  constexpr unsigned kEachBins = 4;
  static_assert(kBins == kEachBins * kSearchThreads);
  using Scan = cub::BlockScan<std::uint32_t, kSearchThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ Bin found;
  const unsigned first = kBins - 1 - threadIdx.x * kEachBins;
  std::uint32_t sum = 0;
  for (unsigned b = 0; b < kEachBins; ++b) {
    sum += histogram[first - b];
  }
  std::uint32_t above = 0;
  std::uint32_t total = 0;
  Scan(storage).ExclusiveSum(sum, above, total);
  if (threadIdx.x == 0 && total < rank) {
    found = {0, 0, 0};
  }
  for (unsigned b = 0; b < kEachBins; ++b) {
    const std::uint32_t count = histogram[first - b];
    if (above < rank && rank <= above + count) {
      found = {first - b, above, count};
    }
    above += count;
  }
  __syncthreads();
  const Bin result = found;
  __syncthreads();  // before the result of the next digit is written
  return result;
}

/// Calls act(entry) on the entries of the part that reach `floor`, in no order.
template <class Act>
__device__ void for_each_of_part(const float* values,
                                 const PartThere& part,
                                 std::uint64_t floor,
                                 Act act) {
  for (std::size_t i = threadIdx.x; i < part.size; i += kSearchThreads) {
    const auto index = static_cast<std::uint32_t>(part.begin + i);
    const std::uint64_t entry = entry_of(values[index], index);
    if (entry >= floor) {
      act(entry);
    }
  }
}

/// Returns the smallest entry that the part wants of those that reach `floor`.
__device__ inline std::uint64_t cut_of_part(const float* values,
                                            const PartThere& part,
                                            std::uint64_t floor) {
  __shared__ Histogram counts;
  constexpr auto digits = kDigits;
  Narrowing now;
  now.rank = part.most;
  for (unsigned n = 0; n < digits.size() && now.done == 0; ++n) {
    for (unsigned b = threadIdx.x; b < kBins; b += kSearchThreads) {
      counts[b] = 0;
    }
    __syncthreads();
    for_each_of_part(values, part, floor, [&](std::uint64_t entry) {
      if (leading(entry, digits[n]) == now.prefix) {
        atomicAdd(&counts[bin_of(entry, digits[n])], 1U);
      }
    });
    __syncthreads();
    const Bin bin = bin_in_block(now.rank, counts);
    now =
        bin.within == 0 ? satisfied(now) : narrowed(now, digits[n], bin.bin, bin.above, bin.within);
  }
  return now.cut < floor ? floor : now.cut;
}

/// Finds for each part, one for each block of threads, the smallest entry that it wants, and how
/// many it keeps.
__global__ void __launch_bounds__(kSearchThreads) cut_parts_kernel(const float* values,
                                                                   const PartThere* parts,
                                                                   const std::uint32_t* leasts,
                                                                   std::uint64_t* cuts,
                                                                   std::uint32_t* kept) {
  using Reduce = cub::BlockReduce<std::uint32_t, kSearchThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const PartThere part = parts[blockIdx.x];
  const std::uint64_t floor = entry_at_least(leasts[part.least]);
  std::uint64_t cut = floor;
  if (part.most < part.size && part.most > 0) {
    cut = cut_of_part(values, part, floor);
  }
  std::uint32_t mine = 0;
  for_each_of_part(values, part, cut, [&](std::uint64_t /*entry*/) { ++mine; });
  const std::uint32_t all = Reduce(storage).Sum(part.most > 0 ? mine : 0);
  if (threadIdx.x == 0) {
    cuts[blockIdx.x] = cut;
    kept[blockIdx.x] = all;
  }
}

/// begins[i] := what the parts before i keep; begins[parts] is what all keep. One block of threads.
__global__ void __launch_bounds__(kSearchThreads)
    place_parts_kernel(const std::uint32_t* kept, std::uint32_t parts, std::uint32_t* begins) {
  using Scan = cub::BlockScan<std::uint32_t, kSearchThreads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint32_t before = 0;
  for (std::uint32_t first = 0; first < parts; first += kSearchThreads) {
    const std::uint32_t i = first + threadIdx.x;
    std::uint32_t begin = 0;
    std::uint32_t total = 0;
    Scan(storage).ExclusiveSum(i < parts ? kept[i] : 0, begin, total);
    __syncthreads();  // before the storage is used again
    if (i < parts) {
      begins[i] = before + begin;
    }
    before += total;
  }
  if (threadIdx.x == 0) {
    begins[parts] = before;
  }
}

/// Writes the entries that the parts keep, by index.
__global__ void __launch_bounds__(kSearchThreads) write_parts_kernel(const float* values,
                                                                     const PartThere* parts,
                                                                     const std::uint64_t* cuts,
                                                                     const std::uint32_t* begins,
                                                                     std::uint32_t* indices,
                                                                     float* kept_values) {
  using Scan = cub::BlockScan<std::uint32_t, kSearchThreads>;
  __shared__ typename Scan::TempStorage storage;
  const PartThere part = parts[blockIdx.x];
  const std::uint64_t cut = cuts[blockIdx.x];
  std::uint32_t at = begins[blockIdx.x];
  if (at == begins[blockIdx.x + 1]) {
    return;  // it keeps none
  }
  for (std::size_t first = 0; first < part.size; first += kSearchThreads) {
    const std::size_t i = first + threadIdx.x;
    const auto index = static_cast<std::uint32_t>(part.begin + i);
    const std::uint64_t entry = i < part.size ? entry_of(values[index], index) : 0;
    const std::uint32_t wants = entry >= cut ? 1 : 0;  // a cut is above 0
    std::uint32_t before = 0;
    std::uint32_t total = 0;
    Scan(storage).ExclusiveSum(wants, before, total);
    __syncthreads();  // before the storage is used again
    if (wants != 0) {
      indices[at + before] = index;
      kept_values[at + before] = value_of(entry);
    }
    at += total;
  }
}

}  // namespace residuum::cuda
