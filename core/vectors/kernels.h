#pragma once
// The passes over memory under dense.h, fused.h and select.h, in the widest SIMD of the machine at
// hand (Google Highway; one program holds them all and asks the processor). Sums are float64 in
// eight lanes, a lane to each position modulo 8, whatever the width of a vector: every target adds
// the same numbers in the same order, so the bits are the same everywhere.

#include <array>
#include <cstddef>
#include <cstdint>

namespace residuum::kernels {

inline constexpr std::size_t kLanes = 8;

/// Eight sums that go on from call to call; calls but the last take whole groups of eight.
struct Lanes {
  std::array<double, kLanes> sums{};

  /// The lanes added pairwise: the same order on every machine.
  double total() const {
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
           ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }
};

/// A kernel may write this many hits beyond the last.
inline constexpr std::size_t kHitsSlack = 16;

/// What to look for on the way, and where to note it: hits has room for an index of every entry and
/// kHitsSlack more.
template <class Real>
struct Watch {
  Real bound = 0;
  std::uint32_t first = 0;  // index of the first entry
  std::uint32_t* hits = nullptr;
};

/// Sums of squares of what a pass reads and writes.
struct PassLanes {
  Lanes residual;
  Lanes gradient;
  Lanes accumulator;
};

/// Sums over entries and their magnitudes.
struct MagnitudeLanes {
  Lanes nonzero;
  Lanes signed_sum;
  Lanes sum;
  Lanes sum_sq;
};

struct VirtualStepLanes {
  Lanes before;
  Lanes step;
  Lanes after;
};

/// For vectors of Real. Passes that look return the end of the hits.
template <class Real>
struct Kernels {
  /// memory := memory + scale * gradient, rounded after each operation.
  std::uint32_t* (*accumulate)(Real* memory,
                               const Real* gradient,
                               std::size_t size,
                               Real scale,
                               const Watch<Real>& watch,
                               PassLanes& lanes);
  /// memory := gradient - estimate.
  std::uint32_t* (*subtract)(Real* memory,
                             const Real* gradient,
                             std::size_t size,
                             const Real* estimate,
                             const Watch<Real>& watch,
                             PassLanes& lanes);
  std::uint32_t* (*collect)(const Real* x, std::size_t size, const Watch<Real>& watch);
  std::size_t (*count)(const Real* x, std::size_t size, Real bound);
  void (*add_squares)(const Real* x, std::size_t size, Lanes& lanes);
  void (*add_magnitudes)(const Real* x, std::size_t size, MagnitudeLanes& lanes);
  Real (*norm_inf)(const Real* x, std::size_t size);
  void (*add_to)(double* sum, const Real* addend, std::size_t size);
};

/// For the float64 vectors that probes keep.
struct DoubleKernels {
  void (*add_distance)(
      const double* x, const double* y, std::size_t size, double scale, Lanes& lanes);
  void (*step_virtual)(const double* w,
                       double* z,
                       const double* direction,
                       std::size_t size,
                       double scale,
                       VirtualStepLanes& lanes);
};

/// Those of the machine at hand. Real is float or double.
template <class Real>
const Kernels<Real>& best();
const DoubleKernels& best_of_doubles();

/// What Highway calls the target in use: "AVX3", "AVX2", "NEON".
const char* target_name();

}  // namespace residuum::kernels
