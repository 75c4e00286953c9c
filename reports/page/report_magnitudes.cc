#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/record/tables.h"
#include "reports/page/sections.h"
#include "reports/results/csv_reader.h"
#include "reports/summaries/collect.h"

namespace residuum::reports {
namespace {

/// The share of the entries by the exponent of their magnitude.
using Shares = std::map<int, double>;

/// The histograms of a run at its first and its last count.
struct FirstAndLast {
  std::uint64_t first_iteration = 0;
  std::uint64_t last_iteration = 0;
  Shares first;
  Shares last;
};

int exponent_at(const CsvReader& reader, std::size_t column) {
  const double exponent = reader.number(column).value_or(std::nan(""));
  if (!(exponent >= kLeastMagnitudeRow && exponent <= kLastMagnitudeRow)) {
    reader.fail(fmt::format("'{}' is no exponent of a magnitude", reader.text(column)));
  }
  return static_cast<int>(exponent);
}

/// Reads a run's table; nothing where it has no rows.
std::optional<FirstAndLast> read_magnitudes(const std::filesystem::path& file, const Run& run) {
  CsvReader reader(file);
  const std::size_t iteration = reader.column("iteration");
  const std::size_t exponent = reader.column(kMagnitudesTable.key);
  const std::size_t share = reader.column(kMagnitudeColumns.front().name);
  std::optional<FirstAndLast> found;
  while (reader.next()) {
    if (reader.text(0) != run.id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    const std::uint64_t now = reader.integer(iteration);
    if (!found) {
      found = FirstAndLast{.first_iteration = now, .last_iteration = now, .first = {}, .last = {}};
    }
    if (now != found->last_iteration) {
      found->last.clear();
      found->last_iteration = now;
    }
    const int bin = exponent_at(reader, exponent);
    const double value = reader.number(share).value_or(0);
    found->last[bin] = value;
    if (now == found->first_iteration) {
      found->first[bin] = value;
    }
  }
  return found;
}

std::vector<FirstAndLast> read_magnitude_runs(const ResultFolder& folder, const Group& group) {
  std::vector<FirstAndLast> runs;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!has_details(run, kMagnitudesTable)) {
      continue;
    }
    if (auto found = read_magnitudes(details_path(run, kMagnitudesTable), run)) {
      runs.push_back(std::move(*found));
    }
  }
  return runs;
}

/// Returns the points from the least to the largest exponent of any run, at the middle of each bin
/// on a logarithmic axis; a run without entries there has the share 0.
std::vector<Point> magnitude_points(const std::vector<FirstAndLast>& runs,
                                    Shares FirstAndLast::*which,
                                    IntervalKind kind) {
  int least = kLastMagnitudeRow + 1;
  int largest = kLeastMagnitudeRow - 1;
  for (const auto& run : runs) {
    const Shares& shares = run.*which;
    least = shares.empty() ? least : std::min(least, shares.begin()->first);
    largest = shares.empty() ? largest : std::max(largest, shares.rbegin()->first);
  }
  std::vector<Point> points;
  for (int exponent = least; exponent <= largest; ++exponent) {
    std::vector<double> shares;
    for (const auto& run : runs) {
      const auto found = (run.*which).find(exponent);
      shares.push_back(found == (run.*which).end() ? 0 : found->second);
    }
    points.push_back(seeds_point(std::ldexp(std::sqrt(2.0), exponent), shares, kind));
  }
  return points;
}

/// "iteration 8", or "iterations 8 to 32" where runs of the facet differ.
std::string iterations_text(const std::vector<std::vector<FirstAndLast>>& methods,
                            std::uint64_t FirstAndLast::*which) {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t largest = 0;
  for (const auto& runs : methods) {
    for (const auto& run : runs) {
      least = std::min(least, run.*which);
      largest = std::max(largest, run.*which);
    }
  }
  return least == largest ? fmt::format("iteration {}", least)
                          : fmt::format("iterations {} to {}", least, largest);
}

struct DrawnHistogram {
  std::string_view name;
  Shares FirstAndLast::*shares;
  std::uint64_t FirstAndLast::*iteration;
};

constexpr std::array<DrawnHistogram, 2> kDrawnHistograms{
    {{"magnitudes-first", &FirstAndLast::first, &FirstAndLast::first_iteration},
     {"magnitudes", &FirstAndLast::last, &FirstAndLast::last_iteration}}};

ReportFigure magnitude_figure(const std::vector<Group>& groups,
                              const Facet& facet,
                              const std::vector<std::vector<FirstAndLast>>& methods,
                              const DrawnHistogram& histogram,
                              IntervalKind kind) {
  ReportFigure figure;
  const std::string when = iterations_text(methods, histogram.iteration);
  figure.title = fmt::format("Magnitudes of the accumulators, {}{}{}",
                             when,
                             facet.title.empty() ? "" : " — ",
                             facet.title);
  figure.caption =
      "Share of the entries of a worker's accumulator a whose magnitude lies between two powers of "
      "two, mean over the workers. Top-k sends the right end.";
  figure.spec.band = std::string(interval_words(kind));
  figure.spec.x_label = "|a|";
  figure.spec.y_label = "share of the entries";
  figure.spec.x_scale = Scale::log;
  figure.spec.y_scale = Scale::log;
  for (std::size_t i = 0; i < facet.groups.size(); ++i) {
    auto points = magnitude_points(methods[i], histogram.shares, kind);
    if (!points.empty()) {
      figure.spec.curves.push_back({.label = groups[facet.groups[i]].label,
                                    .style = facet.styles[i],
                                    .points = std::move(points),
                                    .group = facet.groups[i]});
    }
  }
  return figure;
}

}  // namespace

std::vector<ReportFigure> plan_magnitude_figures(const Summary& summary, IntervalKind kind) {
  const std::vector<Group> groups = groups_of(summary);
  std::vector<ReportFigure> figures;
  auto facets = split_into_facets(summary.folder, groups);
  facets.resize(std::min(facets.size(), kMostFacets));
  for (std::size_t number = 0; number < facets.size(); ++number) {
    std::vector<std::vector<FirstAndLast>> methods;
    for (const std::size_t group : facets[number].groups) {
      methods.push_back(read_magnitude_runs(summary.folder, groups[group]));
    }
    for (const auto& histogram : kDrawnHistograms) {
      ReportFigure figure = magnitude_figure(groups, facets[number], methods, histogram, kind);
      figure.spec.name = number == 0 ? std::string(histogram.name)
                                     : fmt::format("{}-{}", histogram.name, number + 1);
      if (!figure.spec.curves.empty()) {
        figures.push_back(std::move(figure));
      }
    }
  }
  return figures;
}

}  // namespace residuum::reports
