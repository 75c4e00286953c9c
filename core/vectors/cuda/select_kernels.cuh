#pragma once
// One kernel follows the pass: it adds up the norms and makes the exact selection. One histogram
// per digit narrows the search down to the smallest entry that is wanted; then all entries that are
// not smaller are written, by index. It runs over the notes of the pass or, if these do not
// suffice, over the accumulator itself. Blocks synchronise between its phases, so all of them must
// be on the device at once (a cooperative launch).

#include <cub/block/block_scan.cuh>

#include <cooperative_groups.h>
#include <cstddef>
#include <cstdint>

#include "core/vectors/cuda/narrowing.h"
#include "core/vectors/cuda/select_sources.cuh"

namespace residuum::cuda {

/// Returns the block's own histogram. It is not declared in a template, because each instance would
/// have its own.
__device__ inline Histogram& counts_of_block() {
  __shared__ Histogram counts;
  return counts;
}

/// Adds the entries that begin with `prefix` to the histogram of a digit.
template <class Source>
__device__ void count_digit(
    const Source& source, Share share, Digit digit, std::uint64_t prefix, Histogram& histogram) {
  Histogram& counts = counts_of_block();
  for (unsigned b = threadIdx.x; b < kBins; b += kSearchThreads) {
    counts[b] = 0;
  }
  __syncthreads();
  for_each_entry(source, share, [&](std::uint64_t entry) {
    if (entry >= kLeastEntry && leading(entry, digit) == prefix) {
      atomicAdd(&counts[bin_of(entry, digit)], 1U);
    }
  });
  __syncthreads();
  for (unsigned b = threadIdx.x; b < kBins; b += kSearchThreads) {
    if (counts[b] > 0) {
      atomicAdd(&histogram[b], counts[b]);
    }
  }
}

/// Finds the bin by counting from the largest digit down. Every block does so and gets the same
/// result.
__device__ inline Bin bin_of_rank(std::uint32_t rank, const Histogram& histogram) {
  constexpr unsigned kEachBins = 4;
  static_assert(kBins == kEachBins * kSearchThreads);
  using Scan = cub::BlockScan<std::uint32_t, kSearchThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ Bin found;
  const unsigned first = kBins - 1 - threadIdx.x * kEachBins;
  const uint4 four = __ldcg(reinterpret_cast<const uint4*>(&histogram[first - 3]));
  const std::uint32_t counts[kEachBins] = {four.w, four.z, four.y, four.x};
  const std::uint32_t sum = four.x + four.y + four.z + four.w;
  std::uint32_t above = 0;
  std::uint32_t total = 0;
  Scan(storage).ExclusiveSum(sum, above, total);
  if (threadIdx.x == 0 && total < rank) {
    found = {0, 0, 0};
  }
#pragma unroll
  for (unsigned b = 0; b < kEachBins; ++b) {
    if (above < rank && rank <= above + counts[b]) {
      found = {first - b, above, counts[b]};
    }
    above += counts[b];
  }
  __syncthreads();
  const Bin result = found;
  __syncthreads();  // before the result of the next digit is written
  return result;
}

/// Returns the smallest entry that is wanted.
template <class Source>
__device__ std::uint64_t find_cut(const Source& source,
                                  Share share,
                                  std::uint32_t k,
                                  Search& search) {
  constexpr auto digits = kDigits;
  Narrowing now;
  now.rank = k;
  now.done = k == 0 ? 1 : 0;
  for (unsigned n = 0; n < digits.size() && now.done == 0; ++n) {
    count_digit(source, share, digits[n], now.prefix, search.histograms[n]);
    cooperative_groups::this_grid().sync();
    const Bin bin = bin_of_rank(now.rank, search.histograms[n]);
    now =
        bin.within == 0 ? satisfied(now) : narrowed(now, digits[n], bin.bin, bin.above, bin.within);
  }
  return now.cut;
}

/// Returns how many entries are kept before this warp's share, of which the warp keeps `mine`.
/// Blocks synchronise here.
__device__ inline std::uint32_t kept_before(std::uint32_t mine, Search& search, Told* told) {
  const WarpSums here = sums_of_warps(mine);
  if (threadIdx.x == 0) {
    search.kept[blockIdx.x] = here.all;
  }
  cooperative_groups::this_grid().sync();
  std::uint32_t before = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += kSearchThreads) {
    before += __ldcg(&search.kept[b]);
  }
  before = sums_of_warps(warp_sum(before)).all;
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) {
    told->kept = before + here.all;
  }
  return before + here.before;
}

