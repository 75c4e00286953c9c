#include "assumptions/estimators/holm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace residuum {

std::vector<bool> holm_rejects(std::span<const double> p_values, double level) {
  const auto key = [&](std::size_t i) { return std::isnan(p_values[i]) ? 1.0 : p_values[i]; };
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<bool> rejected(p_values.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!(p_values[order[i]] <= level / static_cast<double>(order.size() - i))) {
      break;
    }
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace residuum
