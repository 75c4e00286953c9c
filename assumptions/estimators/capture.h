#pragma once
// The capture cap(kappa) = |Top_k x|^2 / |x|^2, kappa = k/d, is the share of a vector's energy that
// its largest entries hold, for entries drawn independently from one law and d going to infinity.
// The rest, (1 - cap) / (1 - kappa), is delta of a single worker. All functions are O(1).

namespace residuum {

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

}  // namespace residuum
