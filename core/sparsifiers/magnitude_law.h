#pragma once
// Laws of the magnitudes |a_j| of an accumulator's entries are fitted by moments to estimate the
// threshold that a given share of them exceeds: normal entries (Gaussian-k: Shi et al. 2019),
// exponential, gamma and generalised Pareto magnitudes (SIDCo: Abdelmoniem et al., MLSys 2021). The
// normal law is fitted to all entries, as its paper has it; the others to the non-zero ones, since
// a zero is never sent and has no logarithm.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/vectors/dense.h"

namespace residuum {

enum class MagnitudeFamily { normal, exponential, gamma, generalised_pareto };

struct MagnitudeLaw {
  MagnitudeFamily family = MagnitudeFamily::normal;
  double shape = 0;  // normal: mean of the signed entries; exponential: unused
  double scale = 1;  // normal: standard deviation of the signed entries

  /// Returns P(|a_j| >= x), x >= 0.
  double survival(double x) const;
  /// Returns the x with survival(x) = share; 0 for a share of 1 or more.
  double threshold(double share) const;
};

/// FittedLaw is a law, and how many entries it was fitted to.
struct FittedLaw {
  MagnitudeLaw law;
  std::size_t entries = 0;
};

/// Fits a law of the family to moments of magnitudes; the law is absent where they have no spread,
/// or too much for float64.
std::optional<FittedLaw> fit_moments(MagnitudeFamily family, const MagnitudeMoments& moments);

/// Fits a law of the family. Exponential: the mean. Gamma: the closed approximation of the most
/// likely shape (Minka 2002), s = log(mean) - mean(log), shape = (3 - s + sqrt((s - 3)^2 + 24 s)) /
/// (12 s). Generalised Pareto: mean and variance. The law is absent where the magnitudes have no
/// spread, or too much for float64.
template <class Real>
std::optional<FittedLaw> fit_magnitudes(MagnitudeFamily family, std::span<const Real> values);

/// Goodness of fit is how well a law describes the entries that its family is fitted to.
struct GoodnessOfFit {
  double ks_distance = 0;  // largest distance of the distribution functions
  double p_value = 1;     // of that distance if the law is true and was not fitted to these entries
  double tail_share = 0;  // of the entries that reach the law's threshold for the wanted share
  double tail_z = 0;      // its deviation from the wanted share in standard errors
};

/// The p-value is Kolmogorov's, with Stephens' correction for finite n. It is too large where the
/// parameters were fitted to the same entries (Lilliefors); a small one still refutes the family.
template <class Real>
GoodnessOfFit goodness_of_fit(const MagnitudeLaw& law, std::span<const Real> values, double share);

/// Returns P(K > x) for Kolmogorov's distribution.
double kolmogorov_survival(double x);

}  // namespace residuum
