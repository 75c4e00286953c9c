#include "core/trainer/cadence.h"

#include <algorithm>
#include <cmath>

namespace residuum {
namespace {

/// What a list of iterations may hold: 80 MB of them.
constexpr std::size_t kMostListed = 10'000'000;

double geometric_factor(const nlohmann::json& value, const std::string& where) {
  require(value.is_object() && value.size() == 1 && value.contains("geometric") &&
              value["geometric"].is_number() && !(value["geometric"].get<double>() <= 1),
          "{} must be a whole number or {{ geometric = F }} with F > 1, got {}",
          where,
          value.dump());
  const auto factor = value["geometric"].get<double>();
  require(std::isfinite(factor), "{} must have a finite geometric factor, got {}", where, factor);
  return factor;
}

}  // namespace

Cadence::Cadence(const nlohmann::json& value, const std::string& where, std::uint64_t iterations)
    : last_(iterations == 0 ? 0 : iterations - 1) {
  if (value.is_number_integer()) {
    require(value.get<std::int64_t>() >= 1, "{} must be at least 1, got {}", where, value.dump());
    every_ = value.get<std::uint64_t>();
    return;
  }
  const double factor = geometric_factor(value, where);
  for (std::uint64_t t = 0; t < iterations;) {
    require(listed_.size() < kMostListed,
            "{} asks for more than {} iterations; take a larger geometric factor than {}",
            where,
            kMostListed,
            factor);
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
