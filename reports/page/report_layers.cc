#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/record/tables.h"
#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/results/csv.h"
#include "reports/summaries/collect.h"

namespace residuum::reports {
namespace {

/// LayerSums adds up one layer over the measured iterations of a method's runs.
struct LayerSums {
  std::string name;
  double size = 0;
  double sent = 0;
  double lost = 0;            // |(mean a - g/P)_l|^2
  double lost_at_random = 0;  // (1 - rho_l) |(mean a)_l|^2
  std::optional<double> largest;

  std::optional<double> delta() const {
    return lost_at_random > 0 ? std::optional(lost / lost_at_random) : std::nullopt;
  }
};

/// LayerTaker keeps the layers in the order in which they appear.
class LayerTaker {
 public:
  void read(const std::filesystem::path& file, const Run& run) {
    CsvReader reader(file);
    const std::size_t layer = reader.column(kLayersTable.key);
    while (reader.next()) {
      if (reader.text(0) != run.id) {
        reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
      }
      add(reader, at(reader.text(layer)));
    }
  }
  const std::vector<LayerSums>& layers() const { return layers_; }

 private:
  LayerSums& at(const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(name, layers_.size());
    if (is_new) {
      layers_.push_back({.name = name, .largest = std::nullopt});
    }
    return layers_[place->second];
  }

  static std::optional<double> get(const CsvReader& reader, LayerColumn column) {
    return reader.number(reader.column(kLayerColumns.at(static_cast<std::size_t>(column)).name));
  }

  static void add(const CsvReader& reader, LayerSums& sums) {
    sums.size = get(reader, LayerColumn::size).value_or(sums.size);
    sums.sent += get(reader, LayerColumn::nnz_sent).value_or(0);
    const auto delta = get(reader, LayerColumn::delta);
    const auto energy = get(reader, LayerColumn::accumulator_norm_sq);
    const auto k = get(reader, LayerColumn::k);
    if (!delta || !energy || !k) {
      return;
    }
    const double at_random = (1 - *k / sums.size) * *energy;
    sums.lost += *delta * at_random;
    sums.lost_at_random += at_random;
    sums.largest = std::max(sums.largest.value_or(*delta), *delta);
  }

  std::map<std::string, std::size_t> places_;
  std::vector<LayerSums> layers_;
};

std::optional<double> share(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

std::string layer_table(const std::vector<LayerSums>& layers) {
  double size = 0;
  double sent = 0;
  for (const auto& layer : layers) {
    size += layer.size;
    sent += layer.sent;
  }
  std::vector<std::vector<Cell>> rows;
  rows.reserve(layers.size());
  for (const auto& layer : layers) {
    rows.push_back({text_cell(layer.name),
                    number_cell(format_integer(layer.size)),
                    number_cell(percent(share(layer.size, size))),
                    number_cell(percent(share(layer.sent, sent))),
                    number_cell(short_number(layer.delta())),
                    number_cell(short_number(layer.largest))});
  }
  return table({text_cell("layer"),
                number_cell("parameters"),
                number_cell("of all"),
                number_cell("of the entries sent"),
                number_cell("δ"),
                number_cell("largest δ")},
               rows);
}

}  // namespace

std::string layers_html(const Summary& summary) {
  std::string html;
  const ResultFolder& folder = summary.folder;
  for (const auto& group : summary.groups) {
    LayerTaker taker;
    for (const std::size_t i : group.group.runs) {
      const Run& run = folder.runs[i];
      if (has_details(run, kLayersTable)) {
        taker.read(details_path(run, kLayersTable), run);
      }
    }
    if (!taker.layers().empty()) {
      html += fmt::format("<details><summary>{}</summary>\n{}</details>\n",
                          escape(group.group.label),
                          layer_table(taker.layers()));
    }
  }
  if (html.empty()) {
    return html;
  }
  return "<p>δ of a layer is pooled over the measured iterations and the seeds: what the update "
         "misses "
         "of the mean accumulator there, over what a random selection would. Shares are of the "
         "layers "
         "in the table.</p>\n" +
         html;
}

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
