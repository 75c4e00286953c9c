#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/record/tables.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/series.h"
#include "reports/analysis/statistics.h"
#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/summaries/collect.h"

namespace residuum::reports {
namespace {

struct LateColumn {
  std::string_view metric;
  std::string_view title;
  std::string (*words)(const std::optional<double>&) = [](const auto& value) {
    return short_number(value);
  };
};

constexpr std::array<LateColumn, 15> kLateColumns{
    {{.metric = "versions", .title = "versions"},
     {.metric = "gradients", .title = "gradients"},
     {.metric = "gradients_per_version", .title = "gradients per version"},
     {.metric = "staleness_mean", .title = "staleness, mean"},
     {.metric = "staleness_max", .title = "staleness, largest"},
     {.metric = "virtual_s", .title = "virtual time, s"},
     {.metric = "last_update_wall_s", .title = "wall time, s"},
     {.metric = "idle_share", .title = "workers idle", .words = percent},
     {.metric = "quota_wait", .title = "wait for quota, s/s"},
     {.metric = "staleness_wait", .title = "for staleness, s/s"},
     {.metric = "pull_wait", .title = "for pulls, s/s"},
     {.metric = "uplink_bytes_per_gradient", .title = "up per gradient", .words = short_bytes},
     {.metric = "downlink_bytes_per_gradient", .title = "down per gradient", .words = short_bytes},
     {.metric = "control_bytes_per_gradient",
      .title = "control per gradient",
      .words = short_bytes},
     {.metric = "weight_skew", .title = "weight skew"}}};

/// Returns the columns of the table. A study has virtual time, or wall time, or both.
std::vector<LateColumn> late_columns(const Summary& summary) {
  std::vector<LateColumn> columns;
  for (const LateColumn& column : kLateColumns) {
    const bool is_time = column.metric == "virtual_s" || column.metric == "last_update_wall_s";
    const bool is_known =
        std::any_of(summary.groups.begin(), summary.groups.end(), [&](const auto& group) {
          const Spread* const spread = group.metric(column.metric);
          return spread != nullptr && spread->n > 0;
        });
    if (!is_time || is_known) {
      columns.push_back(column);
    }
  }
  return columns;
}

constexpr double kLogSpan = 100;  // beyond this ratio of shares the axis is logarithmic

/// Returns the shares of the gradients, one histogram per run that has the table.
std::vector<StalenessCounts> read_shares(const ResultFolder& folder, const Group& group) {
  std::vector<StalenessCounts> shares;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!has_details(run, kStalenessTable)) {
      continue;
    }
    StalenessCounts counts = read_staleness(details_path(run, kStalenessTable), run.id);
    double all = 0;
    for (const auto& [staleness, gradients] : counts) {
      all += gradients;
    }
    for (auto& [staleness, gradients] : counts) {
      gradients /= all;
    }
    if (all > 0) {
      shares.push_back(std::move(counts));
    }
  }
  return shares;
}

/// Returns the point of a share, whose interval ends at 0 and 1.
Point share_point(double staleness, const std::vector<double>& shares, IntervalKind kind) {
  Point point = seeds_point(staleness, shares, kind);
  if (point.lower && point.upper) {
    point.lower = std::max(0.0, *point.lower);
    point.upper = std::min(1.0, *point.upper);
  }
  return point;
}

/// Returns the points from staleness 0 to the one after the largest; runs that have no gradient of
/// a staleness have the share 0.
std::vector<Point> share_points(const std::vector<StalenessCounts>& runs, IntervalKind kind) {
  std::uint64_t largest = 0;
  for (const auto& run : runs) {
    largest = std::max(largest, run.rbegin()->first);
  }
  std::vector<Point> points;
  for (std::uint64_t staleness = 0; !runs.empty() && staleness <= largest + 1; ++staleness) {
    std::vector<double> shares;
    for (const auto& run : runs) {
      const auto found = run.find(staleness);
      shares.push_back(found == run.end() ? 0 : found->second);
    }
    points.push_back(share_point(static_cast<double>(staleness), shares, kind));
  }
  return points;
}

}  // namespace

std::string late_table(const Summary& summary) {
  std::vector<Cell> header{text_cell("method")};
  const std::vector<LateColumn> columns = late_columns(summary);
  for (const auto& column : columns) {
    header.push_back(number_cell(column.title));
  }
  std::vector<std::vector<Cell>> rows;
  TableUse use;
  for (std::size_t g = 0; g < summary.groups.size(); ++g) {
    const GroupSummary& group = summary.groups[g];
    if (group.metric("gradients") == nullptr) {
      continue;
    }
    use.methods.emplace_back(g);
    rows.push_back({text_cell(group.group.label)});
    for (const auto& column : columns) {
      const Spread* spread = group.metric(column.metric);
      rows.back().push_back(
          number_cell(column.words(spread == nullptr ? std::nullopt : spread->mean)));
    }
  }
  if (rows.empty()) {
    return {};
  }
  return "<p>Means over the seeds that finished. A version is an update of the model; the "
         "staleness "
         "of a gradient is the number of versions made between the one it was taken at and the one "
         "it entered. Workers are idle while they wait for a model. The other waits are seconds "
         "per second of the run, virtual or of the wall clock: the server's for contributions and "
         "for the sums of nodes, and those that "
         "the staleness limit causes. Bytes are those of messages (up), of models (down) and of "
         "control. The weight skew is the largest over the mean of the workers' weights "
         "in all updates. Staleness, waits, and bytes of models and control are known only where "
         "every iteration was measured (<code>probes.every = 1</code>).</p>\n" +
         table(header, rows, use);
}

std::vector<ReportFigure> plan_staleness_figures(const Summary& summary, IntervalKind kind) {
  const std::vector<Group> groups = groups_of(summary);
  std::vector<ReportFigure> figures;
  auto facets = split_into_facets(summary.folder, groups);
  facets.resize(std::min(facets.size(), kMostFacets));
  for (const auto& facet : facets) {
    ReportFigure figure;
    figure.title = facet.title.empty() ? "Staleness" : "Staleness — " + facet.title;
    figure.caption =
        "Share of the gradients that entered the model so many versions after the one they were "
        "taken at. A staleness of 4095 stands for more, "
        "too.";
    figure.spec.name =
        figures.empty() ? "staleness" : fmt::format("staleness-{}", figures.size() + 1);
    figure.spec.band = std::string(interval_words(kind));
    figure.spec.x_label = "staleness, versions";
    figure.spec.y_label = "share of the gradients";
    for (std::size_t i = 0; i < facet.groups.size(); ++i) {
      auto points = share_points(read_shares(summary.folder, groups[facet.groups[i]]), kind);
      if (!points.empty()) {
        figure.spec.curves.push_back({.label = groups[facet.groups[i]].label,
                                      .style = facet.styles[i],
                                      .points = std::move(points),
                                      .group = facet.groups[i]});
      }
    }
    figure.spec.y_scale = scale_for(figure.spec.curves, kLogSpan);
    if (!figure.spec.curves.empty()) {
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace residuum::reports
