#pragma once
// Evidence from rows written by hand, and the verdict that is made of it.

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/verdicts/assumptions.h"

namespace residuum::test {

inline constexpr std::uint64_t kEvidenceRows = 128;  // two to a window

using Fill = std::function<void(std::uint64_t t, std::size_t seed, Row& row)>;

inline Evidence evidence(std::size_t seeds, const Fill& fill, RunFacts facts) {
  Evidence all(std::move(facts));
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    SeedEvidence one(kEvidenceRows);
    for (std::uint64_t t = 0; t < kEvidenceRows; ++t) {
      Row row(t);
      row.set(Column::step_size, 0.5);
      row.set(Column::density, 0.1);  // k/d of the facts below
      fill(t, seed, row);
      one.add(row);
    }
    all.add(std::move(one));
  }
  return all;
}

inline Evidence evidence(std::size_t seeds,
                         const Fill& fill,
                         const std::optional<Known>& smoothness = std::nullopt,
                         double momentum = 0) {
  return evidence(seeds,
                  fill,
                  RunFacts{.dimension = 100,
                           .k = 10,
                           .update = {.momentum = momentum},
                           .objective = {.smoothness = smoothness}});
}

inline AssumptionVerdict verdict(const Evidence& evidence, std::string_view name) {
  for (const auto& one : judge_assumptions(evidence)) {
    if (one.name == name) {
      return one;
    }
  }
  throw std::out_of_range(std::string(name));
}

/// delta of every iteration as given by seed; accumulators of norm one.
inline Evidence with_delta(const std::vector<double>& by_seed) {
  return evidence(by_seed.size(), [&](auto, std::size_t seed, Row& row) {
    row.set(Column::delta, by_seed[seed]);
    row.set(Column::accumulator_norm_sq, 1);
  });
}

}  // namespace residuum::test
