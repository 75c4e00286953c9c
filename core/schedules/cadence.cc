#include "core/schedules/cadence.h"

#include <algorithm>
#include <cmath>

#include "core/config/section.h"

namespace residuum {
namespace {

/// A list of iterations holds at most this many, 80 MB.
constexpr std::size_t kMostListed = 10'000'000;

/// Returns the number in a table {key = number} with this one key; null for anything else.
const nlohmann::json* only_number(const nlohmann::json& value, const char* key) {
  if (!value.is_object() || value.size() != 1) {
    return nullptr;
  }
  const auto found = value.find(key);
  return found != value.end() && found->is_number() ? &*found : nullptr;
}

}  // namespace

Cadence::Cadence(const nlohmann::json& value, const std::string& where, std::uint64_t iterations)
    : last_(iterations == 0 ? 0 : iterations - 1) {
  if (value.is_number_integer()) {
    require(value >= 1, "{} must be at least 1, got {}", where, shown(value));
    every_ = value.get<std::uint64_t>();
    return;
  }
  const auto* const factor = only_number(value, "geometric");
  const auto* const rows = only_number(value, "even");
  require(
      (factor != nullptr && !(factor->get<double>() <= 1)) ||
          (rows != nullptr && rows->is_number_integer() && *rows >= 1),
      "{} must be a whole number, {{ geometric = F }} with F > 1 or {{ even = N }} with a whole "
      "N >= 1, got {}",
      where,
      shown(value));
  if (factor != nullptr) {
    list_geometric(factor->get<double>(), where, iterations);
  } else {
    list_even(rows->get<std::uint64_t>(), where, iterations);
  }
}

void Cadence::list_geometric(double factor, const std::string& where, std::uint64_t iterations) {
  require(std::isfinite(factor), "{} must have a finite geometric factor, got {}", where, factor);
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

void Cadence::list_even(std::uint64_t rows, const std::string& where, std::uint64_t iterations) {
  constexpr std::uint64_t kStart = 10;  // at the start, gaps are a tenth of the iterations done
  const std::uint64_t widest = iterations / rows;
  if (widest <= 1) {
    every_ = 1;
    return;
  }
  for (std::uint64_t t = 0; t < iterations;) {
    require(listed_.size() < kMostListed,
            "{} asks for more than {} iterations; take fewer rows than {}",
            where,
            kMostListed,
            rows);
    listed_.push_back(t);
    t += std::min(std::max<std::uint64_t>(1, (t + kStart - 1) / kStart), widest);
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
