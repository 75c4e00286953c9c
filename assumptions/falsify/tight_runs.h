#pragma once
// This search looks for runs of error feedback at the step of the tight theory
// (core/schedules/tight_rate.h) in which its Lyapunov function V falls most slowly: over quadratics
// f_p(w) = (1/2) w^T A_p w whose A_p have eigenvalues from mu to L = 1, and over starting points,
// with residuals or estimates of 0. So it finds states that runs come to, and cycles.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trainer/trainer.h"

namespace residuum {

/// The search drives up the mean factor of V over the iterations after the first `skip`,
/// (V_N/V_skip)^(1/(N - skip)), or the largest factor of one iteration.
enum class RunRatio { average, largest };

struct RunSearch {
  int workers = 1;
  std::size_t dimension = 2;
  double condition = 100;     // kappa = L/mu > 1
  double contraction = 0.5;   // delta_c of the method's selection, below 1
  std::uint64_t steps = 100;  // N
  std::uint64_t skip = 0;     // below N
  RunRatio ratio = RunRatio::average;
  std::uint64_t seed = 1;
  std::uint64_t evaluations = 2000;  // runs
};

/// The problem and the start of the worst run; the minimiser of all workers is 0.
struct WorstRun {
  std::vector<double> matrices;  // A_p, P x d x d
  std::vector<double> start;     // w_0, d numbers with |w_0| = 1
  double rate = 0;               // rho*
  double step = 0;               // eta*
  double ratio = 0;              // what was driven up
  double average = 0;            // (V_N/V_skip)^(1/(N - skip))
  double largest = 0;            // of V_{t+1}/V_t, t < N
  std::uint64_t largest_at = 0;  // that t
  /// (V_M/V_N)^(1/(M - N)), M = 10 N, or the last M > N at which V is above the smallest numbers.
  std::optional<double> later;
  /// `later` and `largest` of a problem nearby: lambda, angles and w_0 are moved by 1e-6 at random.
  /// A sum that cancels exactly in one run does not cancel there.
  std::optional<double> nearby;
  double nearby_largest = 0;
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
