#pragma once
// These functions bound how far error feedback lets the gap e = w - z grow. If E|e_{t+1}|^2 <= q
// E|e_t + eta_t g_t|^2 and E|g_t|^2 <= M^2 then, by Minkowski, E|e_t|^2 <= Q(q) eta^2 M^2. All are
// O(1).

namespace residuum {

/// Q(q) = q / (1 - sqrt q)^2, 0 <= q < 1; infinite for q >= 1.
double amplification(double contraction);

/// Q(q) never exceeds 4 c (c - 1), c = 1/(1-q), for Q = q (1 + sqrt q)^2 / (1-q)^2 and sqrt q <= 1.
/// Karimireddy et al. write it 4 (1-delta)/delta^2.
double amplification_ceiling(double compression);

/// c^3 - c: the factor of Shi et al. (IJCAI 2019), which comes from Young's inequality with the
/// constant 1/c in place of the best one. It is (c + 1)/4 times the ceiling above.
double ijcai_amplification(double compression);

/// R_{t+1} = sqrt(q_t) (R_t + eta_t), R_0 = 0: sqrt(E|e_t|^2) <= M R_t. D_t = R_{t+1}/eta_t must
/// stay bounded for decreasing steps; it jumps tenfold where a step size is divided by ten.
class GapRecursion {
 public:
  /// One step with contraction q_t and step size eta_t.
  void step(double contraction, double step_size);
  double bound() const { return bound_; }           // R_{t+1}
  double memory_factor() const { return factor_; }  // D_t

 private:
  double bound_ = 0;
  double factor_ = 0;
};

}  // namespace residuum
