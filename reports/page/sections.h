#pragma once
// The sections of the report's page. A function that returns HTML returns an empty text where the
// study has nothing for it; one that plans figures plans none.

#include <string>
#include <string_view>
#include <vector>

#include "reports/figures/heat_map.h"
#include "reports/figures/report_figures.h"
#include "reports/latex/table_spec.h"
#include "reports/page/figure_writer.h"
#include "reports/page/html.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

// Verdicts: which assumption held for which method, in every iteration and on average, how far it
// was from failing, and where.

/// A table with a row per method and a column per assumption. A cell has one colour: green where
/// nothing failed, red where the average failed, amber between; empty where nothing was measured.
std::string verdict_matrix(const Summary& summary);

/// A table with a row per method and assumption: both verdicts, the worst ratio and its place.
std::string verdict_places(const Summary& summary);

/// Returns a table of what each assumption means.
std::string assumptions_legend(const Summary& summary);

// Theorems: what each says of each method, with figures of the left sides and their bounds.

/// Returns a line per method: the certificate, the tightest bound, and what holds, fails and is
/// missing.
std::string theorem_overview(const Summary& summary);

/// Returns per method a folded table: verdict, both sides, slack, horizon, terms, and why there is
/// none.
std::string theorem_details(const Summary& summary);

/// Returns the bounds of the workers' residuals, of the methods that have one.
std::vector<MethodBound> residual_bounds(const Summary& summary);

/// Plans figures of the left sides over the run with the bounds that could be formed, of the first
/// methods.
std::vector<ReportFigure> plan_bound_figures(const Summary& summary);

// Tables of the methods and of the runs.

/// The cell names the method and says how many of its runs have diverged or not finished.
Cell method_cell(const GroupSummary& group);

/// The table gives per method conservation and the other invariants, the largest delta, q and lost
/// mass, and where each was worst.
std::string invariants_table(const Summary& summary);

/// The table gives per method where the seeds ended, with intervals of that kind.
std::string results_table(const Summary& summary, IntervalKind kind);

/// The table gives per method and invariant how often it was looked at, failures, and the worst
/// ratio.
std::string checks_table(const Summary& summary);

/// The table gives what each method does beside the plain algorithm; empty if none does anything.
std::string practice_table(const Summary& summary);

/// Returns a table with the full values of names that have a shortened one; empty if none has.
std::string names_table(const Summary& summary);

std::string runs_table(const Summary& summary);

/// The table gives what an object holds, one line per scalar, keys dotted.
std::string facts_table(const Json& object);

// Comparisons at equal cost, and rates.

/// Returns per objective a table of the methods with a column for each cost; empty where there is
/// nothing to compare.
std::string comparison_tables(const Summary& summary, IntervalKind kind);

/// Returns a line per method and key that varies; empty where nothing can be fitted.
std::string rates_table(const Summary& summary);

// How long each method would have taken on each network of the study.

/// Returns two tables per objective: the time until all methods are at the same f, and what the
/// time of a whole run goes to; empty where no run followed a network.
std::string network_tables(const Summary& summary);

// Predicted times: virtual seconds against the wall seconds of real runs.

/// Plans the figures of measured over predicted time along the runs, with the edges of the band;
/// none where no simulated run has a real one beside it. The kind is that of middles and bands over
/// the seeds.
std::vector<ReportFigure> plan_prediction_figures(const Summary& summary, IntervalKind kind);

// Phase diagrams: the results of a study that sweeps two keys, one table per quantity, its cells
// coloured by value.

/// The beginning of the names of the diagrams' figures.
inline constexpr std::string_view kHeatMaps = "phase-";

/// Plans the diagrams' figures, of the quantities that some method has a number of.
std::vector<HeatMap> plan_heat_maps(const Summary& summary);

/// Returns the diagrams of the two keys with the largest full grid, whose files the writer makes;
/// empty where no two keys were swept together.
std::string phase_diagrams(const Summary& summary, FigureWriter& writer);

// The looks of a search for the largest compression.

/// Returns the table of the looks so far, in their order; empty where the study is no search.
std::string search_table(const Summary& summary);

// The values that were tuned, and by what they were chosen.

/// Returns the chosen values, with warnings, figures and a table of all values that were tried;
/// empty if the study tunes nothing.
std::string tuning_html(const Summary& summary, FigureWriter& writer);
/// Plans a figure for each key with numbers, of the methods that have chosen.
std::vector<ReportFigure> plan_tuning_figures(const TunedStudy& study);

// Tables and figures over the number of workers.

/// Returns a table of the curves; empty where there are none.
std::string workers_table(const std::vector<WorkersCurve>& curves);
/// Plans their figures. The kind is that of middles and bands over the seeds.
std::vector<ReportFigure> plan_workers_figures(const std::vector<WorkersCurve>& curves,
                                               IntervalKind kind);

/// Plans figures of f at the end of the runs (less its minimum where that is known) against the
/// number of workers, with a curve for the methods that differ in it alone. A method has no point
/// where one of its seeds has come to no end. There are none unless the number of workers varies.
std::vector<ReportFigure> plan_end_figures(const Summary& summary, IntervalKind kind);

// Late gradients: how stale they were, and what waiting and bytes they took.

/// Returns a table with a row per method that counts its gradients, mean over its seeds; empty
/// where no method does.
std::string late_table(const Summary& summary);

/// Plans the figures of the gradients' staleness, read from the runs' staleness.csv; none where no
/// run has one. The kind is that of middles and bands over the seeds.
std::vector<ReportFigure> plan_staleness_figures(const Summary& summary, IntervalKind kind);

// The layers of the model, from the layers.csv of the runs.

/// Returns per method a table of its layers, over its seeds; empty where no run has measured
/// layers.
std::string layers_html(const Summary& summary);

// Histograms of the workers' accumulators, where probes.magnitudes_every counted them.

/// The first and the last histogram of every method, as shares of the entries against their
/// magnitude. The kind is that of middles and bands over the seeds.
std::vector<ReportFigure> plan_magnitude_figures(const Summary& summary, IntervalKind kind);

// The energy that the applied update captures, against the share of entries that is sent.

/// Plans the figure; none unless some methods differ in k alone. The kind is that of middles and
/// bands over the seeds.
std::vector<ReportFigure> plan_energy_figures(const Summary& summary, IntervalKind kind);

// Definitions of the numbers, how to read them, and where they come from.

/// Returns a definition list of the quantities in the tables and figures, as HTML.
std::string explanations();

/// Returns every column of iterations.csv with its meaning, as a table.
std::string column_reference();

/// Returns a number of a table with the digits that its interval leaves; the best one is bold.
Cell measured_cell(const std::optional<double>& value,
                   const std::optional<Interval>& interval,
                   bool is_best);

// Tables for papers, and links to their files.

/// Returns the tables whose names begin so, each with its caption above it; empty where there is
/// none.
std::string spec_tables(const std::vector<TableSpec>& specs, std::string_view name);

/// Returns links to the files of all tables; empty where there are none.
std::string table_links(const std::vector<TableSpec>& specs);

}  // namespace residuum::reports
