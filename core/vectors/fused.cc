#include "core/vectors/fused.h"

#include <cassert>
#include <cmath>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

template <class Real>
void collect(std::span<const Real> x, Candidates& candidates) {
  candidates.indices.clear();
  candidates.complete = candidates.bound > 0;
  if (!candidates.complete) {
    return;
  }
  const auto bound = static_cast<Real>(candidates.bound);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) >= bound) {
      candidates.indices.push_back(static_cast<std::uint32_t>(i));
    }
  }
}

/// Segment by segment: norms before, form(i), norms after, candidates.
template <class Real, class Form>
PassNorms pass_over(std::span<Real> memory,
                    std::span<const Real> gradient,
                    const Pass& pass,
                    Form form) {
  assert(memory.size() == gradient.size());
  assert(pass.segments.size() == pass.candidates.size());
  PassNorms norms;
  for (std::size_t s = 0; s < pass.segments.size(); ++s) {
    const auto [begin, size] = pass.segments[s];
    const std::span<const Real> segment = memory.subspan(begin, size);
    norms.residual_sq += norm_sq<Real>(segment);
    norms.gradient_sq += norm_sq<Real>(gradient.subspan(begin, size));
    for (std::size_t i = begin; i < begin + size; ++i) {
      memory[i] = form(i);
    }
    norms.accumulator_sq += norm_sq<Real>(segment);
    collect(segment, pass.candidates[s]);
  }
  return norms;
}

}  // namespace

template <class Real>
PassNorms accumulate(std::span<Real> memory,
                     std::span<const Real> gradient,
                     Real scale,
                     const Pass& pass) {
  return pass_over(
      memory, gradient, pass, [&](std::size_t i) { return memory[i] + scale * gradient[i]; });
}

template <class Real>
PassNorms subtract(std::span<Real> memory,
                   std::span<const Real> gradient,
                   std::span<const Real> estimate,
                   const Pass& pass) {
  assert(memory.size() == estimate.size());
  return pass_over(
      memory, gradient, pass, [&](std::size_t i) { return gradient[i] - estimate[i]; });
}

template <class Real>
double norm_sq(std::span<const Real> x, std::span<const Segment> segments) {
  double sum = 0;
  for (const auto [begin, size] : segments) {
    sum += norm_sq<Real>(x.subspan(begin, size));
  }
  return sum;
}

template PassNorms accumulate<float>(std::span<float>, std::span<const float>, float, const Pass&);
template PassNorms accumulate<double>(std::span<double>,
                                      std::span<const double>,
                                      double,
                                      const Pass&);
template PassNorms subtract<float>(std::span<float>,
                                   std::span<const float>,
                                   std::span<const float>,
                                   const Pass&);
template PassNorms subtract<double>(std::span<double>,
                                    std::span<const double>,
                                    std::span<const double>,
                                    const Pass&);
template double norm_sq<float>(std::span<const float>, std::span<const Segment>);
template double norm_sq<double>(std::span<const double>, std::span<const Segment>);

}  // namespace residuum
