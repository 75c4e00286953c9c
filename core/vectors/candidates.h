#pragma once
// A pass over an accumulator notes candidates, its large entries, for the selection that follows.
// Thresholds drift slowly, so the last selection from a vector sets the bound for the next pass,
// and the next selection needs no pass of its own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace residuum {

/// A segment is a range of coordinates that is selected from separately: the whole vector, or one
/// layer.
struct Segment {
  std::size_t begin = 0;
  std::size_t size = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// A bound is what entries must reach that a pass collects; 0 collects none.
struct CandidateBound {
  double bound = 0;
  /// How many entries of the vector that the bound was taken from reach it; 0 where that is not
  /// known.
  std::size_t rank = 0;
};

/// Candidates are the entries of a segment that reach a bound: every i with |x_i| >= bound. A
/// selection sets the bound for the next vector; slightly more than k entries should reach it.
struct Candidates : CandidateBound {
  /// The threshold that a sparsifier reuses; 0 before the first, and where none is reused.
  double reused_threshold = 0;
  bool complete = false;               // `indices` has all of them; reset by each selection
  std::vector<std::uint32_t> indices;  // from the segment's begin, increasing
  /// The values of the candidates, in the precision of the vector. They are copied because a large
  /// vector has left the cache when the pass is done.
  std::tuple<std::vector<float>, std::vector<double>> entries;

  template <class Real>
  std::vector<Real>& values() {
    return std::get<std::vector<Real>>(entries);
  }
  template <class Real>
  const std::vector<Real>& values() const {
    return std::get<std::vector<Real>>(entries);
  }

  /// Adds the hits of one chunk, as indices into x, the whole segment.
  template <class Real>
  void append(std::span<const std::uint32_t> hits, std::span<const Real> x) {
    indices.insert(indices.end(), hits.begin(), hits.end());
    auto& kept = values<Real>();
    const std::size_t before = kept.size();
    kept.resize(before + hits.size());
    std::transform(hits.begin(),
                   hits.end(),
                   kept.begin() + static_cast<std::ptrdiff_t>(before),
                   [x](std::uint32_t hit) { return x[hit]; });
  }
  template <class Real>
  void reserve(std::size_t room) {
    indices.reserve(room);
    values<Real>().reserve(room);
  }
  template <class Real>
  void clear() {
    indices.clear();
    values<Real>().clear();
  }
};

/// A pass stops collecting beyond this number: with as many candidates, a separate pass of the
/// selection is as fast.
constexpr std::size_t most_candidates(std::size_t size) { return size / 4 + 64; }

}  // namespace residuum
