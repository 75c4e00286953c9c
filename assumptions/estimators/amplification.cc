#include "assumptions/estimators/amplification.h"

#include <cmath>
#include <limits>

namespace residuum {

double amplification(double contraction) {
  if (contraction >= 1) {
    return std::numeric_limits<double>::infinity();
  }
  const double rest = 1 - std::sqrt(contraction);
  return contraction / (rest * rest);
}

double amplification_ceiling(double compression) { return 4 * compression * (compression - 1); }

double ijcai_amplification(double compression) {
  return compression * compression * compression - compression;
}

void GapRecursion::step(double contraction, double step_size) {
  bound_ = std::sqrt(contraction) * (bound_ + step_size);
  factor_ = bound_ / step_size;
}

}  // namespace residuum
