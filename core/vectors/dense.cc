#include "core/vectors/dense.h"

#include <cassert>
#include <cmath>
#include <memory>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/vectors/kernels.h"

namespace residuum {

template <class Real>
double norm_sq(std::span<const Real> x) {
  kernels::Lanes lanes;
  kernels::best_dense<Real>().add_squares(x.data(), x.size(), lanes);
  return lanes.total();
}

template <class Real>
Real norm_inf(std::span<const Real> x) {
  return kernels::best_dense<Real>().norm_inf(x.data(), x.size());
}

template <class Real>
MagnitudeSums magnitude_sums(std::span<const Real> x) {
  kernels::MagnitudeLanes lanes;
  kernels::best_dense<Real>().add_magnitudes(x.data(), x.size(), lanes);
  return {.nonzero = static_cast<std::size_t>(lanes.nonzero.total()),
          .signed_sum = lanes.signed_sum.total(),
          .sum = lanes.sum.total(),
          .sum_sq = lanes.sum_sq.total()};
}

double distance_sq(std::span<const double> x, std::span<const double> y, double scale) {
  assert(x.size() == y.size());
  kernels::Lanes lanes;
  kernels::best_of_doubles().add_distance(x.data(), y.data(), x.size(), scale, lanes);
  return lanes.total();
}

VirtualStep step_virtual(std::span<const double> w,
                         std::span<double> z,
                         std::span<const double> direction,
                         double scale) {
  assert(w.size() == z.size() && w.size() == direction.size());
  kernels::VirtualStepLanes lanes;
  kernels::best_of_doubles().step_virtual(
      w.data(), z.data(), direction.data(), w.size(), scale, lanes);
  return {.before_sq = lanes.before.total(),
          .step_sq = lanes.step.total(),
          .after_sq = lanes.after.total()};
}

template <class Real>
void add_to(std::span<double> sum, std::span<const Real> addend) {
  assert(sum.size() == addend.size());
  kernels::best_dense<Real>().add_to(sum.data(), addend.data(), sum.size());
}

template <class Real>
MagnitudeMoments magnitude_moments(std::span<const Real> x, bool with_logarithms) {
  const MagnitudeSums sums = magnitude_sums(x);
  MagnitudeMoments moments{.entries = x.size(),
                           .nonzero = sums.nonzero,
                           .signed_sum = sums.signed_sum,
                           .sum = sums.sum,
                           .sum_sq = sums.sum_sq};
  if (!with_logarithms) {
    return moments;
  }
  for (const Real value : x) {
    if (value != 0) {
      moments.sum_log += std::log(std::abs(static_cast<double>(value)));
    }
  }
  return moments;
}

template <class Real>
MagnitudeMoments excess_moments(std::span<const Real> x, double threshold, bool with_logarithms) {
  MagnitudeMoments moments;
  for (const Real value : x) {
    const double excess = std::abs(static_cast<double>(value)) - threshold;
    if (excess > 0) {
      ++moments.entries;
      moments.sum += excess;
      moments.sum_sq += excess * excess;
      moments.sum_log += with_logarithms ? std::log(excess) : 0;
    }
  }
  moments.nonzero = moments.entries;
  moments.signed_sum = moments.sum;
  return moments;
}

template double norm_sq<float>(std::span<const float>);
template double norm_sq<double>(std::span<const double>);
template float norm_inf<float>(std::span<const float>);
template double norm_inf<double>(std::span<const double>);
template MagnitudeMoments magnitude_moments<float>(std::span<const float>, bool);
template MagnitudeMoments magnitude_moments<double>(std::span<const double>, bool);
template MagnitudeMoments excess_moments<float>(std::span<const float>, double, bool);
template MagnitudeMoments excess_moments<double>(std::span<const double>, double, bool);
template MagnitudeSums magnitude_sums<float>(std::span<const float>);
template MagnitudeSums magnitude_sums<double>(std::span<const double>);
template void add_to<float>(std::span<double>, std::span<const float>);
template void add_to<double>(std::span<double>, std::span<const double>);

void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  if (bytes < 2 * kHugePage) {
    return;
  }
  // Only huge pages that lie wholly in the memory are asked for: the others are shared with other
  // data.
  std::size_t room = bytes;
  void* begin = std::align(kHugePage, kHugePage, memory, room);
  if (begin != nullptr) {
    madvise(begin, room - room % kHugePage, MADV_HUGEPAGE);
  }
#endif
}

}  // namespace residuum
