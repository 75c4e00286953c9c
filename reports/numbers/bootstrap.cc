#include "reports/numbers/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/random/random.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kMostEnumerated = 7;  // values, of which 1716 resamples differ
constexpr std::size_t kDraws = 1999;        // so that 95 % ends at the 50th and the 1950th

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

/// Returns the mean at which the resamples up to it have the share of all orders. `resamples` are
/// sorted from the end in question.
double end_of(const std::vector<Resample>& resamples, double share) {
  double all = 0;
  for (const auto& one : resamples) {
    all += static_cast<double>(one.orders);
  }
  double passed = 0;
  for (const auto& one : resamples) {
    passed += static_cast<double>(one.orders);
    if (passed >= share * all) {
      return one.mean;
    }
  }
  return resamples.back().mean;
}

Interval enumerated(const std::vector<double>& values, double share) {
  std::vector<Resample> resamples = Enumeration(values).take();
  const auto is_less = [](const Resample& a, const Resample& b) { return a.mean < b.mean; };
  std::sort(resamples.begin(), resamples.end(), is_less);
  const double low = end_of(resamples, share);
  std::reverse(resamples.begin(), resamples.end());
  return {.low = low, .high = end_of(resamples, share)};
}

Interval drawn(const std::vector<double>& values, double share) {
  const auto n = static_cast<std::uint32_t>(values.size());
  RandomStream random(0, Purpose::bootstrap, n, 0);
  std::vector<double> means(kDraws);
  for (double& mean : means) {
    for (std::uint32_t i = 0; i < n; ++i) {
      mean += values[random.below(n)] / n;
    }
  }
  const auto rank = static_cast<std::size_t>(std::lround(share * (kDraws + 1)));
  const auto low = means.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(means.begin(), low, means.end());
  const double least = *low;
  const auto high = means.end() - static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1));
  std::nth_element(means.begin(), high, means.end());
  return {.low = least, .high = *high};
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
  const double share = (1 - confidence) / 2;
  return values.size() <= kMostEnumerated ? enumerated(values, share) : drawn(values, share);
}

}  // namespace residuum::reports
