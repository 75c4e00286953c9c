#pragma once
// Delta against the number of workers shows where the gTop-k assumption ceases to hold, beside the
// prediction for independent Gaussian entries.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// The curve has delta of methods that differ only in P, in the order of P.
struct WorkersCurve {
  std::string label;
  struct Place {
    double workers = 0;
    const GroupSummary* group = nullptr;
    std::size_t number = 0;  // of the group in the summary
    const AssumptionVerdict* delta = nullptr;
  };
  std::vector<Place> places;
  std::optional<double> predicted;   // P* for independent Gaussian entries
  std::optional<double> holds_to;    // delta <= 1 for every measured P up to here
  std::optional<double> fails_from;  // delta > 1 at the next measured P
};

/// Returns the curves; empty unless the number of workers varies within the study and delta was
/// measured.
std::vector<WorkersCurve> delta_against_workers(const Summary& summary);

}  // namespace residuum::reports