/// Selects the first k entries of the source, or as many as there are.
template <class Source>
__device__ void select_from(const Source& source,
                            Share share,
                            Search& search,
                            const Selected& selected) {
  const std::uint64_t cut = find_cut(source, share, selected.k, search);
  std::uint32_t mine = 0;
  for_each_entry(source, share, [&](std::uint64_t entry) { mine += entry >= cut; });
  std::uint32_t at = kept_before(warp_sum(mine), search, selected.told);
  const unsigned below = (1U << (threadIdx.x % kWarp)) - 1U;
  for_each_entry(source, share, [&](std::uint64_t entry) {
    const unsigned wanting = __ballot_sync(kWholeWarp, entry >= cut);
    const std::uint32_t to = at + __popc(wanting & below);
    if (entry >= cut && to < selected.k) {
      selected.indices[to] = index_of(entry);
      selected.values[to] = value_of(entry);
    }
    at += __popc(wanting);
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    selected.told->cut = static_cast<std::uint32_t>(cut >> 33U);
  }
}

/// Adds up the sums of tiles: one warp per group of tiles, in an order that is the same for any
/// number of blocks. The last warps do so, because they have the least to select.
__device__ inline void add_tiles(const Passed& passed) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warps = gridDim.x * kSearchWarps;
  const unsigned groups = (passed.tiles + kGroup - 1) / kGroup;
  const unsigned warp = blockIdx.x * kSearchWarps + threadIdx.x / kWarp;
  for (unsigned g = warps - 1 - warp; g < groups; g += warps) {
    const unsigned end = min(passed.tiles, (g + 1) * kGroup);
    Sums sums{};
#pragma unroll
    for (unsigned n = 0; n < kGroup; n += kWarp) {
      const unsigned tile = g * kGroup + n + lane;
      add(sums, tile < end ? passed.tile_sums[tile] : Sums{});
    }
    sums = warp_sums(sums);
    if (lane == 0) {
      passed.group_sums[g] = sums;
    }
  }
}

/// Adds up the sums of the groups, in one warp.
__device__ inline void add_groups(const Passed& passed, Told* told) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned groups = (passed.tiles + kGroup - 1) / kGroup;
  Sums sums{};
  for (unsigned g = lane; g < groups; g += kWarp) {
    // Other blocks of this kernel wrote the sums, so the loads bypass the cache of this
    // multiprocessor.
    const double* of = passed.group_sums[g].of;
    add(sums, {__ldcg(of), __ldcg(of + 1), __ldcg(of + 2)});
  }
  sums = warp_sums(sums);
  if (lane == 0) {
    told->norms = sums;
    told->noted = *passed.noted;
    *passed.noted = 0;
  }
}

__device__ inline void clear_histograms(Search& search) {
  std::uint32_t* counts = &search.histograms[0][0];
  const unsigned thread = blockIdx.x * kSearchThreads + threadIdx.x;
  for (unsigned b = thread; b < kDigits.size() * kBins; b += gridDim.x * kSearchThreads) {
    counts[b] = 0;
  }
}

/// Computes the norms and selects the first k entries, or as many as there are, by index. It takes
/// dynamic shared memory for `room` entries.
template <class Source>
__global__ void __launch_bounds__(kSearchThreads) select_kernel(
    Source source, Passed passed, Search* search, Selected selected, std::uint32_t room) {
  extern __shared__ std::uint64_t entries[];
  const Share share = share_of_warp(passed.tiles);
  const unsigned warp = threadIdx.x / kWarp;
  add_tiles(passed);
  Staged staged{};
  if (stage(source, share, {entries, room}, staged)) {
    select_from(staged, {warp, warp + 1}, *search, selected);
  } else {
    select_from(source, share, *search, selected);
  }
  // Blocks have synchronised since, so all have added their tiles and read the histograms.
  clear_histograms(*search);
  if (blockIdx.x == gridDim.x - 1 && warp == kSearchWarps - 1) {
    add_groups(passed, selected.told);
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
