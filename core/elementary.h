#pragma once
// Elementary functions: exponentials, logarithms, powers, sines and cosines. C libraries choose
// their own by the processor, and differ in the last digit. These have the same bits everywhere, in
// vectors of any width.

#include <cstddef>

namespace residuum {

/// Elementary kernels are functions of arrays, off by less than 1.5 units in the last place.
struct ElementaryKernels {
  /// x := exp(x), 0 and infinity included.
  void (*exp)(double* x, std::size_t size);
  /// x := log(1 + x) for 0 <= x <= 1.
  void (*log_one_plus)(double* x, std::size_t size);
  /// x := log(x) for finite x from the least normal number, 2^-1022.
  void (*log)(double* x, std::size_t size);
};

/// Returns the kernels in the widest SIMD of the machine. What is not a number stays so.
const ElementaryKernels& elementary_kernels();

namespace elementary {

/// Returns exp(x) and log(x), with the bits and the ranges of the kernels.
double exp(double x);
double log(double x);

/// Returns x^y for finite x >= 0 and finite y, off by less than 2 + |y log(x)| / 8 units in the
/// last place; y = 0 and 1 give 1 and x.
double power(double x, double y);

struct Turned {
  double cosine = 0;
  double sine = 0;
};

/// Returns cosine and sine of 2 pi turns for finite turns, off by less than 2 units in the last
/// place.
Turned turned(double turns);

}  // namespace elementary

}  // namespace residuum
