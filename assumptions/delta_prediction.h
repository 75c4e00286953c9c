#pragma once
// This file predicts delta from the laws of a method's parts alone. There is no prediction where no
// law is known: for thresholds, selection by layer, a changing density, a user's own components.

#include <optional>

#include "core/record/run_facts.h"

namespace residuum {

// The capture cap(kappa) = |Top_k x|^2 / |x|^2, kappa = k/d, is the share of a vector's energy that
// its largest entries hold, for entries drawn independently from one law and d going to infinity.
// The rest, (1 - cap) / (1 - kappa), is delta of a single worker. It takes O(1).

/// The law of the magnitudes |x_j|.
struct EntryLaw {
  enum class Kind { gaussian, laplace, uniform, pareto };
  Kind kind = Kind::gaussian;
  double tail = 0;  // Pareto only: P(|x| > s) = s^-tail, tail > 2 so that the energy is finite
};

/// cap(kappa), 0 < kappa <= 1:
///   Gaussian  kappa + 2 t phi(t), kappa = 2 (1 - Phi(t))
///   Laplace   kappa (1 + l + l^2/2), l = ln(1/kappa)
///   uniform   1 - (1 - kappa)^3
///   Pareto    kappa^(1 - 2/tail)
double capture(const EntryLaw& law, double kappa);

/// cap(kappa) of N(0,1) entries.
double gaussian_capture(double kappa);

// Next come formulas of Top-k messages for accumulators with independent entries of one law, as in
// the noise-dominated regime, and for the number of workers up to which the gTop-k assumption would
// then hold. `predict_delta` chooses the formula for a method.

/// How the workers' k largest entries become g.
enum class Combination {
  whole,      // g is their sum: all-gather
  selected,   // g is the k largest entries of their sum: gTop-k
  completed,  // and the sum of the whole accumulators there: mask-then-reduce
};

/// Predicted delta at density rho with P workers: with cap the law's energy capture,
///   selected   (1 - cap(rho/P)) / (1 - rho)
///   completed  (1 - cap(rho/P) - rho (P-1)/P) / (1 - rho)
///   whole      (1 - cap(rho)) / (1 - rho)
/// for gTop-k keeps the largest k of dP values. That holds while the workers' selections rarely
/// meet, rho P^2 << 1; where they do meet, sums of several values are kept and delta is less than
/// predicted (0.879 against 1.046 at rho = 0.1, P = 16, Gaussian): overlapping_delta_iid. Absent
/// where rho is not in (0, 1).
std::optional<double> predicted_delta_iid(Combination combination,
                                          double rho,
                                          double workers,
                                          const EntryLaw& law = {});

/// P*: the largest number of workers with predicted delta <= 1 where entries are `selected`, which
/// is cap(rho/P) >= rho; the others have no such limit. Absent where rho is not in (0, 1). O(log
/// P*).
std::optional<double> largest_workers_iid(double rho, const EntryLaw& law = {});

// The next two count the overlap of what the workers select. predicted_delta_iid neglects it,
// which is right for rho P^2 << 1 alone: d rho^2 P^2/2 pairs of workers send the same index, and d
// rho indices are selected. At rho = 0.1 it predicts that delta passes 1 at 9 workers, where delta
// is 0.86; delta stays below 0.9 for any number of workers.

/// Delta of gtopk-exact for d going to infinity. Of an entry x a worker sends y = x 1{|x| >= t},
/// P(|x| >= t) = rho; S is the sum of y over the P workers. Given y, the rest x - y has mean 0,
/// because the law of x is symmetric. So the square of the error is P - E[S^2; |S| among the
/// fraction rho of largest], per entry of variance 1, and
///   delta = (1 - E[S^2; |S| among the largest]/P) / (1 - rho).
/// The law of S is a numerical convolution; absolute error below 1e-5. Absent for laws other than
/// Gaussian and Laplace, where rho is not in (0, 1) and for more than 4096 workers. About 25 ms.
std::optional<double> overlapping_delta_iid(double rho, int workers, const EntryLaw& law = {});

/// The number of workers beyond which that delta passes 1. Absent where it does not up to 4096.
std::optional<int> largest_workers_overlapping(double rho, const EntryLaw& law = {});

struct DeltaPrediction {
  std::optional<double> delta;
  std::optional<double> largest_workers;  // P*: delta <= 1 up to here; absent where it has no end
};

/// Predicts delta at density rho = k/d with those of the P workers that take part, by the laws of a
/// method's sparsifier, aggregator and feedback.
///
/// With a shared support and an exact contraction s, E|a - C(a)|^2 = (1 - s)|a|^2, the mean of the
/// messages is C(mean a), which no sum of at most k entries cuts, and E delta = (1 - s)/(1 - rho)
/// for every P and all accumulators. It is 1 for Rand-k, whose s is k/d.
///
/// For the k largest entries of accumulators with independent entries of one law it takes the
/// formula of predicted_delta_iid, and for exact gTop-k overlapping_delta_iid, whose result is kept
/// for later calls (the first takes 25 ms).
DeltaPrediction predict_delta(const RunFacts& facts, const EntryLaw& entries = {});

}  // namespace residuum
