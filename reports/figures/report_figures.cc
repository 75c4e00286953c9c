#include "reports/figures/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reports/analysis/series.h"
#include "reports/figures/drawn_quantities.h"

namespace residuum::reports {
namespace {

/// Data holds the columns that are read, and for each method the series in the same order.
struct Data {
  std::vector<Column> columns;
  std::map<std::size_t, std::vector<GroupSeries>> series;  // by group

  const GroupSeries& of(std::size_t group, Column column) const {
    const auto place = std::find(columns.begin(), columns.end(), column) - columns.begin();
    return series.at(group).at(static_cast<std::size_t>(place));
  }
};

/// Returns the columns of all quantities, each once.
std::vector<Column> drawn_columns() {
  std::vector<Column> columns;
  for (const auto& quantity : drawn_quantities()) {
    if (std::find(columns.begin(), columns.end(), quantity.column) == columns.end()) {
      columns.push_back(quantity.column);
    }
  }
  return columns;
}

Data read_data(const ResultFolder& folder,
               const std::vector<Group>& groups,
               const std::vector<Facet>& facets,
               std::vector<Column> columns,
               IntervalKind kind,
               GradientAxis axis = GradientAxis::beside_late_runs) {
  Data data;
  data.columns = std::move(columns);
  for (const auto& facet : facets) {
    for (const std::size_t group : facet.groups) {
      data.series[group] = read_series(folder, groups[group], data.columns, kind, axis);
    }
  }
  return data;
}

bool is_positive(const Point& point) {
  return point.upper.value_or(0) > 0 || point.middle.value_or(0) > 0;
}

bool any_positive(const Data& data, Column column) {
  return std::any_of(data.series.begin(), data.series.end(), [&](const auto& entry) {
    const auto& points = data.of(entry.first, column).by_iteration;
    return std::any_of(points.begin(), points.end(), is_positive);
  });
}

/// Returns whether every method that has a loss also has a loss gap.
bool gap_is_known(const Data& data) {
  return std::all_of(data.series.begin(), data.series.end(), [&](const auto& entry) {
    return data.of(entry.first, Column::loss).by_iteration.empty() ||
           !data.of(entry.first, Column::loss_gap).by_iteration.empty();
  });
}

bool is_wanted(const DrawnQuantity& quantity, const Data& data, bool gap_known) {
  if (quantity.column == Column::loss_gap) {
    return gap_known;
  }
  if (quantity.column == Column::loss) {
    return !gap_known;
  }
  return !quantity.only_if_positive || any_positive(data, quantity.column);
}

/// The x axis of a figure.
struct DrawnAxis {
  std::string_view label;
  Scale scale;
};

DrawnAxis axis_of(const DrawnQuantity& quantity) {
  if (quantity.against == Column::total_sent_bytes) {
    return {.label = "bytes sent", .scale = Scale::log};
  }
  if (quantity.against == Column::total_contributions) {
    return {.label = "gradients", .scale = Scale::linear};
  }
  if (quantity.against == Column::epoch) {
    return {.label = "passes over the data", .scale = Scale::linear};
  }
  if (quantity.against == Column::wall_s) {
    return {.label = "wall time, s", .scale = Scale::linear};
  }
  return quantity.against ? DrawnAxis{.label = "virtual time, s", .scale = Scale::linear}
                          : DrawnAxis{.label = "iteration", .scale = Scale::linear};
}

/// Returns the points that have a place on the quantity's x axis.
std::vector<Point> points_of(const DrawnQuantity& quantity, const GroupSeries& series) {
  auto points = quantity.against ? series.against(*quantity.against) : series.by_iteration;
  if (axis_of(quantity).scale == Scale::log) {  // what stands at nothing sent is in the caption
    points.erase(std::remove_if(
                     points.begin(), points.end(), [](const Point& point) { return point.x <= 0; }),
                 points.end());
  }
  return points;
}

std::vector<Curve> curves_of(const DrawnQuantity& quantity,
                             const std::vector<Group>& groups,
                             const Facet& facet,
                             const Data& data) {
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < facet.groups.size(); ++i) {
    const GroupSeries& series = data.of(facet.groups[i], quantity.column);
    const auto points = points_of(quantity, series);
    const bool is_zero =
        quantity.only_if_positive && std::none_of(points.begin(), points.end(), is_positive);
    if (!points.empty() && !is_zero) {
      curves.push_back({.label = groups[facet.groups[i]].label,
                        .style = facet.styles[i],
                        .points = points,
                        .group = facet.groups[i]});
    }
  }
  return curves;
}

std::size_t stride_of(const DrawnQuantity& quantity, const Facet& facet, const Data& data) {
  std::size_t stride = 1;
  for (const std::size_t group : facet.groups) {
    stride = std::max(stride, data.of(group, quantity.column).stride);
  }
  return stride;
}

std::string caption_of(const DrawnQuantity& quantity, std::size_t stride) {
  std::string caption(quantity.caption);
  if (axis_of(quantity).scale == Scale::log) {
    caption += " What was measured before any byte was sent has no place on the logarithmic axis.";
  }
  if (stride > 1) {
    caption += fmt::format(" At least one in {} values is drawn.", stride);
  }
  return caption;
}

/// Puts all points at one height.
void lay_flat(std::vector<Point>& points, double height) {
  for (auto& point : points) {
    point = {
        .x = point.x, .middle = height, .lower = std::nullopt, .upper = std::nullopt, .n = point.n};
  }
}

/// Returns what the page needs to draw the curves against any axis; nothing where another figure
/// has it.
std::vector<LiveCurve> live_curves(const DrawnQuantity& quantity,
                                   const std::vector<Curve>& curves,
                                   const Data& data) {
  std::vector<LiveCurve> live;
  for (const auto& curve : curves) {
    if (!quantity.against && curve.group) {
      live.push_back({.curve = curve, .series = data.of(*curve.group, quantity.column).live});
      if (curve.is_bound) {
        lay_flat(live.back().series.points, curve.points.front().middle.value_or(0));
        live.back().series.seeds.clear();
      }
      live.back().curve.points.clear();
    }
  }
  return live;
}

/// Adds the bounds of the methods that are drawn, as flat curves over the same places, and returns
/// what they say in the caption.
std::string_view add_bounds(const std::vector<MethodBound>& bounds,
                            const DrawnQuantity& quantity,
                            std::vector<Curve>& curves) {
  const std::size_t methods = curves.size();
  std::string_view caption;
  for (std::size_t i = 0; i < methods && !quantity.against; ++i) {
    const auto bound = std::find_if(bounds.begin(), bounds.end(), [&](const MethodBound& one) {
      return one.column == quantity.column && curves[i].group == one.group;
    });
    if (bound == bounds.end()) {
      continue;
    }
    Curve curve = curves[i];
    curve.label = fmt::format("{}, {}", bound->formula, curves[i].label);
    curve.is_bound = true;
    lay_flat(curve.points, bound->value);
    curves.push_back(std::move(curve));
    caption = bound->caption;
  }
  return caption;
}

/// Returns the share 1 - k/d that a contraction leaves at most, where all methods that compress
/// have the same.
std::optional<Reference> contraction_reference(const std::vector<Group>& groups,
                                               const ResultFolder& folder,
                                               const Facet& facet) {
  std::optional<double> share;
  for (const std::size_t group : facet.groups) {
    const Run& run = folder.runs[groups[group].runs.front()];
    if (run.facts.sends_everything) {
      continue;
    }
    const auto k = number_at(run.status, "k");
    const auto d = number_at(run.status, "dimension");
    const auto one = k && d && *d > 0 ? std::optional(1 - *k / *d) : std::nullopt;
    if (!one || (share && *share != *one)) {
      return std::nullopt;
    }
    share = one;
  }
  if (!share) {
    return std::nullopt;
  }
  return Reference{.y = *share, .label = fmt::format("1 − k/d = {:.4g}", *share)};
}

/// Returns what the bands are: of the runs that are left, where some have diverged.
std::string band_words(const ResultFolder& folder,
                       const std::vector<Group>& groups,
                       const Facet& facet,
                       IntervalKind kind) {
  const bool any_diverged =
      std::any_of(facet.groups.begin(), facet.groups.end(), [&](std::size_t group) {
        const auto& runs = groups[group].runs;
        return std::any_of(runs.begin(), runs.end(), [&](std::size_t run) {
          return folder.runs[run].state == "diverged";
        });
      });
  return fmt::format("{}{}",
                     interval_words(kind),
                     any_diverged ? " of the runs that have not diverged by then," : "");
}

ReportFigure make_figure(const DrawnQuantity& quantity,
                         const Facet& facet,
                         std::size_t number,
                         std::vector<Curve> curves,
                         Scale y_scale,
                         std::size_t stride) {
  ReportFigure figure;
  figure.section = quantity.section;
  if (quantity.against) {
    figure.variant_of = std::string(quantity.column == Column::loss ? "loss" : "loss-gap") +
                        (number == 0 ? "" : fmt::format("-{}", number + 1));
  }
  figure.title = std::string(quantity.title);
  if (!facet.title.empty()) {
    figure.title += " — " + facet.title;
  }
  figure.caption = caption_of(quantity, stride);
  figure.spec.name =
      number == 0 ? std::string(quantity.name) : fmt::format("{}-{}", quantity.name, number + 1);
  const DrawnAxis axis = axis_of(quantity);
  figure.spec.x_label = std::string(axis.label);
  figure.spec.y_label = std::string(quantity.y_label);
  figure.spec.x_scale = axis.scale;
  figure.spec.y_scale = y_scale;
  if (quantity.reference) {
    figure.spec.reference =
        Reference{.y = *quantity.reference, .label = std::string(quantity.reference_label)};
  }
  figure.spec.curves = std::move(curves);
  return figure;
}

/// Returns the scale of the values. A quantity that is compared with a reference matters near it
/// and above: a start far below is no reason for a logarithmic axis.
Scale scale_of(const DrawnQuantity& quantity, std::vector<Curve> curves) {
  for (Curve& curve : curves) {
    for (Point& point : curve.points) {
      if (quantity.reference && point.middle) {
        point.middle = std::max(*point.middle, *quantity.reference);
      }
    }
  }
  return scale_for(curves, quantity.log_span);
}

/// Adds the figures of a quantity, one for each facet. They stand side by side to be compared, so
/// that their values have one scale.
void plan_quantity(const DrawnQuantity& quantity,
                   const ResultFolder& folder,
                   const std::vector<Group>& groups,
                   const std::vector<Facet>& facets,
                   const Data& data,
                   IntervalKind kind,
                   const std::vector<MethodBound>& bounds,
                   std::vector<ReportFigure>& figures) {
  std::vector<std::vector<Curve>> of_facets;
  std::vector<std::string_view> notes;
  std::vector<Curve> all;
  for (const auto& facet : facets) {
    auto curves = curves_of(quantity, groups, facet, data);
    notes.push_back(add_bounds(bounds, quantity, curves));
    all.insert(all.end(), curves.begin(), curves.end());
    of_facets.push_back(std::move(curves));
  }
  const Scale scale = scale_of(quantity, std::move(all));
  for (std::size_t i = 0; i < facets.size(); ++i) {
    if (of_facets[i].empty()) {
      continue;
    }
    const std::size_t stride = stride_of(quantity, facets[i], data);
    auto live = live_curves(quantity, of_facets[i], data);
    figures.push_back(make_figure(quantity, facets[i], i, std::move(of_facets[i]), scale, stride));
    figures.back().live = std::move(live);
    figures.back().caption += notes[i];
    figures.back().spec.band = band_words(folder, groups, facets[i], kind);
    if (quantity.column == Column::contraction) {
      figures.back().spec.reference = contraction_reference(groups, folder, facets[i]);
    }
  }
}

}  // namespace

