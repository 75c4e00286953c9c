#pragma once
// The quantities that the report draws, in its order.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/columns.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/series.h"
#include "reports/analysis/targets.h"
#include "reports/figures/figure.h"

namespace residuum::reports {

/// The part of the page that a figure stands in.
enum class FigureSection { headline, assumptions, distributions };

struct DrawnQuantity {
  std::string_view name;
  Column column;
  std::string_view title;
  std::string_view y_label;
  std::string_view caption;
  double log_span;  // drawn on a logarithmic axis beyond this ratio of largest to least
  FigureSection section = FigureSection::headline;
  std::optional<Column> against = std::nullopt;  // one of kTotals; absent: the iteration
  bool only_if_positive = false;
  std::optional<double> reference = std::nullopt;
  std::string_view reference_label = {};
};

/// Returns the quantities in the page's order. Loss and loss gap exclude each other.
std::span<const DrawnQuantity> drawn_quantities();

// This file plans the figures of the report: the quantity, the axis, and the facets of the methods.

/// Further facets of a study are not drawn.
inline constexpr std::size_t kMostFacets = 8;

/// A LiveCurve is a curve that a reader of the page can enlarge and draw against another axis.
struct LiveCurve {
  Curve curve;  // without points
  LiveSeries series;
};

struct ReportFigure {
  std::string title;
  std::string caption;
  FigureSpec spec;
  FigureSection section = FigureSection::assumptions;
  std::vector<LiveCurve> live;  // empty where the figure has one axis only
  std::string variant_of;       // the figure that has the same curves against the iteration
};

struct ReportFigures {
  std::vector<ReportFigure> figures;
  std::size_t groups_left_out = 0;  // methods beyond what a page can show
};

/// A MethodBound is a number that theory allows a column of one method at most, in every iteration.
struct MethodBound {
  std::size_t group = 0;
  Column column{};
  double value = 0;
  std::string formula;
  std::string_view caption;  // what it says of the figure that it is in
};

/// The kind is that of the middles and bands over the seeds. Bounds are drawn where their methods
/// are, against the iteration.
ReportFigures plan_figures(const ResultFolder& folder,
                           const std::vector<Group>& groups,
                           IntervalKind kind = IntervalKind::quartiles,
                           const std::vector<MethodBound>& bounds = {});

/// Returns the names of the quantities that can be drawn against the iteration, because a method
/// has values of them.
std::vector<std::string> quantities_with_values(const ResultFolder& folder,
                                                const std::vector<Group>& groups);

/// Plans one figure of a quantity with these methods, against what the quantity says. The methods
/// come in the order of `chosen`, places in `groups`; each has the style that the report gives it.
/// Methods without the quantity, or without what it is drawn against, have no curve.
ReportFigure plan_figure(const ResultFolder& folder,
                         const std::vector<Group>& groups,
                         const std::vector<std::size_t>& chosen,
                         const DrawnQuantity& quantity,
                         IntervalKind kind = IntervalKind::quartiles,
                         const std::vector<MethodBound>& bounds = {});

// This file plans the figures of the shares of targets that methods reach.

/// Plans one figure for each cost, objective and facet of the study: ecdf-bytes, ecdf-iterations,
/// ecdf-time, and with a number from the second of its kind on.
std::vector<ReportFigure> plan_target_figures(const ResultFolder& folder,
                                              const std::vector<Group>& groups,
                                              const std::vector<TargetComparison>& comparisons);

}  // namespace residuum::reports
