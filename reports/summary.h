#pragma once
// What a study comes to: how its runs ended, what every check and assumption says of each method,
// and the numbers over the seeds. The report, the final table and summary.json are all made of it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/delta_prediction.h"
#include "assumptions/theorems/theorem.h"
#include "assumptions/verdicts/assumptions.h"
#include "reports/comparison.h"
#include "reports/groups.h"
#include "reports/measures.h"
#include "reports/rates.h"
#include "reports/result_folder.h"
#include "reports/statistics.h"

namespace residuum::reports {

/// The largest value over some runs and where it was seen.
struct Place {
  std::optional<double> value;
  std::string run_id;
  std::uint64_t iteration = 0;
};

/// One invariant over some runs. `expected` is false where the method is known to violate it.
struct CheckSummary {
  std::string name;
  bool holds = true;
  bool expected = true;
  std::uint64_t n = 0;
  std::uint64_t failures = 0;
  std::uint64_t unexpected_failures = 0;
  Place worst;  // of lhs / rhs
};

/// How often a measured quantity stayed within its bound, over the seeds of a method.
struct BoundSummary {
  std::size_t n = 0;
  std::size_t held = 0;
  Place worst;
  std::optional<double> median;  // over the runs, of their medians over the iterations

  /// The fraction of the measured iterations in which the bound held.
  std::optional<double> fraction() const;
};

/// One theorem's judgement of a method.
struct TheoremSummary {
  const Theorem* theorem = nullptr;  // a registered one
  Bound bound;
};

/// One assumption's judgement of a method.
struct AssumptionSummary {
  AssumptionVerdict verdict;
  std::string worst_run;        // of the seeds' ratios: its run_id
  std::string worst_every_run;  // of the worst single iteration
  Place worst;                  // that iteration, of delta and q
};

struct GroupSummary {
  Group group;
  std::size_t finished = 0;
  std::size_t diverged = 0;
  std::vector<CheckSummary> checks;
  BoundSummary delta;
  BoundSummary contraction;
  Place lost_mass;
  Place conservation_defect;
  std::vector<std::pair<std::string, Spread>> metrics;  // of the finished runs, one value a seed

  std::vector<AssumptionSummary> assumptions;  // all, in a fixed order
  DeltaPrediction gaussian;                    // of delta, if accumulators had independent entries
  DeltaPrediction laplace;
  std::vector<TheoremSummary> theorems;  // all registered ones, in their order

  /// Nullptr for what was not measured in any finished run.
  const Spread* metric(std::string_view name) const;
  const CheckSummary* check(std::string_view name) const;
  /// Nullptr for a name that is not registered.
  const TheoremSummary* theorem(std::string_view name) const;
  /// The measured certificate that is about the method: with momentum, decay or clipping that of
  /// any update rule. Nullptr where no theorem was judged.
  const TheoremSummary* certificate() const;
};

/// A single run is judged by pathwise invariants alone; its measures stand beside.
struct RunVerdict {
  std::string run_id;
  bool measured = false;     // it has tables
  bool invariants = true;    // that must hold, do
  std::string failed_check;  // the first that does not
  BoundMeasure delta;
  BoundMeasure contraction;
  std::vector<EpochDelta> epochs;
};

struct Summary {
  ResultFolder folder;
  std::vector<RunVerdict> runs;  // as in `folder.runs`
  std::vector<GroupSummary> groups;
  std::vector<CheckSummary> checks;
  std::map<std::string, std::size_t> states;  // finished, diverged, ... -> runs
  std::vector<Comparison> comparisons;
  std::vector<Rate> rates;

  /// Whether every invariant holds in every run of a method that is not known to violate it.
  bool invariants_hold() const;
};

/// The quantities of status.json that are one number per run, by their dotted path.
struct Metric {
  std::string_view name;
  std::string_view path;
  std::string_view meaning;
};
const std::vector<Metric>& run_metrics();

/// Puts together what the runs (in the order of `folder.runs`) left in their status and tables.
Summary make_summary(ResultFolder folder, const std::vector<RunMeasures>& measures);

/// Reads all of a result folder's runs.
Summary summarise(const std::filesystem::path& result_dir);

/// summary.json.
Json to_json(const Summary& summary);

/// {"n", "median", "lower_quartile", "upper_quartile", "mean", "interval"}; what is undefined null.
Json to_json(const Spread& spread);

}  // namespace residuum::reports
