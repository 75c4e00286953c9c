#pragma once
// Figures of what `residuum keep` has kept of a study, whose seeds may have been run on several
// machines, so that no result folder has them all.

#include <filesystem>
#include <string>
#include <vector>

#include "reports/analysis/statistics.h"
#include "reports/figures/figure.h"

namespace residuum::reports {

/// True for a folder of kept tables: it has a runs.csv and is no result folder.
bool is_kept_folder(const std::filesystem::path& folder);

struct KeptFigureChoice {
  std::string figure;              // loss, loss-bytes, accuracy, delta, end-workers, ...
  std::vector<std::string> where;  // KEY=VALUE
  IntervalKind kind = IntervalKind::quartiles;  // of the middles and bands over the seeds
};

/// Plans a figure with a curve for each method. Of methods that have a KEY of `where`, those with
/// one of its VALUEs are drawn, and all that lack the key. With * for VALUE, methods that differ in
/// the KEY alone are one curve. An unknown figure, key or value, a KEY that is the x axis, and two
/// values of one curve and seed at one place are usage errors.
FigureSpec plan_kept_figure(const std::filesystem::path& kept, const KeptFigureChoice& choice);

}  // namespace residuum::reports
