#pragma once
// A FigureChoice says which one of a study's figures is drawn for a paper or a talk, with which
// methods and against what.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/columns.h"
#include "reports/analysis/statistics.h"
#include "reports/figures/figure.h"
#include "reports/figures/heat_map.h"
#include "reports/figures/report_figures.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

struct FigureChoice {
  std::string quantity;              // "loss-gap", or the name of a figure of the report
  std::optional<std::string> by;     // what it is drawn against; absent: the iteration
  std::vector<std::string> methods;  // lists of labels, parted by commas; empty: all methods
  IntervalKind kind = IntervalKind::quartiles;  // of the middles and bands over the seeds
};

/// A FigureAxis is an axis against which a quantity can be drawn.
struct FigureAxis {
  std::string_view name;
  std::optional<Column> column;  // one of kTotals; absent: the iteration
};

/// Returns the axes by their names: iterations, bytes, time, gradients, epochs.
const std::vector<FigureAxis>& figure_axes();

/// Returns the labels that a list names, in its order. A label may have commas in it: of the words
/// between commas as many as possible make one label. An unknown one is a usage error with a
/// suggestion.
std::vector<std::string> labels_in(std::string_view list, const std::vector<std::string>& known);

/// Plans the chosen figure; "loss-gap-time" is "loss-gap" by time. An unknown quantity, axis or
/// method, and a figure without any curve, are usage errors that say what there is.
ReportFigure plan_chosen_figure(const ResultFolder& folder, const FigureChoice& wished);

/// Returns whether a heat map may have this name.
bool may_be_map(std::string_view quantity);

/// Returns the heat map of the report that has the quantity's name; nothing where none has. A map
/// is of all methods against axes of its own: choosing some, or an axis, is a usage error.
std::optional<HeatMap> plan_chosen_map(const ResultFolder& folder, const FigureChoice& choice);

/// Returns the chosen methods of which the planned figure has no point on its axes; none of a
/// figure whose curves are not of methods, or which is of one method alone.
std::vector<std::string> methods_not_drawn(const ResultFolder& folder,
                                           const FigureChoice& choice,
                                           const FigureSpec& spec);

/// Returns the words that are cut in the names of the figure's curves.
std::vector<CutWord> cut_words_in(const ResultFolder& folder, const FigureSpec& spec);

/// True for a folder of kept tables: it has a runs.csv and is no result folder.
bool is_kept_folder(const std::filesystem::path& folder);

/// A figure of what `residuum keep` has kept of a study, whose seeds may have been run on several
/// machines, so that no result folder has them all.
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
