#pragma once
// A method spends something until f is at a target, for a scale of targets and every seed, as in
// COCO (Hansen et al. 2021). A run that never gets there has spent infinitely much: it is counted
// and never dropped, whether it ended, diverged or failed.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/series.h"

namespace residuum::reports {

inline constexpr std::size_t kTargets = 20;

/// TargetCosts are the costs of the runs of one method until their first evaluation at each target
/// or below it.
struct TargetCosts {
  std::size_t group = 0;
  std::vector<std::vector<double>> spent;  // by target, then by run; infinite: never
  double most = 0;                         // that a run has spent in all
};

/// A TargetComparison has the methods that worked on one objective, by one kind of cost.
struct TargetComparison {
  std::string objective;
  std::string_view quantity;  // loss_gap where every run knows it, else loss
  std::string_view cost;      // iterations, bytes or modelled time
  std::string_view unit;
  std::vector<double> targets;  // falling
  std::vector<TargetCosts> methods;
  /// The most that a run spent between two evaluations: the true time of reaching a target may be
  /// earlier by up to this much.
  double resolution = 0;

  /// Returns a sentence on the resolution.
  std::string resolution_words() const;
};

/// Returns whether a run is one of those: one that has not begun, or was cut, may yet get there.
bool counts_towards_targets(const Run& run);

/// Compares all methods of which a run ended, diverged or failed. The targets lead from the worst
/// to the best: below the first value of every run, down to the best value of any run (no further
/// than a factor 1e-8), in equal ratios for loss_gap and equal steps for loss. A cost that is not
/// known is left out.
std::vector<TargetComparison> costs_to_targets(const ResultFolder& folder,
                                               const std::vector<Group>& groups);

/// Returns the share of all pairs of run and target that are reached, against the cost: a stair
/// that rises at every cost of a target and ends where the longest run ended, as nothing is known
/// beyond.
std::vector<Point> share_reached(const TargetCosts& method);

}  // namespace residuum::reports
