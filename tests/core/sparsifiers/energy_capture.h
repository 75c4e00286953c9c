#pragma once
// The share of a vector's energy that its k largest entries hold, cap(x; k) = |Top_k x|^2 / |x|^2.

#include <cstdint>
#include <functional>
#include <vector>

#include "core/random/random.h"
#include "core/vectors/dense.h"
#include "core/vectors/select.h"

namespace residuum::test {

using Law = std::function<double(RandomStream&)>;

inline std::vector<double> draw_vector(const Law& law, std::size_t d, std::uint32_t number) {
  RandomStream random(17, Purpose::test, 0, number);
  std::vector<double> x(d);
  for (double& value : x) {
    value = law(random);
  }
  return x;
}

inline double top_energy(const std::vector<double>& x, std::size_t k) {
  SelectWorkspace workspace;
  SparseVector<double> selected;
  select_top_k<double>(x, k, workspace, selected);
  return norm_sq<double>(selected.values);
}

}  // namespace residuum::test
