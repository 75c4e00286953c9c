#pragma once

#include <optional>
#include <string>

namespace residuum::reports {

/// Returns the seconds since 1970 of "2026-01-31T23:59:59Z"; absent for any other text.
std::optional<double> seconds_of_utc(const std::string& text);

}  // namespace residuum::reports
