#pragma once
// The passes of the library as loops over one entry after the other: the oracle of the kernels.
// Sums follow the promise of core/vectors/dense.h: eight lanes by position, added pairwise.

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/vectors/fused.h"

namespace residuum::test {

class EightLanes {
 public:
  void add(double term) { lanes_[count_++ % lanes_.size()] += term; }
  template <class Real>
  void add_square(Real value) {
    const auto x = static_cast<double>(value);
    add(x * x);
  }
  double total() const {
    const auto& s = lanes_;
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
  }

 private:
  std::array<double, 8> lanes_{};
  std::size_t count_ = 0;
};

template <class Real>
double plain_norm_sq(std::span<const Real> x) {
  EightLanes sum;
  for (const Real value : x) {
    sum.add_square(value);
  }
  return sum.total();
}

template <class Real>
std::vector<std::uint32_t> plain_collect(std::span<const Real> x, Real bound) {
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) >= bound) {
      indices.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return indices;
}

/// The results of a pass: the new memory, its norms, and the indices that reached the bound.
template <class Real>
struct PlainPass {
  std::vector<Real> memory;
  PassNorms norms;
  std::vector<std::vector<std::uint32_t>> reached;  // of every segment
};

/// memory_i := form(memory_i, gradient_i, i), looked through with one bound for all segments.
template <class Real, class Form>
PlainPass<Real> plain_pass(const std::vector<Real>& memory,
                           const std::vector<Real>& gradient,
                           const std::vector<Segment>& segments,
                           Real bound,
                           Form form) {
  PlainPass<Real> result{.memory = memory, .norms = {}, .reached = {}};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    result.memory[i] = form(memory[i], gradient[i], i);
  }
  for (const Segment& segment : segments) {
    const auto part = [&](const std::vector<Real>& x) {
      return std::span<const Real>(x).subspan(segment.begin, segment.size);
    };
    result.norms.residual_sq += plain_norm_sq(part(memory));
    result.norms.gradient_sq += plain_norm_sq(part(gradient));
    result.norms.accumulator_sq += plain_norm_sq(part(result.memory));
    result.reached.push_back(plain_collect(part(result.memory), bound));
  }
  return result;
}

}  // namespace residuum::test
