#pragma once
// These kernels do the passes over sparse vectors of merge.h, in the widest SIMD of
// the machine at hand (Google Highway). They only move and compare, so that every target gives the
// same bits.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace residuum::list_kernels {

/// Holds the bits of |x|, which are ordered, as integers, as |x| is.
template <class Real>
using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

template <class Real>
Bits<Real> magnitude(Real value) {
  return std::bit_cast<Bits<Real>>(value) & (std::numeric_limits<Bits<Real>>::max() >> 1);
}

/// A kernel may write this many entries beyond the last.
inline constexpr std::size_t kSlack = 16;

/// A source is where entries are read from, a target where they are written to.
template <class Real>
struct Source {
  const std::uint32_t* indices = nullptr;
  const Real* values = nullptr;
  std::size_t size = 0;
};
template <class Real>
struct Target {
  std::uint32_t* indices = nullptr;
  Real* values = nullptr;
};

/// Marks are one bit for each coordinate of a range that begins at `first`.
template <class Real>
struct Marks {
  const Bits<Real>* words = nullptr;
  std::uint32_t first = 0;
};

/// The kernels for values of type Real.
template <class Real>
struct Kernels {
  /// Moves the magnitudes m with 0 <= m - first < width to the front; returns how many there are.
  std::size_t (*keep_within)(Bits<Real>* magnitudes,
                             std::size_t size,
                             Bits<Real> first,
                             Bits<Real> width);
  /// Writes entries of at least this magnitude to `reaching`, the others to `below`; returns how
  /// many reach it.
  std::size_t (*divide)(const Source<Real>& from,
                        Bits<Real> bound,
                        const Target<Real>& reaching,
                        const Target<Real>& below);
  /// Writes the entries whose index is marked to `marked`; returns how many there are.
  std::size_t (*keep_marked)(const Source<Real>& from,
                             const Marks<Real>& marks,
                             const Target<Real>& marked);
};

/// Returns the kernels of the machine at hand. Real is float or double.
template <class Real>
const Kernels<Real>& best();

}  // namespace residuum::list_kernels
