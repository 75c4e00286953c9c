#pragma once
// What a pass over an accumulator notes for the selection that follows: where its large entries
// are. Thresholds drift slowly, so the last selection from a vector says what the next pass should
// look for, and the selection then needs no pass of its own.

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace residuum {

/// A run of coordinates that is selected from by itself: the whole vector, or one layer.
struct Segment {
  std::size_t begin = 0;
  std::size_t size = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// The entries of a segment that reach a bound.
struct Candidates {
  /// Before a pass: collect i with |x_i| >= bound, or nothing if it is 0. A selection leaves here
  /// what it expects a few more entries than it wants of the next vector to reach.
  double bound = 0;
  bool complete = false;               // `indices` has all of them; a selection takes this back
  std::vector<std::uint32_t> indices;  // from the segment's begin, increasing
  /// The entries themselves, in the precision of the vector: of a large one they have left the
  /// cache when the pass is done.
  std::tuple<std::vector<float>, std::vector<double>> entries;

  template <class Real>
  std::vector<Real>& values() {
    return std::get<std::vector<Real>>(entries);
  }
  template <class Real>
  const std::vector<Real>& values() const {
    return std::get<std::vector<Real>>(entries);
  }

  /// Adds what a chunk of x has that reaches the bound; x is the whole segment.
  template <class Real>
  void append(std::span<const std::uint32_t> hits, std::span<const Real> x) {
    indices.insert(indices.end(), hits.begin(), hits.end());
    for (const std::uint32_t hit : hits) {
      values<Real>().push_back(x[hit]);
    }
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

/// A pass gives up on collecting beyond this: of so many a selection is as well off with a pass of
/// its own.
constexpr std::size_t most_candidates(std::size_t size) { return size / 4 + 64; }

}  // namespace residuum
