#pragma once
// These functions write numbers as a reader sees them.

#include <optional>
#include <string>

namespace residuum::reports {

/// Writes four significant digits; "∞" for what is infinite, "–" for what was not measured.
std::string short_number(const std::optional<double>& value);

/// Writes "1.23 MB", in powers of 1000.
std::string short_bytes(const std::optional<double>& value);

/// Writes "99.8 %", and never 100 or 0 for what is not quite that.
std::string percent(const std::optional<double>& fraction);

}  // namespace residuum::reports
