#pragma once
// StudyNumbers are the results of a study: the ends of its runs, the checks of their invariants,
// and the numbers of every method over its seeds. Nothing is judged here.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record/columns.h"
#include "reports/analysis/comparison.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/predicted_times.h"
#include "reports/analysis/statistics.h"
#include "reports/analysis/targets.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

// The seconds that each method would have taken on each network that its runs followed: until f
// reached a target, and in all. They are read from the runs' networks.csv.

/// The parts of a run's time, in the order of networks.csv.
inline constexpr std::array<std::string_view, 4> kTimeParts{
    "compute_s", "select_s", "merge_s", "wire_s"};

/// The times of one method on one network. A run that diverged before the target has spent
/// infinitely much until there; it is none of the whole runs.
struct NetworkTime {
  std::size_t group = 0;
  std::string network;
  Spread to_target;                             // seconds until f was at the target
  Spread total;                                 // seconds of the whole run
  std::array<Spread, kTimeParts.size()> parts;  // of the total
  std::vector<std::int64_t> seeds = {};         // of to_target
  std::size_t missing = 0;  // seeds that have diverged, or no time that is known
  bool is_fastest = false;  // to the target, and its lead over every other method is decided
};

/// One objective: every finished run of its methods has reached the target.
struct NetworkComparison {
  std::string objective;
  std::string_view quantity;  // loss_gap where every run knows it, else loss
  double target = 0;          // the best that the worst run has reached
  std::vector<std::string> networks;
  std::vector<NetworkTime> times;  // of each group with runs on networks, on each of these
};

/// Compares the methods whose runs followed networks; empty where none did. A run is at the target
/// at the first iteration at which it was evaluated there.
std::vector<NetworkComparison> compare_on_networks(const ResultFolder& folder,
                                                   const std::vector<Group>& groups);

// A rate tells how X_T, the mean of |grad f(w_t)|^2, falls with the iterations or with the workers.
// A line of log X_T against the logarithm of the varied quantity is fitted to every seed. The
// slopes of the seeds are independent, so they have a confidence interval. Theory says -1/2 for
// both if noise dominates.

/// Returns the slope of the least-squares line of log y against log x. Absent for fewer than two
/// different x, or where a number is not positive and finite.
std::optional<double> log_log_slope(const std::vector<double>& x, const std::vector<double>& y);

/// One method at several values of one key.
struct Rate {
  std::string_view key;     // budget.iterations or workers.count
  std::string label;        // the method, without the key
  std::vector<double> x;    // the values of the key, rising
  Spread slope;             // over the seeds that have finished at all of them
  std::size_t unended = 0;  // seeds that diverged, failed or were cut at one of them
};

/// Fits every method that has at least two groups which differ only in the key.
std::vector<Rate> fit_rates(const ResultFolder& folder, const std::vector<Group>& groups);

/// Returns in words which seeds a rate is not of, and why it has no interval, or why there is no
/// rate; empty where nothing is to be said.
std::string note_on(const Rate& rate);

/// The largest value over some runs and where it was seen.
struct Extreme {
  std::optional<double> value;
  std::string run_id;
  std::uint64_t iteration = 0;
};

/// One invariant over some runs. `expected` is false where the method is known to violate it.
struct CheckNumbers {
  std::string name;
  bool holds = true;
  bool expected = true;
  std::uint64_t n = 0;
  std::uint64_t failures = 0;
  std::uint64_t unexpected_failures = 0;
  Extreme worst;  // of lhs / rhs
};

/// A BoundSummary says how often a measured quantity stayed within its bound, over the seeds of a
/// method.
struct BoundSummary {
  std::size_t n = 0;
  std::size_t held = 0;
  Extreme worst;
  std::optional<double> median;  // over the runs, of their medians over the iterations

  /// The fraction of the measured iterations in which the bound held.
  std::optional<double> fraction() const;
};

/// The numbers of one method.
struct GroupNumbers {
  Group group;
  std::size_t finished = 0;
  std::size_t diverged = 0;
  std::vector<CheckNumbers> checks;
  BoundSummary delta;
  BoundSummary contraction;
  Extreme lost_mass;
  Extreme conservation_defect;
  /// One value a seed: of the finished runs, and where it is an end, the miss of those that
  /// diverged.
  std::vector<std::pair<std::string, Spread>> metrics;

  /// Returns "2 of 6 diverged, 1 of 6 not finished"; empty where all runs have finished.
  std::string misses() const;
  /// Returns nullptr for what has no value.
  const Spread* metric(std::string_view name) const;
  const CheckNumbers* check(std::string_view name) const;
};

/// A single run is judged by pathwise invariants alone; its measures stand beside.
struct RunVerdict {
  std::string run_id;
  bool measured = false;     // it has tables
  bool invariants = true;    // all invariants that must hold do
  std::string failed_check;  // the first check that does not hold
  BoundMeasure delta;
  BoundMeasure contraction;
  std::vector<EpochDelta> epochs;
};

/// The wall time of all finished runs, and the time that a row of every iteration would add.
struct RunningTime {
  double wall_s = 0;
  double more_rows_s = 0;  // 0 where times are left out
  std::size_t runs = 0;
};

struct StudyNumbers {
  ResultFolder folder;
  std::vector<RunVerdict> runs;  // as in `folder.runs`
  std::vector<CheckNumbers> checks;
  std::map<std::string, std::size_t> states;  // finished, diverged, ... -> runs
  std::vector<Comparison> comparisons;
  std::vector<TargetComparison> targets;
  std::vector<NetworkComparison> on_networks;
  std::vector<PredictedTime> predictions;
  std::vector<Rate> rates;
  RunningTime time;

  /// Returns whether every invariant holds in every run of a method that is not known to violate
  /// it.
  bool invariants_hold() const;
};

/// The quantities of status.json that are one number per run, by their dotted path.
struct Metric {
  std::string_view name;
  std::string_view path;
  std::string_view meaning;
  /// A quantity of a run's end is as bad as can be where the run diverged.
  std::optional<double> of_diverged = std::nullopt;
};
const std::vector<Metric>& run_metrics();

/// Returns the metric of a run that has finished or diverged; absent where there is none.
std::optional<double> value_of(const Run& run, const Metric& metric);

/// Returns where the metric ended in the runs of a group, which has this place among the groups.
Reached end_of(const ResultFolder& folder,
               const Group& group,
               std::size_t place,
               const Metric& metric);

GroupNumbers numbers_of(const ResultFolder& folder,
                        const Group& group,
                        const std::vector<RunMeasures>& measures);

/// Computes the numbers of all runs; `measures` are in the order of `folder.runs`.
StudyNumbers numbers_of(ResultFolder folder,
                        const std::vector<Group>& groups,
                        const std::vector<RunMeasures>& measures);

}  // namespace residuum::reports
