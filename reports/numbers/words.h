#pragma once
// Numbers as a reader sees them.

#include <optional>
#include <string>

namespace residuum::reports {

/// Four significant digits; "–" for what was not measured.
std::string short_number(const std::optional<double>& value);

/// "1.23 MB", in powers of 1000.
std::string short_bytes(const std::optional<double>& value);

/// "99.8 %": never 100 or 0 for what is not quite.
std::string percent(const std::optional<double>& fraction);

}  // namespace residuum::reports
