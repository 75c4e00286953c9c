#pragma once
// Predicted times are the virtual seconds of simulated runs. They are compared with the wall
// seconds of real runs that differ only in their execution and their measurements.

#include <cstddef>
#include <string>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/statistics.h"

namespace residuum::reports {

/// The largest distance from 1 at which a ratio of measured to predicted seconds is in the band.
inline constexpr double kPredictionBand = 0.1;

/// The seconds of all pairs of a method at one iteration, in the order of their seeds.
struct TimesAtIteration {
  double iteration = 0;
  std::vector<double> predicted_s;
  std::vector<double> measured_s;
};

/// The pairs of one method: a simulated and a real run of each seed that has both.
struct PredictedTime {
  std::string label;
  std::size_t predicted = 0;            // the group of the simulated runs
  std::size_t measured = 0;             // the group of the real runs
  std::vector<TimesAtIteration> times;  // at iterations that all these runs have rows of, rising
  std::vector<double> ratios;           // measured over predicted at the last of these

  /// True if the ratio of every seed is in the band.
  bool is_in_band() const;
};

/// Returns the methods of the folder that have pairs which finished, in the order of their real
/// runs.
std::vector<PredictedTime> hold_against_predictions(const ResultFolder& folder,
                                                    const std::vector<Group>& groups);

}  // namespace residuum::reports
