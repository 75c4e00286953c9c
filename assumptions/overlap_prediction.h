#pragma once
// This file predicts delta of exact gTop-k if the workers' accumulators had independent entries of
// one law, and counts the overlap of what the workers select. predicted_delta_iid neglects it,
// which is right for rho P^2 << 1 alone: d rho^2 P^2/2 pairs of workers send the same index, and d
// rho indices are selected. At rho = 0.1 it predicts that delta passes 1 at 9 workers, where delta
// is 0.86; delta stays below 0.9 for any number of workers.

#include <optional>

#include "assumptions/estimators/capture.h"

namespace residuum {

/// Delta of gtopk-exact for d going to infinity. Let y = x 1{|x| >= t}, P(|x| >= t) = rho, be what
/// a worker sends of an entry x, and S the sum of y over the P workers. What was not sent has mean
/// 0 given what was, for the law of x is symmetric. So the square of the error is P - E[S^2; |S|
/// among the fraction rho of largest], per entry of variance 1, and
///   delta = (1 - E[S^2; |S| among the largest]/P) / (1 - rho).
/// The law of S is a numerical convolution; absolute error below 1e-5. Absent for laws other than
/// Gaussian and Laplace, where rho is not in (0, 1) and for more than 4096 workers. About 25 ms.
std::optional<double> overlapping_delta_iid(double rho, int workers, const EntryLaw& law = {});

/// The number of workers beyond which that delta passes 1. Absent where it does not up to 4096.
std::optional<int> largest_workers_overlapping(double rho, const EntryLaw& law = {});

}  // namespace residuum
