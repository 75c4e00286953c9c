#include "reports/figures/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "reports/numbers/series.h"

namespace residuum::reports {
namespace {

struct DrawnQuantity {
  std::string_view name;
  Column column;
  std::string_view title;
  std::string_view y_label;
  std::string_view caption;
  double log_span;  // drawn on a logarithmic axis beyond this ratio of largest to least
  std::optional<Column> against = std::nullopt;  // one of kTotals; absent: the iteration
  bool only_if_positive = false;
  std::optional<double> reference = std::nullopt;
  std::string_view reference_label = {};
};

constexpr std::string_view kTimeCaption =
    "The same against the virtual second in which the next version took the model's place. Methods "
    "without a virtual clock have no curve here.";
constexpr std::string_view kGradientsCaption =
    "The same against the gradients of all workers that had entered the model. Methods whose "
    "versions are made of one gradient of each worker have no curve here.";

// The figures are in the report's order. Loss and loss gap exclude each other.
constexpr std::array<DrawnQuantity, 13> kDrawnQuantities{
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
      .caption = "The same against the bytes all workers have sent, indices included: the "
                 "further left a curve comes down, the cheaper the method.",
      .log_span = 5,
      .against = Column::total_uplink_bytes},
     {.name = "loss-bytes",
      .column = Column::loss,
      .title = "Loss against bytes sent",
      .y_label = "f(w)",
      .caption = "The same against the bytes all workers have sent, indices included: the "
                 "further left a curve comes down, the cheaper the method.",
      .log_span = 50,
      .against = Column::total_uplink_bytes},
     {.name = "loss-gap-time",
      .column = Column::loss_gap,
      .title = "Loss gap against virtual time",
      .y_label = "f(w) − f*",
      .caption = kTimeCaption,
      .log_span = 5,
      .against = Column::virtual_s},
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
      .reference = 1.0,
      .reference_label = "δ = 1: as good as random selection"},
     {.name = "residual",
      .column = Column::residual_norm_sq,
      .title = "Residual",
      .y_label = "mean ‖e‖²",
      .caption = "What the workers hold back, mean over workers. Error feedback works while this "
                 "stays bounded.",
      .log_span = 5},
     {.name = "lost-mass",
      .column = Column::lost_mass_norm_sq,
      .title = "Lost mass",
      .y_label = "‖ℓ‖²",
      .caption = "What was neither applied nor put back in an iteration. Methods that conserve "
                 "have none and no curve here.",
      .log_span = 5,
      .only_if_positive = true},
     {.name = "accuracy",
      .column = Column::test_accuracy,
      .title = "Test accuracy",
      .y_label = "fraction right",
      .caption = "Fraction of held-out samples that are classified right.",
      .log_span = 1e300}}};

/// Data holds the columns that are read, and for each method the series in the same order.
struct Data {
  std::vector<Column> columns;
  std::map<std::size_t, std::vector<GroupSeries>> series;  // by group

  const GroupSeries& of(std::size_t group, Column column) const {
    const auto place = std::find(columns.begin(), columns.end(), column) - columns.begin();
    return series.at(group).at(static_cast<std::size_t>(place));
  }
};

Data read_data(const ResultFolder& folder,
               const std::vector<Group>& groups,
               const std::vector<Facet>& facets) {
  Data data;
  for (const auto& quantity : kDrawnQuantities) {
    if (std::find(data.columns.begin(), data.columns.end(), quantity.column) ==
        data.columns.end()) {
      data.columns.push_back(quantity.column);
    }
  }
  for (const auto& facet : facets) {
    for (const std::size_t group : facet.groups) {
      data.series[group] = read_series(folder, groups[group], data.columns);
    }
  }
  return data;
}

bool any_positive(const Data& data, Column column) {
  return std::any_of(data.series.begin(), data.series.end(), [&](const auto& entry) {
    const auto& points = data.of(entry.first, column).by_iteration;
    return std::any_of(points.begin(), points.end(), [](const Point& point) {
      return point.upper.value_or(0) > 0;
    });
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
  if (quantity.against == Column::total_uplink_bytes) {
    return {.label = "bytes sent", .scale = Scale::log};
  }
  if (quantity.against == Column::total_contributions) {
    return {.label = "gradients", .scale = Scale::linear};
  }
  return quantity.against ? DrawnAxis{.label = "virtual time, s", .scale = Scale::linear}
                          : DrawnAxis{.label = "iteration", .scale = Scale::linear};
}

/// Returns the points that have a place on the quantity's x axis.
std::vector<Point> points_of(const DrawnQuantity& quantity, const GroupSeries& series) {
  auto points = quantity.against ? series.against(*quantity.against) : series.by_iteration;
  if (axis_of(quantity).scale == Scale::log) {
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
    const bool is_zero = quantity.only_if_positive &&
                         std::none_of(points.begin(), points.end(), [](const Point& point) {
                           return point.upper.value_or(0) > 0;
                         });
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

ReportFigure make_figure(const DrawnQuantity& quantity,
                         const Facet& facet,
                         std::size_t number,
                         std::vector<Curve> curves,
                         std::size_t stride) {
  ReportFigure figure;
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
  figure.spec.y_scale = scale_for(curves, quantity.log_span);
  if (quantity.reference) {
    figure.spec.reference =
        Reference{.y = *quantity.reference, .label = std::string(quantity.reference_label)};
  }
  figure.spec.curves = std::move(curves);
  return figure;
}

}  // namespace

ReportFigures plan_figures(const ResultFolder& folder, const std::vector<Group>& groups) {
  std::vector<Facet> facets = split_into_facets(folder, groups);
  ReportFigures plan;
  while (facets.size() > kMostFacets) {
    plan.groups_left_out += facets.back().groups.size();
    facets.pop_back();
  }
  const Data data = read_data(folder, groups, facets);
  const bool gap_known = gap_is_known(data);
  for (const auto& quantity : kDrawnQuantities) {
    if (!is_wanted(quantity, data, gap_known)) {
      continue;
    }
    for (std::size_t i = 0; i < facets.size(); ++i) {
      auto curves = curves_of(quantity, groups, facets[i], data);
      if (!curves.empty()) {
        const std::size_t stride = stride_of(quantity, facets[i], data);
        plan.figures.push_back(make_figure(quantity, facets[i], i, std::move(curves), stride));
      }
    }
  }
  return plan;
}

}  // namespace residuum::reports
