#pragma once
// The selection error tells how far the applied update is from the mean of the accumulators, on a
// part of the model.

#include <cstddef>

#include "core/measurement/step_view.h"

namespace residuum {

/// Squared error of g/P against the mean accumulator, on and off the support of g.
struct SelectionError {
  double inside = 0;
  double outside = 0;
};

/// Computes the error over the entries begin .. begin + size - 1.
SelectionError selection_error(const StepView& view, std::size_t begin, std::size_t size);

/// Returns a part of the error over what a random selection would lose, both of them squares: 0
/// where neither loses anything, infinite where a random selection loses nothing.
double over_random(double lost, double random);

/// Returns the square of what rounding may leave of a sum of the accumulators that is 0 without
/// it: (P u)^2 times the mean of |a^p|^2, u being the unit roundoff.
double rounding_of_sum_sq(const StepView& view);

}  // namespace residuum
