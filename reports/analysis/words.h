#pragma once
// These functions write numbers as a reader sees them.

#include <optional>
#include <string>

#include "assumptions/estimators/intervals.h"

namespace residuum::reports {

inline constexpr int kShownDigits = 4;

/// Writes so many significant digits; "∞" for what is infinite, "–" for what was not measured. What
/// is not 1 has as many more, up to 8, as it takes not to read as 1.
std::string short_number(const std::optional<double>& value, int digits = kShownDigits);

/// Returns how many significant digits the ends of an interval need to differ in the last one:
/// kShownDigits at least, so that an interval that has a width shows it.
int digits_for(const std::optional<Interval>& interval);

/// Writes "[0.46587, 0.46593]".
std::string short_interval(const Interval& interval);

/// Writes "1.23 MB", in powers of 1000.
std::string short_bytes(const std::optional<double>& value);

/// Writes "99.8 %", and never 100 or 0 for what is not quite that.
std::string percent(const std::optional<double>& fraction);

}  // namespace residuum::reports
