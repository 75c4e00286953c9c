#include "reports/figures/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "reports/analysis/series.h"
#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kTimeCaption =
    "The same against the virtual second in which the next version took the model's place. Methods "
    "without a virtual clock have no curve here.";
constexpr std::string_view kWallCaption =
    "The same against the wall second in which the next version took the model's place. Methods "
    "whose execution is not real have no curve here.";
constexpr std::string_view kGradientsCaption =
    "The same against the gradients of all workers that had entered the model. Methods whose "
    "versions are made of one gradient of each worker have no curve here.";

constexpr std::array<DrawnQuantity, 25> kDrawnQuantities{
    {{.name = "loss-gap",
      .column = Column::loss_gap,
      .title = "Loss gap",
      .y_label = "f(w) − f*",
      .caption = "How far the training loss is above its minimum.",
      .log_span = 5},
     {.name = "loss",
      .column = Column::loss,
      .title = "Loss",
      .y_label = "f(w)",
      .caption = "Training loss.",
      .log_span = 50},
     {.name = "loss-gap-bytes",
      .column = Column::loss_gap,
      .title = "Loss gap against bytes sent",
      .y_label = "f(w) − f*",
      .caption =
          "The same against the bytes that workers and servers have sent, indices included: the "
          "further left a curve comes down, the cheaper the method.",
      .log_span = 5,
      .against = Column::total_sent_bytes},
     {.name = "loss-bytes",
      .column = Column::loss,
      .title = "Loss against bytes sent",
      .y_label = "f(w)",
      .caption =
          "The same against the bytes that workers and servers have sent, indices included: the "
          "further left a curve comes down, the cheaper the method.",
      .log_span = 50,
      .against = Column::total_sent_bytes},
     {.name = "loss-gap-time",
      .column = Column::loss_gap,
      .title = "Loss gap against virtual time",
      .y_label = "f(w) − f*",
      .caption = kTimeCaption,
      .log_span = 5,
      .against = Column::virtual_s},
     {.name = "loss-gap-wall",
      .column = Column::loss_gap,
      .title = "Loss gap against wall time",
      .y_label = "f(w) − f*",
      .caption = kWallCaption,
      .log_span = 5,
      .against = Column::wall_s},
     {.name = "loss-gap-gradients",
      .column = Column::loss_gap,
      .title = "Loss gap against gradients",
      .y_label = "f(w) − f*",
      .caption = kGradientsCaption,
      .log_span = 5,
      .against = Column::total_contributions},
     {.name = "loss-time",
      .column = Column::loss,
      .title = "Loss against virtual time",
      .y_label = "f(w)",
      .caption = kTimeCaption,
      .log_span = 50,
      .against = Column::virtual_s},
     {.name = "loss-wall",
      .column = Column::loss,
      .title = "Loss against wall time",
      .y_label = "f(w)",
      .caption = kWallCaption,
      .log_span = 50,
      .against = Column::wall_s},
     {.name = "loss-gradients",
      .column = Column::loss,
      .title = "Loss against gradients",
      .y_label = "f(w)",
      .caption = kGradientsCaption,
      .log_span = 50,
      .against = Column::total_contributions},
     {.name = "gradient",
      .column = Column::grad_norm_sq,
      .title = "Gradient norm",
      .y_label = "‖∇f(w)‖²",
      .caption = "What the non-convex theorems bound; its mean over the iterations is X_T.",
      .log_span = 5},
     {.name = "delta",
      .column = Column::delta,
      .title = "The gTop-k assumption",
      .y_label = "δ",
      .caption = "Above the dotted line the selection lost more than a random one would have, and "
                 "the assumption of the convergence proof does not hold.",
      .log_span = 20,
      .section = FigureSection::assumptions,
      .reference = 1.0,
      .reference_label = "δ = 1: as good as random selection"},
     {.name = "delta-in",
      .column = Column::delta_in,
      .title = "Part of δ on selected indices",
      .y_label = "δ on the support of ĝ",
      .caption =
          "What merges and cuts of the workers' messages change of the entries that are sent.",
      .log_span = 1e300,
      .section = FigureSection::assumptions,
      .only_if_positive = true},
     {.name = "delta-out",
      .column = Column::delta_out,
      .title = "Part of δ on the other indices",
      .y_label = "δ off the support of ĝ",
      .caption =
          "What is left behind because its index was not selected. The two parts add up to δ.",
      .log_span = 1e300,
      .section = FigureSection::assumptions,
      .only_if_positive = true},
     {.name = "contraction",
      .column = Column::contraction,
      .title = "Contraction of the gap",
      .y_label = "q",
      .caption =
          "The proofs need q < 1: the gap to dense SGD shrinks by the factor q in an iteration, "
          "but for the new gradient. Selection by Top-k alone gives at most 1 − k/d.",
      .log_span = 1e300,
      .section = FigureSection::assumptions},
     {.name = "residual",
      .column = Column::residual_norm_sq,
      .title = "Residual",
      .y_label = "mean ‖e‖²",
      .caption = "What each worker holds back, mean over workers. Error feedback works while this "
                 "stays bounded. (The verdict bounded-residual is about what they hold back "
                 "together, the gap w − z.)",
      .log_span = 5,
      .section = FigureSection::assumptions},
     {.name = "lost-mass",
      .column = Column::lost_mass_norm_sq,
      .title = "Lost mass",
      .y_label = "‖ℓ‖²",
      .caption = "What was neither applied nor put back in an iteration. Methods that conserve "
                 "have none and no curve here.",
      .log_span = 5,
      .section = FigureSection::assumptions,
      .only_if_positive = true},
     {.name = "noise",
      .column = Column::noise_variance,
      .title = "Noise of a worker's gradient",
      .y_label = "σ²",
      .caption = "Variance of a worker's batch gradient, estimated by half batches.",
      .log_span = 20,
      .section = FigureSection::assumptions},
     {.name = "heterogeneity",
      .column = Column::heterogeneity,
      .title = "Heterogeneity of the workers",
      .y_label = "ζ²",
      .caption = "Mean of ‖∇f_p − ∇f‖². The estimate is unbiased and may be negative.",
      .log_span = 20,
      .section = FigureSection::assumptions},
     {.name = "smoothness",
      .column = Column::smoothness_gap,
      .title = "Smoothness along the gap",
      .y_label = "‖∇f(w) − ∇f(z)‖ / ‖w − z‖",
      .caption = "The L of the certificate, where it was measured.",
      .log_span = 20,
      .section = FigureSection::assumptions},
     {.name = "consensus",
      .column = Column::consensus_sq,
      .title = "Disagreement of the workers' models",
      .y_label = "mean ‖w_p − w‖²",
      .caption = "How far the workers' models are from their mean.",
      .log_span = 5,
      .section = FigureSection::assumptions,
      .only_if_positive = true},
     {.name = "captured",
      .column = Column::captured_energy,
      .title = "Captured energy",
      .y_label = "1 − δ (1 − k/d)",
      .caption = "The share of ‖ā‖² that the applied update captures.",
      .log_span = 1e300,
      .section = FigureSection::distributions},
     {.name = "overlap",
      .column = Column::support_overlap,
      .title = "Overlap of the workers' selections",
      .y_label = "shared part of a message",
      .caption = "The entries that the messages of two workers share over those of one of them, "
                 "mean over the pairs: 0 where all select other entries, 1 where all select the "
                 "same. Random selections of k entries share k/d in the mean.",
      .log_span = 20,
      .section = FigureSection::distributions},
     {.name = "union",
      .column = Column::support_union,
      .title = "Union of the workers' selections",
      .y_label = "indices / entries sent",
      .caption = "The indices that any worker sent over the entries of all messages, from 1/P "
                 "where all select the same to 1 where all select other entries.",
      .log_span = 20,
      .section = FigureSection::distributions},
     {.name = "accuracy",
      .column = Column::test_accuracy,
      .title = "Test accuracy",
      .y_label = "fraction right",
      .caption = "Fraction of held-out samples that are classified right.",
      .log_span = 1e300}}};

}  // namespace

