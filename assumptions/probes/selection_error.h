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

}  // namespace residuum
