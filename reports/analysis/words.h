#pragma once
// These functions write numbers as a reader sees them.

#include <optional>
#include <string>

#include "assumptions/estimators/intervals.h"

namespace residuum::reports {

inline constexpr int kShownDigits = 4;

/// Returns the number with `digits` significant digits; "∞" if it is infinite, "–" if it was not
/// measured. A number near 1 has more digits, up to 8, until it does not read as 1.
std::string short_number(const std::optional<double>& value, int digits = kShownDigits);

/// Returns how many significant digits the ends of an interval need to differ in the last one:
/// kShownDigits at least, so that an interval that has a width shows it.
int digits_for(const std::optional<Interval>& interval);

/// Writes "[0.46587, 0.46593]".
std::string short_interval(const Interval& interval);

/// Writes "1.23 MB", in powers of 1000.
std::string short_bytes(const std::optional<double>& value);

/// Returns "99.8 %" for 0.998, and never 100 or 0 for a number that only rounds to it.
std::string percent(const std::optional<double>& fraction);

}  // namespace residuum::reports
