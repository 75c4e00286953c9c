#include "core/vectors/dense.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace residuum {
namespace {

constexpr std::size_t kLanes = 8;

/// The lanes added pairwise: the same order on every machine.
double total(const std::array<double, kLanes>& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

/// Sum over i of term(i), in eight interleaved lanes added pairwise at the end: the order is the
/// same on every machine.
template <class Term>
double lane_sum(std::size_t size, Term term) {
  std::array<double, kLanes> lanes{};
  const std::size_t whole = size - size % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += term(i + lane);
    }
  }
  for (std::size_t i = whole; i < size; ++i) {
    lanes[i - whole] += term(i);
  }
  return total(lanes);
}

}  // namespace

template <class Real>
double norm_sq(std::span<const Real> x) {
  return lane_sum(x.size(), [x](std::size_t i) {
    const auto value = static_cast<double>(x[i]);
    return value * value;
  });
}

template <class Real>
Real norm_inf(std::span<const Real> x) {
  Real largest = 0;
  for (const Real value : x) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

double distance_sq(std::span<const double> x, std::span<const double> y, double scale) {
  assert(x.size() == y.size());
  return lane_sum(x.size(), [x, y, scale](std::size_t i) {
    const double difference = x[i] - scale * y[i];
    return difference * difference;
  });
}

VirtualStep step_virtual(std::span<const double> w,
                         std::span<double> z,
                         std::span<const double> direction,
                         double scale) {
  assert(w.size() == z.size() && w.size() == direction.size());
  std::array<double, kLanes> before{};
  std::array<double, kLanes> moved{};
  std::array<double, kLanes> after{};
  const auto pass = [&](std::size_t i, std::size_t lane) {
    const double gap = w[i] - z[i];
    const double step = scale * direction[i];
    z[i] -= step;
    const double gap_after = w[i] - z[i];
    before[lane] += gap * gap;
    moved[lane] += step * step;
    after[lane] += gap_after * gap_after;
  };
  const std::size_t whole = w.size() - w.size() % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      pass(i + lane, lane);
    }
  }
  for (std::size_t i = whole; i < w.size(); ++i) {
    pass(i, i - whole);
  }
  return {.before_sq = total(before), .step_sq = total(moved), .after_sq = total(after)};
}

template <class Real>
void add_to(std::span<double> sum, std::span<const Real> addend) {
  assert(sum.size() == addend.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += static_cast<double>(addend[i]);
  }
}

template double norm_sq<float>(std::span<const float>);
template double norm_sq<double>(std::span<const double>);
template float norm_inf<float>(std::span<const float>);
template double norm_inf<double>(std::span<const double>);
template void add_to<float>(std::span<double>, std::span<const float>);
template void add_to<double>(std::span<double>, std::span<const double>);

}  // namespace residuum
