#pragma once
// Methods on one objective are compared at equal cost: equal iterations, equal bytes, equal
// modelled time, and equal samples where an iteration of one takes more of them than of another.
// The budget of iterations is the last iteration that every finished run has evaluated; the others
// are the most that every finished run has spent. A run's value is the last one evaluated within
// the budget, never an interpolated one, and what had been spent by then is told beside it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/statistics.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

/// Reached is the value that one method has reached. A run that diverged has reached nothing: its
/// value is infinite, so that it cannot make its method look better.
struct Reached {
  std::size_t group = 0;                 // position among the groups
  Spread value;                          // over the seeds; the lower the better
  std::optional<double> spent;           // cost when it was evaluated, mean over the seeds
  std::optional<double> bytes = {};      // spent by then, mean over the seeds
  std::vector<std::int64_t> seeds = {};  // of the values
  std::size_t missing = 0;               // seeds that have diverged, or have no value

  /// Returns whether every seed of the method has a value that is finite.
  bool is_whole() const;
};

/// All methods at one kind of cost.
struct Standing {
  std::string_view cost;  // iterations, bytes, modelled time or samples
  std::string_view unit;
  std::optional<double> budget;
  std::vector<Reached> methods;  // best mean first; those that reached nothing last
  std::string absent;            // why there is no budget
  /// The reason why none is best: the methods have taken different numbers of samples for this
  /// cost. Empty if they have not, and for costs that are compared as they are.
  std::string unequal = {};
};

struct Comparison {
  std::string objective;
  std::string_view quantity;  // loss_gap where every run knows it, else loss
  std::vector<Standing> standings;
};

/// A Difference says by how much a method's values exceed another's.
struct Difference {
  bool is_paired = false;            // over the seeds that both have, which are two or more
  std::vector<double> values;        // of the pairs; the mean alone where they are not paired
  std::optional<double> mean;        // infinite where the method alone has misses among the pairs
  std::optional<Interval> interval;  // 95 %, of the mean; absent where that is not finite
};

/// Runs of the same seed have the same random numbers where their configurations leave them so, and
/// much of their spread is common to both.
Difference difference_of(const Reached& method, const Reached& reference, IntervalKind kind);

/// Returns about how many seeds would decide which of the two is ahead (statistics.h), where their
/// common seeds have not; absent where they have, or where there is nothing to count by.
std::optional<double> seeds_to_decide(const Difference& difference);

/// Returns whether the first method of the standing is ahead of all others that have a value: the
/// interval of each paired difference lies above zero, or, without common seeds, the two intervals
/// do not overlap. All seeds of the first method must have reached the target. Of the others only
/// finite values count, since a miss would put them further behind; where too few are left for the
/// bootstrap, Student's interval is used, and a method without any is ignored. Never where samples
/// are unequal.
bool best_is_decided(const Standing& standing, IntervalKind kind);

/// Returns this rule as a sentence, by which tables in every form print a method bold.
std::string bold_words(IntervalKind kind);

/// Sorts by the mean, then by the median; methods without any come last.
void sort_best_first(std::vector<Reached>& methods);

/// One comparison per objective that at least two methods have worked on. `measures` are those of
/// `folder.runs`.
std::vector<Comparison> compare_methods(const ResultFolder& folder,
                                        const std::vector<Group>& groups,
                                        const std::vector<RunMeasures>& measures);

}  // namespace residuum::reports