std::span<const DrawnQuantity> drawn_quantities() { return kDrawnQuantities; }

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

namespace {

/// CostWords are the names of a cost in a figure.
struct CostWords {
  std::string_view cost;
  std::string_view file;
  std::string_view axis;
};
constexpr std::array<CostWords, 3> kCostWords{{{"iterations", "ecdf-iterations", "iterations"},
                                               {"bytes", "ecdf-bytes", "bytes sent"},
                                               {"modelled time", "ecdf-time", "modelled time, s"}}};

const CostWords& words_of(const TargetComparison& comparison) {
  return *std::find_if(kCostWords.begin(), kCostWords.end(), [&](const CostWords& one) {
    return one.cost == comparison.cost;
  });
}

std::string caption_of(const TargetComparison& comparison) {
  const bool is_gap = comparison.quantity == "loss_gap";
  return fmt::format(
      "The share of all pairs of a seed and a target that were reached, against what the run had "
      "spent by then, on {}. {} targets of {}, {} to {} in equal {}: below the first value of "
      "every run, down to the best of any. A run that ends, diverges or fails before a target has "
      "missed it, and counts; a line ends where its longest run ended. {}",
      comparison.objective,
      comparison.targets.size(),
      is_gap ? "f − f*" : "f",
      short_number(comparison.targets.front()),
      short_number(comparison.targets.back()),
      is_gap ? "ratios" : "steps",
      comparison.resolution_words());
}

std::vector<Curve> curves_of(const TargetComparison& comparison,
                             const std::vector<Group>& groups,
                             const Facet& facet) {
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < facet.groups.size(); ++i) {
    const auto method = std::find_if(
        comparison.methods.begin(), comparison.methods.end(), [&](const TargetCosts& one) {
          return one.group == facet.groups[i];
        });
    if (method != comparison.methods.end()) {
      curves.push_back({.label = groups[facet.groups[i]].label,
                        .style = facet.styles[i],
                        .points = share_reached(*method),
                        .group = facet.groups[i]});
    }
  }
  return curves;
}

}  // namespace

std::vector<ReportFigure> plan_target_figures(const ResultFolder& folder,
                                              const std::vector<Group>& groups,
                                              const std::vector<TargetComparison>& comparisons) {
  auto facets = split_into_facets(folder, groups);
  facets.resize(std::min(facets.size(), kMostFacets));
  std::map<std::string_view, std::size_t> count;
  std::vector<ReportFigure> figures;
  for (const auto& comparison : comparisons) {
    for (const auto& facet : facets) {
      auto curves = curves_of(comparison, groups, facet);
      if (curves.empty()) {
        continue;
      }
      const CostWords& words = words_of(comparison);
      const std::size_t number = ++count[words.file];
      ReportFigure figure;
      figure.title = fmt::format("Targets reached by {}{}{}",
                                 comparison.cost,
                                 facet.title.empty() ? "" : " — ",
                                 facet.title);
      figure.caption = caption_of(comparison);
      figure.spec.name =
          number == 1 ? std::string(words.file) : fmt::format("{}-{}", words.file, number);
      figure.spec.x_label = std::string(words.axis);
      figure.spec.y_label = "share of seeds × targets";
      figure.spec.x_scale = Scale::log;
      figure.spec.curves = std::move(curves);
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace residuum::reports
