#include "core/trainer/cadence.h"

#include <algorithm>
#include <cmath>

namespace residuum {

Cadence::Cadence(const nlohmann::json& value, const std::string& where, std::uint64_t iterations)
    : last_(iterations == 0 ? 0 : iterations - 1) {
  if (value.is_number_integer()) {
    require(value.get<std::int64_t>() >= 1, "{} must be at least 1, got {}", where, value.dump());
    every_ = value.get<std::uint64_t>();
    return;
  }
  require(value.is_object() && value.size() == 1 && value.contains("geometric") &&
              value["geometric"].is_number() && value["geometric"].get<double>() > 1,
          "{} must be a whole number or {{ geometric = F }} with F > 1, got {}",
          where,
          value.dump());
  const double factor = value["geometric"].get<double>();
  for (std::uint64_t t = 0; t < iterations;) {
    listed_.push_back(t);
    const double grown = std::ceil(static_cast<double>(t) * factor);
    t = grown < static_cast<double>(iterations) ? std::max(t + 1, static_cast<std::uint64_t>(grown))
                                                : iterations;
  }
}

bool Cadence::due(std::uint64_t iteration) const {
  if (iteration == last_) {
    return true;
  }
  if (every_ != 0) {
    return iteration % every_ == 0;
  }
  return std::binary_search(listed_.begin(), listed_.end(), iteration);
}

}  // namespace residuum
