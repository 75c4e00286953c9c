#include "core/config/amount.h"

#include <algorithm>
#include <cmath>

namespace residuum {

Amount Amount::from(const Section& section) { return *if_used(section, true); }

std::optional<Amount> Amount::if_given(const Section& section) {
  const bool has_k = section.has("k");
  return if_used(section, section.has("density") || has_k);
}

std::optional<Amount> Amount::if_used(const Section& section, bool used) {
  const bool has_k = section.has("k");
  const bool has_density = section.has("density");
  if (!used) {
    return std::nullopt;
  }
  require(!(has_k && has_density),
          "{} and {}: give one of them",
          section.where("k"),
          section.where("density"));
  Amount amount;
  if (has_k) {
    const auto k = section.integer("k");
    require(k >= 1, "{} must be at least 1, got {}", section.where("k"), k);
    amount.k_ = static_cast<std::size_t>(k);
    amount.where_ = section.where("k");
    return amount;
  }
  require(has_density, "missing key '{0}.density' (or '{0}.k')", section.name());
  amount.density_ = section.number("density");
  require(amount.density_ > 0 && amount.density_ <= 1,
          "{} must lie in (0, 1], got {}",
          section.where("density"),
          amount.density_);
  return amount;
}

std::size_t Amount::resolve(std::size_t dimension) const {
  if (k_) {
    require(*k_ <= dimension,
            "{} is {}, but there are only {} parameters; use at most that many",
            where_,
            *k_,
            dimension);
    return *k_;
  }
  // The tiny factor keeps 0.29 * 100 at 29: the typed decimal counts, not its binary neighbour.
  const double exact = density_ * static_cast<double>(dimension) * (1 + 1e-12);
  return std::clamp<std::size_t>(static_cast<std::size_t>(exact), 1, dimension);
}

}  // namespace residuum
