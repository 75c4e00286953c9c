#include "reports/analysis/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kNotMeasured = "–";

}  // namespace

std::string short_number(const std::optional<double>& value, int digits) {
  if (!value) {
    return std::string(kNotMeasured);
  }
  if (std::isfinite(*value) && *value == std::trunc(*value) && std::abs(*value) < 1e6) {
    return format_integer(*value);
  }
  if (std::isinf(*value)) {
    return *value > 0 ? "∞" : "−∞";
  }
  if (std::isnan(*value)) {
    return format_number(*value);
  }
  constexpr int kMostNearOne = 8;
  std::string text = fmt::format("{:.{}g}", *value, digits);
  while (text == "1" && digits < kMostNearOne) {  // ratios are held against 1: on which side is it?
    text = fmt::format("{:.{}g}", *value, ++digits);
  }
  return text;
}

int digits_for(const std::optional<Interval>& interval) {
  constexpr double kRounding = 1e-12;  // of the ends: what sums of equal numbers differ by
  constexpr int kMostDigits = 15;
  if (!interval) {
    return kShownDigits;
  }
  const double width = interval->high - interval->low;
  const double size = std::max(std::abs(interval->low), std::abs(interval->high));
  if (!std::isfinite(width) || width <= kRounding * size) {
    return kShownDigits;
  }
  const auto place = [](double number) { return static_cast<int>(std::floor(std::log10(number))); };
  return std::clamp(place(size) - place(width) + 1, kShownDigits, kMostDigits);
}

std::string short_interval(const Interval& interval) {
  const int digits = digits_for(interval);
  return fmt::format(
      "[{}, {}]", short_number(interval.low, digits), short_number(interval.high, digits));
}

std::string short_bytes(const std::optional<double>& value) {
  constexpr std::array<std::string_view, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  if (!value || !std::isfinite(*value)) {
    return short_number(value);
  }
  double amount = *value;
  std::size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < kUnits.size()) {
    amount /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", amount, kUnits.at(unit));
}

std::string percent(const std::optional<double>& fraction) {
  if (!fraction) {
    return std::string(kNotMeasured);
  }
  if (*fraction == 0 || *fraction == 1) {
    return fmt::format("{:.0f} %", 100 * *fraction);
  }
  return fmt::format("{:.1f} %", std::clamp(100 * *fraction, 0.1, 99.9));
}

}  // namespace residuum::reports
