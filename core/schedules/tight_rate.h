#pragma once
// The tight rates of error feedback: no bound for the same constants can be smaller. All workers'
// f_p are L-smooth and mu-strongly convex with the same L and mu, gradients are full, and
// |C(a) - a|^2 <= (1 - alpha)|a|^2. With s = sqrt(1 - alpha) and kappa = L/mu,
//   eta* = (2/(L + mu)) (1 - s)/(1 + s),
//   rho* = s + ((1 - s)/2) ((kappa - 1)/(kappa + 1))^2
//              (1 - s + sqrt((1 + s)^2 + 16 s kappa/(kappa - 1)^2)),
// and V_{t+1} <= rho* V_t in every iteration, for a V of EF14 and for one of EF21. One worker: Berg
// Thomsen, Taylor, Dieuleveut, "Tight analyses of first-order methods with error feedback",
// arXiv:2506.05271; any number of them: "A Tight Theory of Error Feedback Algorithms in Distributed
// Optimization", arXiv:2605.31594. The V are in assumptions/probes/lyapunov.cc.

#include <optional>

namespace residuum {

/// The Lyapunov function V is known for a run, whether or not the theory says how fast it falls.
struct LyapunovFacts {
  double root = 0;             // s
  double smoothness = 0;       // L of every worker's objective
  std::optional<double> rate;  // rho*; absent where a precondition of the theory is not met
};

/// The constants of the rates: L >= mu > 0 and alpha in (0, 1].
struct CompressedProblem {
  double smoothness = 1;        // L
  double strong_convexity = 1;  // mu
  double contraction = 1;       // alpha

  /// Returns sqrt(1 - alpha), which is s in the formulas.
  double root() const;
  bool is_valid() const;
};

/// Returns eta*.
double tight_step(const CompressedProblem& problem);

/// Returns rho*, the factor of V in one iteration at the step eta*.
double tight_rate(const CompressedProblem& problem);

/// Compressed gradient descent without memory, x' = x - eta C(grad f(x)), by one worker: the step
/// eta = 2/((1 - s) mu + (1 + s) L) and the factor ((kappa_s - 1)/(kappa_s + 1))^2 of f - f*,
/// kappa_s = kappa (1 + s)/(1 - s). It is gradient descent with a relative error s of the gradient
/// (de Klerk, Glineur, Taylor, SIAM J. Optim. 2020).
double memoryless_step(const CompressedProblem& problem);
double memoryless_rate(const CompressedProblem& problem);

/// Return 1 - tight_rate() and 1 - memoryless_rate() without cancellation: above 0 where a rate
/// rounds to 1.
double tight_gap(const CompressedProblem& problem);
double memoryless_gap(const CompressedProblem& problem);

}  // namespace residuum
