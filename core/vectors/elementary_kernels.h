#pragma once
// Elementary kernels are exponentials and logarithms of arrays. C libraries choose their own by the
// processor, and differ in the last digit. These have the same bits everywhere, in vectors of any
// width. Within the ranges below they are off by less than 1.5 units in the last place.

#include <cstddef>

namespace residuum {

struct ElementaryKernels {
  /// x := exp(x) for x <= 0, minus infinity included.
  void (*exp)(double* x, std::size_t size);
  /// x := log(1 + x) for 0 <= x <= 1.
  void (*log_one_plus)(double* x, std::size_t size);
  /// x := log(x) for x >= 1 and finite.
  void (*log)(double* x, std::size_t size);
};

/// Returns the kernels in the widest SIMD of the machine. What is not a number stays so.
const ElementaryKernels& elementary_kernels();

}  // namespace residuum
