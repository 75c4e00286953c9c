#pragma once
// These kernels do the passes over memory of dense.h, fused.h and select.h, in the widest SIMD of
// the machine at hand (Google Highway: one program holds all targets and asks the processor). Sums
// are float64 in eight lanes, one for each position modulo 8, whatever the width of a vector: every
// target adds the same numbers in the same order, so the bits are the same everywhere.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace residuum::kernels {

inline constexpr std::size_t kLanes = 8;

/// Lanes are eight sums that continue from call to call; all calls but the last take whole groups
/// of eight.
struct Lanes {
  std::array<double, kLanes> sums{};

  /// Adds the lanes pairwise, in the same order on every machine.
  double total() const {
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
           ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }
};

/// A kernel may write this many hits beyond the last.
inline constexpr std::size_t kHitsSlack = 16;

/// A watch says which entries a pass notes, and where: `hits` has room for an index of every entry
/// and kHitsSlack more.
template <class Real>
struct Watch {
  Real bound = 0;
  std::uint32_t first = 0;  // index of the first entry
  std::uint32_t* hits = nullptr;
};

/// Sums of squares of the vectors that a pass reads and writes.
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

/// These passes compare entries with a bound; all but `count` return the end of the hits.
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
};

/// These kernels compute sums and maxima.
template <class Real>
struct DenseKernels {
  void (*add_squares)(const Real* x, std::size_t size, Lanes& lanes);
  void (*add_magnitudes)(const Real* x, std::size_t size, MagnitudeLanes& lanes);
  Real (*norm_inf)(const Real* x, std::size_t size);
  void (*add_to)(double* sum, const Real* addend, std::size_t size);
};

/// These kernels are for the float64 vectors that probes keep.
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

/// Returns the kernels of the machine at hand. Real is float or double.
template <class Real>
const Kernels<Real>& best();
template <class Real>
const DenseKernels<Real>& best_dense();
const DoubleKernels& best_of_doubles();

/// Returns Highway's name of the target in use: "AVX3", "AVX2", "NEON".
const char* target_name();

/// Returns the targets that this build holds and the processor has, the best first. Kernels use the
/// best from then on.
std::vector<std::string> target_names();

/// Makes all kernels use the target of this name, which must be one of target_names(). Both are for
/// benchmarks, and must not be called while kernels run.
void use_target(const std::string& name);

}  // namespace residuum::kernels
