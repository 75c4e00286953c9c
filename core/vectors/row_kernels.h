#pragma once
// Row kernels are the two passes over dense rows x of data that linear models take: x . w, and
// sum += scale x. Additions have a fixed order and products are rounded before them, so the bits
// are the same in vectors of any width.

#include <cstddef>

namespace residuum {

template <class Real>
struct RowKernels {
  static constexpr std::size_t kTogether = 4;  ///< As many rows as `add_rows` takes.

  /// Returns x . w by sixteen sums of every sixteenth product. They are added, one after the other,
  /// to the sum of the products that are left at the end.
  Real (*dot)(const Real* x, const Real* w, std::size_t size);
  /// sum += scale x
  void (*add)(Real scale, const Real* x, std::size_t size, Real* sum);

  /// sum += scales_r x_r for kTogether rows, the first one first. The sum is read and written once.
  void (*add_rows)(const Real* scales, const Real* const* x, std::size_t size, Real* sum);
};

/// Returns the kernels in the widest SIMD of the machine.
template <class Real>
const RowKernels<Real>& row_kernels();

}  // namespace residuum
