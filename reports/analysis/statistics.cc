#include "reports/analysis/statistics.h"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "assumptions/estimators/intervals.h"
#include "core/random/random.h"

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

namespace {

constexpr std::size_t kMostEnumerated = 7;  // values, of which 1716 resamples differ
constexpr std::size_t kDraws = 1999;
constexpr double kEqual = 1e-12;  // of the largest value: two sums of the same values differ less

/// A Resample has its mean, and says how many orders of drawing give it.
struct Resample {
  double mean = 0;
  std::uint64_t orders = 1;
};

/// Enumerates how often each value is drawn, one value after the other.
class Enumeration {
 public:
  explicit Enumeration(const std::vector<double>& values) : values_(&values) {
    choose(0, values.size(), 0, 1);
  }

  std::vector<Resample> take() { return std::move(resamples_); }

 private:
  void choose(std::size_t value, std::size_t left, double sum, std::uint64_t orders) {
    const std::size_t n = values_->size();
    if (left == 0) {
      resamples_.push_back({.mean = sum / static_cast<double>(n), .orders = orders});
      return;
    }
    if (value == n) {
      return;
    }
    std::uint64_t ways = 1;  // left over count
    for (std::size_t count = 0; count <= left; ++count) {
      choose(value + 1,
             left - count,
             sum + static_cast<double>(count) * (*values_)[value],
             orders * ways);
      ways = ways * (left - count) / (count + 1);
    }
  }

  const std::vector<double>* values_;
  std::vector<Resample> resamples_;
};

/// Returns all resamples, or enough drawn ones.
std::vector<Resample> resamples_of(const std::vector<double>& values) {
  if (values.size() <= kMostEnumerated) {
    return Enumeration(values).take();
  }
  const auto n = static_cast<std::uint32_t>(values.size());
  RandomStream random(0, Purpose::bootstrap, n, 0);
  std::vector<Resample> resamples(kDraws);
  for (auto& resample : resamples) {
    for (std::uint32_t i = 0; i < n; ++i) {
      resample.mean += values[random.below(n)] / n;
    }
  }
  return resamples;
}

double orders_of(const std::vector<Resample>& resamples) {
  return std::accumulate(
      resamples.begin(), resamples.end(), 0.0, [](double sum, const Resample& one) {
        return sum + static_cast<double>(one.orders);
      });
}

/// Returns the mean up to which the resamples have `orders` orders of drawing. They are sorted from
/// the end in question.
double end_of(const std::vector<Resample>& resamples, double orders) {
  double passed = 0;
  for (const auto& one : resamples) {
    passed += static_cast<double>(one.orders);
    if (passed >= orders) {
      return one.mean;
    }
  }
  return resamples.back().mean;
}

/// The shares of the resamples below and above an interval.
struct Tails {
  double below = 0;
  double above = 0;
};

/// Corrects an equal share in both tails for a mean that is not the median of its resamples, and
/// for a spread that grows with it (Efron 1987).
Tails corrected_tails(const std::vector<double>& values,
                      const std::vector<Resample>& resamples,
                      double share) {
  const auto [mean, squares, cubes] = central_moments(values);
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  double below = 0;  // the mean; what equals it, but for rounding, counts half
  for (const auto& one : resamples) {
    const double distance = one.mean - mean;
    const bool is_equal = std::abs(distance) <= kEqual * largest;
    below += static_cast<double>(one.orders) * (is_equal ? 0.5 : distance < 0 ? 1 : 0);
  }
  const boost::math::normal normal;
  const double bias = boost::math::quantile(normal, below / orders_of(resamples));
  const double acceleration = cubes / (6 * std::pow(squares, 1.5));
  const auto corrected = [&](double quantile) {
    const double moved = bias + boost::math::quantile(normal, quantile);
    return boost::math::cdf(normal, bias + moved / (1 - acceleration * moved));
  };
  return {.below = corrected(share), .above = 1 - corrected(1 - share)};
}

}  // namespace

std::size_t least_bootstrap_values(double confidence) {
  std::size_t n = 2;
  while (n < std::numeric_limits<double>::digits &&
         1 - std::ldexp(1.0, 1 - static_cast<int>(n)) < confidence) {
    ++n;
  }
  return n;
}

std::optional<Interval> bootstrap_interval(const std::vector<double>& values, double confidence) {
  const bool all_finite =
      std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  if (values.size() < least_bootstrap_values(confidence) || !all_finite) {
    return std::nullopt;
  }
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  if (*least == *largest) {
    return Interval{.low = *least, .high = *largest};
  }
  std::vector<Resample> resamples = resamples_of(values);
  const Tails tails = corrected_tails(values, resamples, (1 - confidence) / 2);
  const double orders = orders_of(resamples);
  std::sort(resamples.begin(), resamples.end(), [](const Resample& a, const Resample& b) {
    return a.mean < b.mean;
  });
  const double low = end_of(resamples, tails.below * orders);
  std::reverse(resamples.begin(), resamples.end());
  return Interval{.low = low, .high = end_of(resamples, tails.above * orders)};
}

}  // namespace residuum::reports
