#pragma once
// The selection on the device reads entries from a source: the notes of the pass, a whole vector,
// or what was copied to shared memory. Warps share its tiles, by index.

#include <cstddef>
#include <cstdint>

#include "core/vectors/cuda/narrowing.h"
#include "core/vectors/cuda/tiles.cuh"

namespace residuum::cuda {

inline constexpr unsigned kSearchThreads = 512;  // per block: few blocks synchronise sooner
inline constexpr unsigned kSearchWarps = kSearchThreads / kWarp;

/// A range is some entries of a source, by index.
struct Range {
  std::size_t begin;
  std::uint32_t size;
};

/// This source is the entries that a pass has noted, tile by tile.
struct Noted {
  static constexpr unsigned kLoads = 4;  // in flight at once
  const std::uint64_t* entries;
  const Run* runs;
  std::uint32_t capacity;

  __device__ Range tile(unsigned t) const {
    const Run run = runs[t];
    const std::uint32_t room = run.begin < capacity ? capacity - run.begin : 0;
    return {run.begin, run.size < room ? run.size : room};
  }
  __device__ std::uint64_t operator[](std::size_t i) const { return entries[i]; }
};

/// This source is all coordinates of a vector.
struct Everything {
  static constexpr unsigned kLoads = 8;
  const float* values;
  std::size_t length;

  __device__ Range tile(unsigned t) const {
    const std::size_t begin = std::size_t{t} * kTile;
    return {begin, static_cast<std::uint32_t>(length - begin < kTile ? length - begin : kTile)};
  }
  __device__ std::uint64_t operator[](std::size_t i) const {
    return entry_of(values[i], static_cast<std::uint32_t>(i));
  }
};

/// Room is a block's shared memory for entries.
struct Room {
  std::uint64_t* entries;
  std::uint32_t size;
};

/// Staged entries have been copied to shared memory, where reading them again is cheap.
struct Staged {
  static constexpr unsigned kLoads = 4;
  const std::uint64_t* entries;
  std::uint32_t size;

  /// Splits the entries into as many tiles as there are warps.
  __device__ Range tile(unsigned t) const {
    const std::uint32_t each = (size + kSearchWarps - 1) / kSearchWarps;
    const std::uint32_t begin = min(size, t * each);
    return {begin, min(each, size - begin)};
  }
  __device__ std::uint64_t operator[](std::size_t i) const { return entries[i]; }
};

inline constexpr unsigned kMostBlocks = 1024;  // most blocks of a selection
inline constexpr unsigned kGroup = 256;        // tiles whose sums are added first

/// Told is what a step reports to the host besides the selection.
struct Told {
  Sums norms;
  std::uint32_t noted;
  std::uint32_t kept;
  std::uint32_t cut;  // bits of a magnitude that no kept entry is below
};

/// Holds what the pass has left: the sums of its tiles, room for the sums of groups of tiles, and
/// the number of notes, which the selection resets to 0.
struct Passed {
  const Sums* tile_sums;
  Sums* group_sums;
  std::uint32_t* noted;
  unsigned tiles;
};

using Histogram = std::uint32_t[kBins];

/// Names the bin of the wanted entry, how many entries are in larger bins, and how many in this
/// one.
struct Bin {
  unsigned bin;
  std::uint32_t above;
  std::uint32_t within;  // 0: there are fewer entries than are wanted
};

/// Holds what a search needs on the device. All counts are 0 between kernels.
struct Search {
  alignas(uint4) Histogram histograms[kDigits.size()];
  std::uint32_t kept[kMostBlocks];  // by each block
};

/// The selection is written here; there is room for k entries.
struct Selected {
  std::uint32_t* indices;
  float* values;
  Told* told;
  std::uint32_t k;
};

/// A share is the tiles of one warp; consecutive warps have consecutive shares.
struct Share {
  unsigned begin;
  unsigned end;
};

__device__ inline Share share_of_warp(unsigned tiles) {
  const unsigned warps = gridDim.x * kSearchWarps;
  const unsigned each = (tiles + warps - 1) / warps;
  const unsigned begin = min(tiles, (blockIdx.x * kSearchWarps + threadIdx.x / kWarp) * each);
  return {begin, min(tiles, begin + each)};
}

/// Calls act(entry) on the warp's share, by index, with all lanes together; beyond the end of a
/// tile the entry is 0.
template <class Source, class Act>
__device__ void for_each_entry(const Source& source, Share share, Act act) {
  constexpr unsigned kLoads = Source::kLoads;
  for (unsigned t = share.begin; t < share.end; ++t) {
    const Range range = source.tile(t);
    for (std::uint32_t start = 0; start < range.size; start += kLoads * kWarp) {
      std::uint64_t entries[kLoads];
#pragma unroll
      for (unsigned n = 0; n < kLoads; ++n) {
        const std::uint32_t i = start + n * kWarp + threadIdx.x % kWarp;
        entries[n] = i < range.size ? source[range.begin + i] : 0;
      }
#pragma unroll
      for (unsigned n = 0; n < kLoads; ++n) {
        act(entries[n]);
      }
    }
  }
}

/// Returns the sum over the lanes of the warp, in all of them.
__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kWholeWarp, value, offset);
  }
  return value;
}

