#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace residuum::reports {

/// Returns the seconds since 1970 of "2026-01-31T23:59:59Z"; absent for any other text.
std::optional<double> seconds_of_utc(const std::string& text);

/// Returns the time as "2026-01-31T23:59:59Z".
std::string utc_text(std::chrono::system_clock::time_point time);

}  // namespace residuum::reports
