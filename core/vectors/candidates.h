#pragma once
// What a pass over an accumulator notes for the selection that follows: where its large entries
// are. Thresholds drift slowly, so the last selection from a vector says what the next pass should
// look for, and the selection then needs no pass of its own.

#include <cstddef>
#include <cstdint>
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
};

/// A pass gives up on collecting beyond this: of so many a selection is as well off with a pass of
/// its own.
constexpr std::size_t most_candidates(std::size_t size) { return size / 4 + 64; }

}  // namespace residuum