/// WarpSums are sums over the warps of the block.
struct WarpSums {
  std::uint32_t before;  // over the warps before this one
  std::uint32_t all;
};

__device__ inline WarpSums sums_of_warps(std::uint32_t of_this_warp) {
  __shared__ std::uint32_t of_warp[kSearchWarps];
  __syncthreads();  // until the values of an earlier call have been read
  if (threadIdx.x % kWarp == 0) {
    of_warp[threadIdx.x / kWarp] = of_this_warp;
  }
  __syncthreads();
  WarpSums sums{};
  for (unsigned w = 0; w < kSearchWarps; ++w) {
    sums.before += w < threadIdx.x / kWarp ? of_warp[w] : 0;
    sums.all += of_warp[w];
  }
  return sums;
}

/// Copies the warp's entries to `to`. Most tiles have few entries, so the loads of several tiles
/// are in flight at once.
template <class Source>
__device__ void copy_share(const Source& source, Share share, std::uint64_t* to) {
  constexpr unsigned kTiles = 8;
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned t = share.begin; t < share.end; t += kTiles) {
    Range ranges[kTiles];
    std::uint64_t first[kTiles];
#pragma unroll
    for (unsigned n = 0; n < kTiles; ++n) {
      ranges[n] = t + n < share.end ? source.tile(t + n) : Range{0, 0};
    }
#pragma unroll
    for (unsigned n = 0; n < kTiles; ++n) {
      first[n] = lane < ranges[n].size ? source[ranges[n].begin + lane] : 0;
    }
#pragma unroll
    for (unsigned n = 0; n < kTiles; ++n) {
      if (lane < ranges[n].size) {
        to[lane] = first[n];
      }
      for (std::uint32_t i = lane + kWarp; i < ranges[n].size; i += kWarp) {
        to[i] = source[ranges[n].begin + i];
      }
      to += ranges[n].size;
    }
  }
}

/// Copies the block's entries into `room`; false if they do not fit.
template <class Source>
__device__ bool stage(const Source& source, Share share, Room room, Staged& staged) {
  std::uint32_t mine = 0;
  for (unsigned t = share.begin + threadIdx.x % kWarp; t < share.end; t += kWarp) {
    mine += source.tile(t).size;
  }
  const WarpSums sums = sums_of_warps(warp_sum(mine));
  if (sums.all > room.size) {
    return false;
  }
  copy_share(source, share, room.entries + sums.before);
  __syncthreads();
  staged = {room.entries, sums.all};
  return true;
}

}  // namespace residuum::cuda
