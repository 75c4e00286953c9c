#pragma once
// One pass over memory forms the accumulator, computes squared norms and notes where its large
// entries are. Sums are those of dense.h, in the same eight lanes, segment by segment.

#include <span>

#include "core/vectors/candidates.h"

namespace residuum {

/// PassNorms are squared norms in float64.
struct PassNorms {
  double residual_sq = 0;     // |e|^2, of the memory before the pass
  double gradient_sq = 0;     // |G|^2
  double accumulator_sq = 0;  // |a|^2, of the memory after the pass
  // Only where an average v of the gradients takes their place: |v|^2, and the square of its
  // change.
  double average_sq = 0;
  double average_change_sq = 0;
};

/// A pass fills one set of candidates per segment. Segments follow one another and cover the
/// vector.
struct Pass {
  std::span<const Segment> segments;
  std::span<Candidates> candidates;
};

/// memory := memory + scale * gradient, rounded after each operation.
template <class Real>
PassNorms accumulate(std::span<Real> memory,
                     std::span<const Real> gradient,
                     Real scale,
                     const Pass& pass);

/// memory := gradient - estimate.
template <class Real>
PassNorms subtract(std::span<Real> memory,
                   std::span<const Real> gradient,
                   std::span<const Real> estimate,
                   const Pass& pass);

/// Returns |x|^2, summed in the order of the pass.
template <class Real>
double norm_sq(std::span<const Real> x, std::span<const Segment> segments);

}  // namespace residuum
