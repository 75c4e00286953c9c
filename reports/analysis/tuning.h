#pragma once
// Tuning chooses for one method the values of some keys, by runs on seeds of their own:
//
// - Every value (with several keys, every combination) runs on each tuning seed. A value is judged
//   by the mean of a quantity over these seeds.
// - A run that diverged, ended at no number or missed its target is worse than any number. The
//   best value is that with the fewest such runs, then that with the best mean of the others. Of
//   equal ones it is the smaller value; of values that are no numbers, that which was listed first.
// - The best value is at an edge where no value beyond it was tried. With extension, values beyond
//   that edge run, and the choice is made anew, until it lies inside or no values are left.
//
// With successive halving (Jamieson, Talwalkar, AISTATS 2016) all values first run for a part of
// the budget, and the best 1/eta of them, rounded up, go on to a budget eta times as large; the
// last round has the whole one and at most eta values. It costs less, and may leave out a value
// that would have been best in the end. How many were left out is said, and how
// many of these were not significantly worse than one that stayed.
//
// A choice by noisy runs favours values that were lucky, so that the mean at the best value is
// biased: the reported runs of a method are on other seeds.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "reports/results/files.h"

namespace residuum::reports {

/// A TuningAxis is a key with its values: those of the grid, and beyond them those of an extension.
struct TuningAxis {
  std::string key;
  std::vector<Json> values;     // ascending if they are ordered
  std::vector<double> numbers;  // of ordered values, such as 0.5 of "0.5/L"; else empty
  std::size_t first = 0;        // of the grid
  std::size_t last = 0;         // of the grid

  bool is_ordered() const { return !numbers.empty(); }
};

/// A level is one combination of values; the last axis changes fastest.
inline constexpr std::size_t kMostHalving = 16;

struct TuningPlan {
  std::vector<TuningAxis> axes;  // at least one
  std::string quantity;          // loss, loss-gap, accuracy, iterations, bytes or time
  std::string target_of = {};    // of iterations, bytes and time: loss, loss-gap or accuracy
  std::optional<double> target = std::nullopt;
  std::vector<std::uint64_t> seeds;  // at least one
  bool extends = false;
  std::size_t halving = 0;  // eta; 0: every value has the whole budget

  bool higher_is_better() const { return quantity == "accuracy"; }
  std::size_t levels() const;
  std::size_t grid_levels() const;  // without those of an extension
  /// A trial is a level in a round: of the levels, those of the first round come first.
  std::size_t rounds() const;                 // 1 without halving
  std::size_t kept(std::size_t round) const;  // levels that run in a round
  double share(std::size_t round) const;      // of the budget
  std::size_t trials() const { return rounds() * levels(); }
  std::size_t trial(std::size_t round, std::size_t level) const { return round * levels() + level; }
  std::size_t level_of(std::size_t trial) const { return trial % levels(); }
  std::size_t round_of(std::size_t trial) const { return trial / levels(); }
  /// Returns for each axis which of its values a level has, and the level that has these.
  std::vector<std::size_t> places_of(std::size_t level) const;
  std::size_t level_at(const std::vector<std::size_t>& places) const;
  /// Returns "step.value = 0.1", with a part for each key.
  std::string name(std::size_t level) const;
};

/// A TuningEnd says how a tuning run ended, if it has.
struct TuningEnd {
  enum class Kind { missing, failed, unmeasured, worst, value };
  Kind kind = Kind::missing;
  double value = 0;  // finite
};

using TuningEnds = std::function<TuningEnd(std::size_t trial, std::size_t seed)>;
/// Returns false for a level beyond the grid that cannot be run, such as a density above 1.
using LevelExists = std::function<bool(std::size_t level)>;

struct TunedLevel {
  std::size_t level = 0;
  std::size_t round = 0;
  std::size_t worst = 0;                            // runs that are worse than any number
  std::vector<double> values = {};                  // of the others
  std::optional<double> mean = std::nullopt;        // of `values`
  std::optional<Interval> interval = std::nullopt;  // 95 %, Student; only where no run is worst
};

/// An edge of the tried values, at which the best value lies.
struct TuningEdge {
  std::size_t axis = 0;
  bool is_upper = false;
};

struct TuningResult {
  std::vector<std::size_t> needed;  // trials whose runs are needed so far, missing ones too
  std::vector<TunedLevel> levels;   // those of them whose runs have all ended
  bool is_over = false;
  std::string trouble;  // why it cannot go on
  std::optional<TunedLevel> best;
  std::vector<TuningEdge> edges;
  std::vector<std::size_t> low;  // the first and last value of each axis that was tried
  std::vector<std::size_t> high;
  std::size_t left_out = 0;   // levels that halving left out
  std::size_t undecided = 0;  // of these, not significantly worse than one that stayed (95 %)
};

/// Makes the choice of one method anew from the grid on, until a run that it needs is missing.
TuningResult follow_tuning(const TuningPlan& plan,
                           const LevelExists& exists,
                           const TuningEnds& ends);

/// Returns whether the first level is better, by the rule above.
bool is_better(const TuningPlan& plan, const TunedLevel& one, const TunedLevel& other);

}  // namespace residuum::reports
