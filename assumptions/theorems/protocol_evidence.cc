// A constant of a protocol without lockstep is known if its law says it, or if every version was
// measured. What was seen of some versions bounds nothing and is not used.

#include <fmt/format.h>

#include <algorithm>

#include "assumptions/theorems/evidence.h"

namespace residuum {

std::optional<Range> Evidence::range_of_all_versions(Range SeedMeasures::*range) const {
  Range all;
  for (const auto& seed : seeds_) {
    const Range& one = seed.measures().*range;
    if (one.measured == 0 || one.measured < seed.iterations()) {
      return std::nullopt;
    }
    all.smallest = all.measured == 0 ? one.smallest : std::min(all.smallest, one.smallest);
    all.largest = all.measured == 0 ? one.largest : std::max(all.largest, one.largest);
    all.sum += one.sum;
    all.measured += one.measured;
  }
  return all.measured == 0 ? std::nullopt : std::optional(all);
}

Constant Evidence::largest_staleness() const {
  if (const auto seen = range_of_all_versions(&SeedMeasures::staleness)) {
    return {"τ",
            seen->largest,
            fmt::format("measured: largest staleness in each of {} versions", seen->measured)};
  }
  if (method_.delay) {
    return {"τ", method_.delay, "exact: the protocol's limit"};
  }
  return {"τ",
          std::nullopt,
          "the protocol has no limit, and staleness was not measured in each iteration "
          "(probes.every = 1)"};
}

std::optional<double> Evidence::mean_staleness() const {
  const auto seen = range_of_all_versions(&SeedMeasures::staleness_mean);
  return seen ? std::optional(seen->sum / static_cast<double>(seen->measured)) : std::nullopt;
}

Constant Evidence::fewest_contributions() const {
  if (const auto seen = range_of_all_versions(&SeedMeasures::contributions)) {
    return {"b",
            seen->smallest,
            fmt::format("measured: fewest gradients in each of {} versions", seen->measured)};
  }
  if (method_.contributions) {
    return {"b", method_.contributions, "exact: gradients in a version"};
  }
  return {"b", 1.0, "exact: no version has fewer"};
}

Constant Evidence::concurrency() const {
  if (method_.contributions == 1.0) {
    return {"τ_C",
            method_.workers,
            "exact: every worker makes one gradient at a time, and each is a version"};
  }
  return {"τ_C",
          std::nullopt,
          "not known: versions are not of one gradient each, so that finished ones may wait"};
}

Constant Evidence::spectral_gap() const {
  return method_.spectral_gap
             ? Constant{"p", method_.spectral_gap, "exact: 1 − |λ_2| of the mixing matrix"}
             : Constant{"p", std::nullopt, "not known: the spectral gap of the mixing matrix"};
}

Constant Evidence::period() const {
  return method_.period ? Constant{"H", method_.period, "exact: the period"}
                        : Constant{"H", std::nullopt, "not known"};
}

}  // namespace residuum
