#include "reports/analysis/statistics.h"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "assumptions/estimators/moments.h"
#include "reports/analysis/bootstrap.h"

namespace residuum::reports {
namespace {

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool any_nan(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
}

double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double position = static_cast<double>(sorted.size() - 1) * p;
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  if (part == 0 || sorted[below] == sorted[above] || std::isinf(sorted[below])) {
    return sorted[below];  // inf - inf is no number
  }
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

}  // namespace

bool are_one_run(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); });
}

std::optional<double> quantile(std::vector<double> values, double p) {
  if (values.empty() || any_nan(values)) {
    return std::nullopt;
  }
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values, p);
}

std::optional<double> median(const std::vector<double>& values) { return quantile(values, 0.5); }

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty() || !all_finite(values)) {
    return std::nullopt;
  }
  return plain_mean(values);
}

std::optional<Interval> student_interval(const std::vector<double>& values, double confidence) {
  return mean_interval(values, confidence);
}

std::optional<double> seeds_for_sign(const std::vector<double>& differences, double confidence) {
  const auto centre = mean(differences);
  if (!centre || *centre == 0 || differences.size() < 2) {
    return std::nullopt;
  }
  const double variance =
      central_moments(differences).squares / static_cast<double>(differences.size() - 1);
  const boost::math::normal normal;
  const double width = boost::math::quantile(normal, (1 + confidence) / 2);
  const double power = boost::math::quantile(normal, 0.8);
  const double sum = width + power;
  return std::ceil(sum * sum * variance / (*centre * *centre) + width * width / 2);
}

Spread spread_of(const std::vector<double>& values) {
  return {.n = values.size(),
          .median = median(values),
          .lower_quartile = quantile(values, 0.25),
          .upper_quartile = quantile(values, 0.75),
          .mean = mean(values),
          .interval = are_one_run(values) ? std::nullopt : student_interval(values),
          .values = values};
}

Centre centre_of(const std::vector<double>& values, IntervalKind kind) {
  Centre centre{.n = values.size(), .middle = mean(values), .interval = std::nullopt};
  if (kind != IntervalKind::quartiles) {
    centre.interval = are_one_run(values) ? std::nullopt : interval_of_mean(values, kind);
    return centre;
  }
  centre.middle = median(values);
  const auto low = quantile(values, 0.25);
  const auto high = quantile(values, 0.75);
  if (values.size() > 1 && low && high) {
    centre.interval = Interval{.low = *low, .high = *high};
  }
  return centre;
}

Centre centre_with_misses(const std::vector<double>& values, IntervalKind kind) {
  Centre centre = centre_of(values, kind);
  if (!centre.middle && !values.empty() && !any_nan(values)) {
    centre.middle = std::accumulate(values.begin(), values.end(), 0.0);
  }
  return centre;
}

std::string_view interval_words(IntervalKind kind) {
  switch (kind) {
    case IntervalKind::student:
      return "mean, 95 % interval (Student)";
    case IntervalKind::bootstrap:
      return "mean, 95 % interval (bootstrap, BCa)";
    case IntervalKind::quartiles:
      break;
  }
  return "median, IQR";
}

std::optional<Interval> interval_of_mean(const std::vector<double>& values, IntervalKind kind) {
  return kind == IntervalKind::bootstrap ? bootstrap_interval(values) : student_interval(values);
}

}  // namespace residuum::reports