ReportFigures plan_figures(const ResultFolder& folder,
                           const std::vector<Group>& groups,
                           IntervalKind kind,
                           const std::vector<MethodBound>& bounds) {
  std::vector<Facet> facets = split_into_facets(folder, groups);
  ReportFigures plan;
  while (facets.size() > kMostFacets) {
    plan.groups_left_out += facets.back().groups.size();
    facets.pop_back();
  }
  const Data data = read_data(folder, groups, facets, drawn_columns(), kind);
  const bool gap_known = gap_is_known(data);
  for (const auto& quantity : drawn_quantities()) {
    if (is_wanted(quantity, data, gap_known)) {
      plan_quantity(quantity, folder, groups, facets, data, kind, bounds, plan.figures);
    }
  }
  return plan;
}

std::vector<std::string> quantities_with_values(const ResultFolder& folder,
                                                const std::vector<Group>& groups) {
  Facet all{.title = {}, .groups = {}, .styles = {}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    all.groups.push_back(i);
  }
  const Data data = read_data(folder, groups, {all}, drawn_columns(), IntervalKind::quartiles);
  std::vector<std::string> names;
  for (const auto& quantity : drawn_quantities()) {
    const bool has_values =
        std::any_of(all.groups.begin(), all.groups.end(), [&](std::size_t group) {
          return !data.of(group, quantity.column).by_iteration.empty();
        });
    const bool may_be_zero = !quantity.only_if_positive;
    if (!quantity.against && has_values && (may_be_zero || any_positive(data, quantity.column))) {
      names.emplace_back(quantity.name);
    }
  }
  return names;
}

ReportFigure plan_figure(const ResultFolder& folder,
                         const std::vector<Group>& groups,
                         const std::vector<std::size_t>& chosen,
                         const DrawnQuantity& quantity,
                         IntervalKind kind,
                         const std::vector<MethodBound>& bounds) {
  const auto styles = method_styles(folder, groups);
  Facet facet{.title = {}, .groups = chosen, .styles = {}};
  for (const std::size_t group : chosen) {
    facet.styles.push_back(styles.at(group));
  }
  const std::set<std::size_t> different(facet.styles.begin(), facet.styles.end());
  if (different.size() < chosen.size()) {  // methods of several facets may look the same
    facet.styles = chosen;
  }
  const Data data =
      read_data(folder, groups, {facet}, {quantity.column}, kind, GradientAxis::of_all_runs);
  std::vector<ReportFigure> figures;
  plan_quantity(quantity, folder, groups, {facet}, data, kind, bounds, figures);
  return figures.empty() ? ReportFigure{} : std::move(figures.front());
}

}  // namespace residuum::reports
