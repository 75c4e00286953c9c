#pragma once
// The passes over sparse vectors under split.h and intersect.h, in the widest SIMD of the machine
// at hand (Google Highway). They only move and compare, so that every target gives the same bits.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace residuum::list_kernels {

/// The bits of |x|, read as a whole number, are ordered as |x| is.
template <class Real>
using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

template <class Real>
Bits<Real> magnitude(Real value) {
  return std::bit_cast<Bits<Real>>(value) & (std::numeric_limits<Bits<Real>>::max() >> 1);
}

/// A kernel may write this many entries beyond the last.
inline constexpr std::size_t kSlack = 16;

/// Where entries are read from or go to.
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

/// A bit for each of a run of coordinates that begins at `first`.
template <class Real>
struct Marks {
  const Bits<Real>* words = nullptr;
  std::uint32_t first = 0;
};

/// For values of type Real.
template <class Real>
struct Kernels {
  /// The magnitudes m with 0 <= m - first < width move to the front; how many there are.
  std::size_t (*keep_within)(Bits<Real>* magnitudes,
                             std::size_t size,
                             Bits<Real> first,
                             Bits<Real> width);
  /// Entries of at least this magnitude go to `reaching`, the others to `below`; how many reach.
  std::size_t (*divide)(const Source<Real>& from,
                        Bits<Real> bound,
                        const Target<Real>& reaching,
                        const Target<Real>& below);
  /// Entries whose index is marked go to `marked`; how many there are.
  std::size_t (*keep_marked)(const Source<Real>& from,
                             const Marks<Real>& marks,
                             const Target<Real>& marked);
};

/// Those of the machine at hand. Real is float or double.
template <class Real>
const Kernels<Real>& best();

}  // namespace residuum::list_kernels
