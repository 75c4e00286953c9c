#include "core/sparsifiers/magnitude_law.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/roots.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

MagnitudeLaw normal_law(const MagnitudeMoments& moments) {
  const auto n = static_cast<double>(moments.entries);
  const double mean = moments.signed_sum / n;
  return {.family = MagnitudeFamily::normal,
          .shape = mean,
          .scale = std::sqrt(moments.sum_sq / n - mean * mean)};
}

MagnitudeLaw gamma_law(const MagnitudeMoments& moments) {
  const double s =
      std::log(moments.mean()) - moments.sum_log / static_cast<double>(moments.nonzero);
  const double shape = (3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s);
  return {.family = MagnitudeFamily::gamma, .shape = shape, .scale = moments.mean() / shape};
}

MagnitudeLaw pareto_law(const MagnitudeMoments& moments) {
  const double ratio = moments.mean() * moments.mean() / moments.variance();
  return {.family = MagnitudeFamily::generalised_pareto,
          .shape = 0.5 * (1 - ratio),
          .scale = 0.5 * moments.mean() * (1 + ratio)};
}

MagnitudeLaw law_of(MagnitudeFamily family, const MagnitudeMoments& moments) {
  switch (family) {
    case MagnitudeFamily::normal:
      return normal_law(moments);
    case MagnitudeFamily::exponential:
      return {.family = family, .shape = 0, .scale = moments.mean()};
    case MagnitudeFamily::gamma:
      return gamma_law(moments);
    case MagnitudeFamily::generalised_pareto:
      return pareto_law(moments);
  }
  return {};
}

/// Returns P(Z >= z) of a standard normal Z.
double normal_survival(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

/// Returns the x with P(|X| >= x) = share, X ~ N(mean, deviation^2): the quantile of a centred X,
/// or the root below it.
double normal_threshold(const MagnitudeLaw& law, double share) {
  const double z = boost::math::quantile(
      boost::math::complement(boost::math::normal_distribution<double>(), share / 2));
  const double highest = std::abs(law.shape) + law.scale * z;
  const auto excess = [&](double x) { return law.survival(x) - share; };
  if (law.shape == 0 || excess(highest) >= 0) {
    return highest;
  }
  std::uintmax_t steps = 200;
  const auto bracket = boost::math::tools::toms748_solve(
      excess, 0.0, highest, boost::math::tools::eps_tolerance<double>(50), steps);
  return 0.5 * (bracket.first + bracket.second);
}

/// Returns the magnitudes that the family describes, in increasing order.
template <class Real>
std::vector<double> sorted_magnitudes(MagnitudeFamily family, std::span<const Real> values) {
  std::vector<double> magnitudes;
  magnitudes.reserve(values.size());
  for (const Real value : values) {
    if (value != 0 || family == MagnitudeFamily::normal) {
      magnitudes.push_back(std::abs(static_cast<double>(value)));
    }
  }
  std::sort(magnitudes.begin(), magnitudes.end());
  return magnitudes;
}

double largest_distance(const MagnitudeLaw& law, std::span<const double> sorted) {
  const auto n = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double below = 1 - law.survival(sorted[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, below - rank / n, (rank + 1) / n - below});
  }
  return distance;
}

}  // namespace

double MagnitudeLaw::survival(double x) const {
  switch (family) {
    case MagnitudeFamily::normal:
      return normal_survival((x - shape) / scale) + normal_survival((x + shape) / scale);
    case MagnitudeFamily::exponential:
      return std::exp(-x / scale);
    case MagnitudeFamily::gamma:
      return boost::math::gamma_q(shape, x / scale);
    case MagnitudeFamily::generalised_pareto: {
      const double stretched = shape * x / scale;
      if (stretched <= -1) {
        return 0;  // beyond the end of a bounded law
      }
      return shape == 0 ? std::exp(-x / scale) : std::exp(-std::log1p(stretched) / shape);
    }
  }
  return 0;
}

double MagnitudeLaw::threshold(double share) const {
  if (share >= 1) {
    return 0;
  }
  switch (family) {
    case MagnitudeFamily::normal:
      return normal_threshold(*this, share);
    case MagnitudeFamily::exponential:
      return -scale * std::log(share);
    case MagnitudeFamily::gamma:
      return scale * boost::math::gamma_q_inv(shape, share);
    case MagnitudeFamily::generalised_pareto:
      return shape == 0 ? -scale * std::log(share)
                        : scale * std::expm1(-shape * std::log(share)) / shape;
  }
  return 0;
}

std::optional<FittedLaw> fit_moments(MagnitudeFamily family, const MagnitudeMoments& moments) {
  // Below this relative spread the fit would depend on rounding errors.
  constexpr double kLeastSpread = 1e-10;
  const double square = moments.mean() * moments.mean();
  const bool has_spread = moments.variance() > kLeastSpread * square ||
                          (family == MagnitudeFamily::normal && moments.nonzero > 0);
  if (!has_spread) {
    return std::nullopt;
  }
  const FittedLaw fitted{
      .law = law_of(family, moments),
      .entries = family == MagnitudeFamily::normal ? moments.entries : moments.nonzero};
  const bool is_proper =
      std::isfinite(fitted.law.shape) && std::isfinite(fitted.law.scale) && fitted.law.scale > 0;
  return is_proper ? std::optional(fitted) : std::nullopt;
}

template <class Real>
std::optional<FittedLaw> fit_magnitudes(MagnitudeFamily family, std::span<const Real> values) {
  return fit_moments(family, magnitude_moments(values, family == MagnitudeFamily::gamma));
}

template <class Real>
GoodnessOfFit goodness_of_fit(const MagnitudeLaw& law, std::span<const Real> values, double share) {
  const auto sorted = sorted_magnitudes(law.family, values);
  if (sorted.empty()) {
    return {};
  }
  const auto n = static_cast<double>(sorted.size());
  GoodnessOfFit fit;
  fit.ks_distance = largest_distance(law, sorted);
  const double root = std::sqrt(n);
  fit.p_value = kolmogorov_survival((root + 0.12 + 0.11 / root) * fit.ks_distance);
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), law.threshold(share));
  fit.tail_share = static_cast<double>(sorted.end() - first) / n;
  fit.tail_z = (fit.tail_share - share) / std::sqrt(share * (1 - share) / n);
  return fit;
}

double kolmogorov_survival(double x) {
  constexpr int kTerms = 20;
  // There are two series for the same function; each converges in a few terms on its side of
  // kMeeting.
  constexpr double kMeeting = 1.18;
  if (x < 0.04) {
    return 1;  // the terms below underflow
  }
  double sum = 0;
  if (x < kMeeting) {
    for (int j = 1; j <= kTerms; ++j) {
      const double odd = (2 * j - 1) * std::numbers::pi / x;
      sum += std::exp(-odd * odd / 8);
    }
    return 1 - std::sqrt(2 * std::numbers::pi) / x * sum;
  }
  for (int j = 1; j <= kTerms; ++j) {
    sum += (j % 2 == 1 ? 2 : -2) * std::exp(-2 * j * j * x * x);
  }
  return sum;
}

template std::optional<FittedLaw> fit_magnitudes<float>(MagnitudeFamily, std::span<const float>);
template std::optional<FittedLaw> fit_magnitudes<double>(MagnitudeFamily, std::span<const double>);
template GoodnessOfFit goodness_of_fit<float>(const MagnitudeLaw&, std::span<const float>, double);
template GoodnessOfFit goodness_of_fit<double>(const MagnitudeLaw&,
                                               std::span<const double>,
                                               double);

}  // namespace residuum
