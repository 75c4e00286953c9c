#pragma once
// Dense kernels take sums in float64, in eight fixed lanes that are added in a fixed order. Results
// therefore do not depend on the vector width of the machine.

#include <cstddef>
#include <span>
#include <vector>

namespace residuum {

/// Returns the sum of squares.
template <class Real>
double norm_sq(std::span<const Real> x);

/// Returns the largest |x_i|; 0 for an empty vector.
template <class Real>
Real norm_inf(std::span<const Real> x);

/// Laws of magnitudes are fitted to these sums, which are taken in one pass.
struct MagnitudeSums {
  std::size_t nonzero = 0;
  double signed_sum = 0;  // of x_i
  double sum = 0;         // of |x_i|
  double sum_sq = 0;
};
template <class Real>
MagnitudeSums magnitude_sums(std::span<const Real> x);

/// Laws of magnitudes are fitted to these moments of magnitudes, or of what they exceed a threshold
/// by.
struct MagnitudeMoments {
  std::size_t entries = 0;  // all, or those above the threshold
  std::size_t nonzero = 0;
  double signed_sum = 0;
  double sum = 0;
  double sum_sq = 0;
  double sum_log = 0;  // where logarithms are wanted, because they are slow

  double mean() const { return sum / static_cast<double>(nonzero); }
  double variance() const { return sum_sq / static_cast<double>(nonzero) - mean() * mean(); }
};
template <class Real>
MagnitudeMoments magnitude_moments(std::span<const Real> x, bool with_logarithms);
/// Returns the moments of |x_i| - threshold, over the entries above the threshold.
template <class Real>
MagnitudeMoments excess_moments(std::span<const Real> x, double threshold, bool with_logarithms);

/// Returns the sum of squares of x - scale * y.
double distance_sq(std::span<const double> x, std::span<const double> y, double scale = 1);

/// Holds the squared norms that one step of the virtual iterate yields.
struct VirtualStep {
  double before_sq = 0;  // |w - z|^2
  double step_sq = 0;    // |scale * direction|^2
  double after_sq = 0;   // |w - z|^2 after z -= scale * direction
};

/// z := z - scale * direction, in one pass with the norms.
VirtualStep step_virtual(std::span<const double> w,
                         std::span<double> z,
                         std::span<const double> direction,
                         double scale);

/// sum += addend, in float64.
template <class Real>
void add_to(std::span<double> sum, std::span<const Real> addend);

// Vectors of d numbers are put on huge pages, if the system provides them on request (Linux,
// madvise). On small pages, code that touches a few distant entries, as put-back does, waits for
// page tables.

/// Asks for huge pages for the memory; if there are none, nothing happens.
void ask_for_huge_pages(void* memory, std::size_t bytes);

/// Returns `size` zeros.
template <class Real>
std::vector<Real> large_vector(std::size_t size) {
  std::vector<Real> vector;
  vector.reserve(size);
  ask_for_huge_pages(vector.data(), size * sizeof(Real));  // before the first touch
  vector.resize(size);
  return vector;
}

}  // namespace residuum
