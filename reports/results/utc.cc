#include "reports/results/utc.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace residuum::reports {

std::optional<double> seconds_of_utc(const std::string& text) {
  std::tm time{};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') {
    return std::nullopt;
  }
  return static_cast<double>(::timegm(&time));
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace residuum::reports
