#include "core/schedules/rate_gap.h"

#include <cmath>

namespace residuum {

/// With c = (1 - r)/(1 + r), q = 1 - c^2 = 4r/(1 + r)^2 and R = sqrt(4s + c^2 (1 - s)^2) the rate
/// is s + (1 - s) c (c (1 - s) + R)/2. With A = 2 - c^2 (1 - s), A^2 - c^2 R^2 = 4q, so that
///   1 - rho* = (1 - s)(A - c R)/2 = (1 - s) 2q/(A + c R),   1 - s = delta_c/(1 + s).
double tight_gap(const CompressedProblem& problem) {
  const double s = problem.root();
  const double r = problem.strong_convexity / problem.smoothness;
  const double c = (1 - r) / (1 + r);
  const double q = 4 * r / ((1 + r) * (1 + r));
  const double kept = problem.contraction / (1 + s);
  const double root = std::sqrt(4 * s + c * c * kept * kept);
  return kept * 2 * q / (2 - c * c * kept + c * root);
}

double memoryless_gap(const CompressedProblem& problem) {
  const double s = problem.root();
  const double kept = problem.contraction / (1 + s);  // 1 - s
  const double r = kept / (1 + s) * (problem.strong_convexity / problem.smoothness);
  return 4 * r / ((1 + r) * (1 + r));
}

}  // namespace residuum
