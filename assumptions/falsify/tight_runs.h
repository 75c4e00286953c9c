#pragma once
// Symmetric matrices with eigenvalues from mu to 1 by numbers without constraints, for searches
// over quadratics.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/trainer/trainer.h"

namespace residuum {

/// Returns how many numbers a matrix of d rows takes: d eigenvalues and d(d - 1)/2 angles.
std::size_t numbers_of_curvature(std::size_t dimension);

/// Sets the d d entries of a matrix to Q diag(lambda) Q^T, where Q is a product of rotations in the
/// planes of two axes. The numbers are the lambda, from -1 for `least` to 1 for 1, and the angles;
/// a lambda beyond -1 or 1 stands for the end.
void set_curvature(std::span<const double> numbers,
                   double least,
                   std::size_t dimension,
                   std::span<double> entries);

// This search looks for runs of error feedback at the step of the tight theory
// (core/schedules/tight_rate.h) in which its Lyapunov function V falls most slowly: over quadratics
// f_p(w) = (1/2) w^T A_p w whose A_p have eigenvalues from mu to L = 1, and over starting points,
// with residuals or estimates of 0. So it finds states that runs come to, and cycles.

/// The search drives up the mean factor of V over the iterations after the first `skip`,
/// (V_N/V_skip)^(1/(N - skip)), or the largest factor of one iteration.
enum class RunRatio { average, largest };

struct RunSearch {
  int workers = 1;
  std::size_t dimension = 2;
  double condition = 100;     // kappa = L/mu > 1
  double contraction = 0.5;   // alpha of the method's selection, below 1
  std::uint64_t steps = 100;  // N
  std::uint64_t skip = 0;     // below N
  RunRatio ratio = RunRatio::average;
  /// With sizes the search drives up the least ratio of a problem and of one copy for each size,
  /// whose numbers are moved by so much. A sum that cancels exactly in one does not in the others.
  std::vector<double> nearby = {};
  std::uint64_t seed = 1;
  std::uint64_t evaluations = 2000;  // problems that are looked at
};

/// The problem and the start of the worst run; the minimiser of all workers is 0.
struct WorstRun {
  std::vector<double> matrices;  // A_p, P x d x d
  std::vector<double> start;     // w_0, d numbers with |w_0| = 1
  std::vector<double> numbers;   // w_0 and the numbers of each A_p (above)
  double rate = 0;               // rho*
  double step = 0;               // eta*
  /// The ratio that the search made as large as it could. With copies it is the least ratio of the
  /// problem and of 16 copies for each size that the search has not seen.
  double ratio = 0;
  double average = 0;            // (V_N/V_skip)^(1/(N - skip))
  double largest = 0;            // of V_{t+1}/V_t, t < N
  std::uint64_t largest_at = 0;  // that t
  /// (V_M/V_N)^(1/(M - N)), M = 10 N, or the last M > N at which V is above the smallest numbers.
  std::optional<double> later;
  /// The least `later` of the problem and the copies that were searched; absent without copies.
  std::optional<double> nearby_later;
  std::uint64_t evaluations = 0;
  std::uint64_t restarts = 0;
  bool estimates = false;  // of EF21: V_0 is V after the first exchange, not before
  /// Rounding errors of the first iterations stay in the model of EF21 (tight_runs.cc).
  bool is_above() const { return ratio > rate * (1 + (estimates ? 1e-4 : 1e-12)); }
};

/// `method` is one of step 1 (one_step.h) whose memory is a residual of EF14 or an estimate of
/// EF21; its step is replaced by eta*. V_0 of EF21 is V after the first exchange. The same
/// arguments find the same run.
WorstRun falsify_runs(const Method& method, const RunSearch& search);

}  // namespace residuum
