#pragma once
// A Summary has the results of a study: its numbers, and the verdicts of theorems and assumptions
// on each method. The report, the final table and summary.json are all made of it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/delta_prediction.h"
#include "assumptions/theorems/theorem.h"
#include "assumptions/verdicts/assumptions.h"
#include "reports/analysis/search_folder.h"
#include "reports/analysis/study_numbers.h"
#include "reports/analysis/tuning_folder.h"

namespace residuum::reports {

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
  Extreme worst;                // that iteration, of delta and q
};

/// The numbers of one method, and the verdicts on it.
struct GroupSummary : GroupNumbers {
  std::vector<AssumptionSummary> assumptions;  // all, in a fixed order
  DeltaPrediction gaussian;                    // of delta, if accumulators had independent entries
  DeltaPrediction laplace;
  std::vector<TheoremSummary> theorems;  // all registered ones, in their order
  std::optional<double> residual_bound;  // of the workers' residuals, mean |e^p|^2

  /// Returns nullptr for a name that is not registered.
  const TheoremSummary* theorem(std::string_view name) const;
  /// Returns the measured certificate that is about the method: with momentum, decay or clipping
  /// that of any update rule. Returns nullptr where no theorem was judged.
  const TheoremSummary* certificate() const;
  /// Returns the judged theorem of the smallest linear rate whose slack has both factors; nullptr
  /// where there is none.
  const TheoremSummary* linear_rate() const;
};

struct Summary : StudyNumbers {
  std::vector<GroupSummary> groups;
  std::optional<CriticalRatio> search;  // for the largest compression without significant loss
  std::optional<TunedStudy> tuning;     // of keys, by runs that no other number has
};

/// Returns the methods of a summary, in its order.
std::vector<Group> groups_of(const Summary& summary);

/// Puts together what the runs (in the order of `folder.runs`) left in their status and tables.
Summary make_summary(ResultFolder folder, const std::vector<RunMeasures>& measures);

/// Reads what the runs of a folder left in their tables, in the order of `folder.runs`.
std::vector<RunMeasures> measures_of(const ResultFolder& folder);

/// Reads what all runs of a folder left.
Summary summarise(ResultFolder folder);
Summary summarise(const std::filesystem::path& result_dir);

// Delta against the number of workers shows where the gTop-k assumption ceases to hold, beside the
// prediction for independent Gaussian entries.

/// The curve has delta of methods that differ only in P, in the order of P.
struct WorkersCurve {
  std::string label;
  struct Point {
    double workers = 0;
    const GroupSummary* group = nullptr;
    std::size_t number = 0;  // of the group in the summary
    const AssumptionVerdict* delta = nullptr;
  };
  std::vector<Point> points;
  std::optional<double> predicted;   // P* for independent Gaussian entries
  std::optional<double> holds_to;    // delta <= 1 for every measured P up to here
  std::optional<double> fails_from;  // delta > 1 at the next measured P
};

/// Returns the curves; empty unless the number of workers varies within the study and delta was
/// measured.
std::vector<WorkersCurve> delta_against_workers(const Summary& summary);

}  // namespace residuum::reports
