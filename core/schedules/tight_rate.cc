#include "core/schedules/tight_rate.h"

#include <cmath>

namespace residuum {

double CompressedProblem::root() const { return std::sqrt(1 - contraction); }

bool CompressedProblem::is_valid() const {
  return strong_convexity > 0 && smoothness >= strong_convexity && std::isfinite(smoothness) &&
         contraction > 0 && contraction <= 1;
}

double tight_step(const CompressedProblem& problem) {
  const double s = problem.root();
  return 2 / (problem.smoothness + problem.strong_convexity) * (1 - s) / (1 + s);
}

/// The product of ((kappa - 1)/(kappa + 1))^2 and the root is written without kappa - 1 in a
/// denominator, so that kappa = 1 is no exception: there rho* = s. All is by mu/L, so that no
/// product of L and mu underflows.
double tight_rate(const CompressedProblem& problem) {
  const double s = problem.root();
  const double r = problem.strong_convexity / problem.smoothness;
  const double contrast = (1 - r) / (1 + r);
  const double curvatures = 16 * s * r / ((1 + r) * (1 + r));
  const double inner =
      contrast * (1 - s) + std::sqrt((1 + s) * (1 + s) * contrast * contrast + curvatures);
  return s + (1 - s) / 2 * contrast * inner;
}

double memoryless_step(const CompressedProblem& problem) {
  const double s = problem.root();
  return 2 / ((1 - s) * problem.strong_convexity + (1 + s) * problem.smoothness);
}

double memoryless_rate(const CompressedProblem& problem) {
  const double s = problem.root();
  const double r = (1 - s) / (1 + s) * (problem.strong_convexity / problem.smoothness);
  const double contrast = (1 - r) / (1 + r);
  return contrast * contrast;
}

/// With c = (1 - r)/(1 + r), q = 1 - c^2 = 4r/(1 + r)^2 and R = sqrt(4s + c^2 (1 - s)^2) the rate
/// is s + (1 - s) c (c (1 - s) + R)/2. With A = 2 - c^2 (1 - s), A^2 - c^2 R^2 = 4q, so that
///   1 - rho* = (1 - s)(A - c R)/2 = (1 - s) 2q/(A + c R),   1 - s = alpha/(1 + s).
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
