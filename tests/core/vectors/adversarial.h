#pragma once
// Numbers that a selection could take for one another: ties, signs, zeros of both kinds, denormals,
// neighbours in the last bit, powers of two, the ends of the range.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/random/random.h"
#include "core/vectors/sparse_vector.h"

namespace residuum::test {

template <class Real>
Real adversarial(RandomStream& random) {
  using Limits = std::numeric_limits<Real>;
  const Real sign = random.below(2) == 0 ? Real{1} : Real{-1};
  switch (random.below(8)) {
    case 0:
      return sign * Real{0};
    case 1:
      return sign * Limits::denorm_min() * static_cast<Real>(random.below(3));
    case 2:
      return sign * Limits::max();
    case 3:
      return sign * Limits::min();
    case 4:
      return sign * std::nextafter(Real{1}, static_cast<Real>(random.below(3)));
    case 5:
      return sign * static_cast<Real>(random.below(4));
    case 6:
      return sign * std::ldexp(Real{1}, static_cast<int>(random.below(200)) - 100);
    default:
      return static_cast<Real>(random.normal());
  }
}

template <class Real>
std::vector<Real> adversarial_vector(std::size_t size, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test, 0, 0);
  std::vector<Real> x(size);
  std::generate(x.begin(), x.end(), [&random] { return adversarial<Real>(random); });
  return x;
}

/// Top_k by sorting all entries by (|x| descending, index ascending).
template <class Real>
SparseVector<Real> sorted_top_k(const std::vector<Real>& x, std::size_t k) {
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&x](std::uint32_t a, std::uint32_t b) {
    return std::abs(x[a]) > std::abs(x[b]);
  });
  order.resize(std::min(k, x.size()));
  std::sort(order.begin(), order.end());
  SparseVector<Real> selected;
  for (const std::uint32_t i : order) {
    if (x[i] != 0) {
      selected.push_back(i, x[i]);
    }
  }
  return selected;
}

}  // namespace residuum::test
