#include "reports/tables/utc.h"

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

}  // namespace residuum::reports
