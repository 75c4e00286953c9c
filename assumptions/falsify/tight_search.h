#pragma once
// This search looks for one iteration of error feedback in which the Lyapunov function V of the
// tight theory (core/schedules/tight_rate.h) falls least: over all problems of the theory and all
// states. For messages that are applied whole V'/V <= rho*, and rho* is attained. For merges that
// cut messages nothing is known.

#include <cstdint>
#include <span>
#include <vector>

#include "assumptions/falsify/tight_runs.h"
#include "core/trainer/trainer.h"

namespace residuum {

struct TightSearch {
  int workers = 1;
  std::size_t dimension = 2;
  double condition = 100;    // kappa = L/mu > 1, L = 1
  double contraction = 0.5;  // alpha of the method's selection, below 1
  std::uint64_t seed = 1;
  std::uint64_t evaluations = 20000;
  bool estimates = false;  // EF21 in place of EF14
};

/// The worst iteration. The minimiser x* of all workers is 0. The state is scaled by a power of two
/// so that V/P before the iteration is from 1/2 to 2.
struct WorstIteration {
  double ratio = 0;                  // V'/V
  double rate = 0;                   // rho*
  double step = 0;                   // eta*
  std::vector<double> model;         // x, d numbers
  std::vector<double> residuals;     // before, P x d: e_p, or grad f_p(x) - g_p of EF21
  std::vector<double> gradients;     // grad f_p(x), P x d
  std::vector<double> accumulators;  // P x d: e_p + eta* grad f_p(x), or grad f_p(x') - g_p of EF21
  std::uint64_t evaluations = 0;
  std::uint64_t restarts = 0;
  bool is_above() const { return ratio > rate * (1 + 1e-12); }
};

/// `method` is one of step 1 whose memory is `ef14` (one_step.h), also for EF21: what its estimates
/// miss is what a residual keeps of the same accumulator. The search also starts from the worst
/// state of each of `runs`, of the same method and constants: its ratio is not below theirs, unless
/// the aggregator remembers earlier exchanges. The same arguments find the same iteration.
WorstIteration falsify_rate(const Method& method,
                            const TightSearch& search,
                            std::span<const WorstRun> runs = {});

}  // namespace residuum
