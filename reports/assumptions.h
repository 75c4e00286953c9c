#pragma once
// The analytic assumptions as judged for every method of a study: for summary.json, the report, the
// terminal and `--strict`; and delta against the number of workers beside its prediction.

#include <optional>
#include <string>
#include <vector>

#include "assumptions/verdicts/assumptions.h"
#include "reports/report_figures.h"
#include "reports/summary.h"

namespace residuum::reports {

/// Judges all assumptions for one method; fills `assumptions` and `prediction` of `summary`, whose
/// other parts are complete.
void judge_assumptions(const ResultFolder& folder, const Evidence& evidence, GroupSummary& summary);

/// {"gtopk": {"verdict", "value", ...}, ...}.
Json assumptions_json(const GroupSummary& group);
/// {"gaussian": {"delta", "largest_workers"}, "laplace": {...}}, null where nothing is predicted.
Json prediction_json(const GroupSummary& group);

/// "METHOD: assumption 'gtopk' fails: 1.22 [1.17, 1.27]" for each that fails.
std::vector<std::string> failed_assumptions(const Summary& summary);

/// For stdout: a word per assumption and method, with the certificate's slack and the theorems.
std::string verdict_lines(const Summary& summary, std::size_t methods);

/// For report.html: methods against assumptions, and what each assumption means.
std::string assumptions_table(const Summary& summary);
std::string assumptions_legend(const Summary& summary);

/// delta of methods that differ only in P, in the order of P.
struct WorkersCurve {
  std::string label;
  struct Place {
    double workers = 0;
    const GroupSummary* group = nullptr;
    const AssumptionVerdict* delta = nullptr;
  };
  std::vector<Place> places;
  std::optional<double> predicted;   // P* for independent Gaussian entries
  std::optional<double> holds_to;    // delta <= 1 for every measured P up to here
  std::optional<double> fails_from;  // delta > 1 at the next measured P
};

/// Empty unless the number of workers varies within the study and delta was measured.
std::vector<WorkersCurve> delta_against_workers(const Summary& summary);

Json to_json(const std::vector<WorkersCurve>& curves);
/// Table for the report; empty where there are no curves.
std::string workers_table(const std::vector<WorkersCurve>& curves);
std::vector<ReportFigure> plan_workers_figures(const std::vector<WorkersCurve>& curves);

}  // namespace residuum::reports
