#include "assumptions/estimators/estimate_recursion.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residuum {

EstimateRecursion::EstimateRecursion() = default;

/// The grid of A falls from 1 to 1e-4 in equal ratios, 3.7 % apart.
double EstimateRecursion::a(std::size_t i) {
  constexpr double kLeast = 1e-4;
  return std::pow(kLeast, static_cast<double>(i) / static_cast<double>(kGrid - 1));
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a time, and two norms in their order
void EstimateRecursion::look(std::uint64_t iteration, double distortion, double change_sq) {
  if (has_before_ && iteration == before_ + 1) {
    for (std::size_t i = 0; i < kGrid; ++i) {
      const double excess = distortion - (1 - a(i)) * distortion_;
      if (excess > 0) {
        least_b_[i] = std::max(least_b_[i], excess / change_sq);  // infinite where nothing changed
      } else if (std::isnan(excess)) {
        least_b_[i] = std::numeric_limits<double>::infinity();
      }
    }
    ++compared_;
  }
  has_before_ = true;
  before_ = iteration;
  distortion_ = distortion;
}

void EstimateRecursion::merge(const EstimateRecursion& other) {
  for (std::size_t i = 0; i < kGrid; ++i) {
    least_b_[i] = std::max(least_b_[i], other.least_b_[i]);
  }
  compared_ += other.compared_;
}

std::vector<EstimateRecursion::Pair> EstimateRecursion::pairs() const {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; compared_ > 0 && i < kGrid; ++i) {
    if (std::isfinite(least_b_[i])) {
      pairs.push_back({.a = a(i), .b = least_b_[i]});
    }
  }
  return pairs;
}

}  // namespace residuum
