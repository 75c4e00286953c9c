#pragma once
// Problems that come near the worst rate of worst_rate.h: f = (1/2) lambda |x|^2 in two dimensions,
// and a compressor that is a matrix.

#include "assumptions/worst_case/worst_rate.h"

namespace residuum {

/// C(a) = a - s R a, where R turns by `angle` and s = sqrt(1 - alpha), so that |C(a) - a|^2 = (1 -
/// alpha)|a|^2 for every a. All workers have the same f and C: with any number of them the model
/// moves as with one.
struct LinearCompressor {
  double curvature = 1;  // lambda, from mu to L
  double angle = 0;      // from 0 to pi
  double rate = 0;       // |state|^2 falls by it in an iteration, in the long run
};

/// Returns the rate of the question's method on this problem, whose own rate is not read: the
/// largest |z|^2 of the eigenvalues z of an iteration, which is linear.
double rate_on(const WorstRateQuestion& question, const LinearCompressor& problem);

/// Returns the slowest that a search finds, the same for the same question; its rate may be above
/// 1. No bound on the rate of the method can be below it, but for rounding. Throws as
/// check_question() does.
LinearCompressor slowest_linear(const WorstRateQuestion& question);

}  // namespace residuum
