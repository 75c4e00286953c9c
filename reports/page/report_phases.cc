#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/figures/heat_map.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kMostSlices = 6;
constexpr double kColours = 9;

/// The methods that differ in two keys alone, by the values of these.
struct PhaseGrid {
  std::string row_key;
  std::string column_key;
  std::string rest;  // what the methods share of the other keys
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::map<std::pair<std::string, std::string>, const GroupSummary*> cells;

  bool is_full() const {
    return rows.size() > 1 && columns.size() > 1 && cells.size() == rows.size() * columns.size();
  }
};

std::string value_of(const GroupSummary& group, const std::string& key) {
  const auto found = group.group.varying.find(key);
  return found == group.group.varying.end() ? "–" : plain_text(*found);
}

std::string rest_of(const GroupSummary& group, const std::string& row, const std::string& column) {
  std::string rest;
  for (const auto& [key, value] : group.group.varying.items()) {
    if (key != row && key != column) {
      rest += fmt::format("{}{} = {}", rest.empty() ? "" : ", ", key, plain_text(value));
    }
  }
  return rest;
}

void add_once(std::vector<std::string>& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) {
    values.push_back(value);
  }
}

/// Returns the grids of two keys, one for each combination of the others.
std::vector<PhaseGrid> grids_of(const Summary& summary,
                                const std::string& row_key,
                                const std::string& column_key) {
  std::vector<PhaseGrid> grids;
  for (const auto& group : summary.groups) {
    const std::string rest = rest_of(group, row_key, column_key);
    auto grid = std::find_if(
        grids.begin(), grids.end(), [&](const PhaseGrid& one) { return one.rest == rest; });
    if (grid == grids.end()) {
      grid = grids.insert(grids.end(), PhaseGrid{});
      grid->row_key = row_key;
      grid->column_key = column_key;
      grid->rest = rest;
    }
    const std::string row = value_of(group, row_key);
    const std::string column = value_of(group, column_key);
    add_once(grid->rows, row);
    add_once(grid->columns, column);
    grid->cells[{row, column}] = &group;
  }
  std::erase_if(grids, [](const PhaseGrid& grid) { return !grid.is_full(); });
  return grids;
}

std::size_t cells_in(const std::vector<PhaseGrid>& grids) {
  std::size_t cells = 0;
  for (const auto& grid : grids) {
    cells += grid.cells.size();
  }
  return cells;
}

/// Returns the full grids of the two keys that the most methods lie on.
std::vector<PhaseGrid> best_grids(const Summary& summary) {
  std::vector<PhaseGrid> best;
  const auto& keys = summary.folder.varying_keys;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = i + 1; j < keys.size(); ++j) {
      auto grids = grids_of(summary, keys[i], keys[j]);
      if (cells_in(grids) > cells_in(best)) {
        best = std::move(grids);
      }
    }
  }
  best.resize(std::min(best.size(), kMostSlices));
  return best;
}

/// A quantity of a method that a diagram shows.
struct PhaseQuantity {
  std::string_view name;  // of the figure's files
  std::string_view title;
  std::optional<double> (*value)(const GroupSummary& group);
};

std::optional<double> metric_median(const GroupSummary& group, std::string_view name) {
  const Spread* spread = group.metric(name);
  return spread == nullptr ? std::nullopt : spread->median;
}

const std::array<PhaseQuantity, 4>& phase_quantities() {
  static const std::array<PhaseQuantity, 4> quantities{
      {{.name = "phase-delta",
        .title = "δ, median over the iterations and seeds",
        .value = [](const GroupSummary& group) { return group.delta.median; }},
       {.name = "phase-contraction",
        .title = "q, median over the iterations and seeds",
        .value = [](const GroupSummary& group) { return group.contraction.median; }},
       {.name = "phase-loss-gap",
        .title = "Final loss gap, median over the seeds",
        .value = [](const GroupSummary& group) { return metric_median(group, "final_loss_gap"); }},
       {.name = "phase-loss",
        .title = "Final loss, median over the seeds",
        .value = [](const GroupSummary& group) {
          const bool has_gap = group.metric("final_loss_gap") != nullptr;
          return has_gap ? std::nullopt : metric_median(group, "final_loss");
        }}}};
  return quantities;
}

/// Places values on the scale of colours.
class ColourScale {
 public:
  explicit ColourScale(const HeatMap& map) : is_log_(map.is_log()) {
    const auto values = map.values();
    low_ = on_axis(*std::min_element(values.begin(), values.end()));
    high_ = on_axis(*std::max_element(values.begin(), values.end()));
  }

  int colour(double value) const {
    if (high_ == low_) {
      return static_cast<int>(kColours) / 2;
    }
    const double share = (on_axis(value) - low_) / (high_ - low_);
    return static_cast<int>(std::clamp(std::floor(share * kColours), 0.0, kColours - 1));
  }

 private:
  double on_axis(double value) const { return is_log_ ? std::log(value) : value; }

  bool is_log_;
  double low_ = 0;
  double high_ = 0;
};

/// Returns the values as people read them: by the study's names for them, where it has any.
std::vector<std::string> named_values(const PhaseGrid& grid,
                                      const std::string& key,
                                      const ResultFolder& folder) {
  std::vector<std::string> names = key == grid.row_key ? grid.rows : grid.columns;
  for (auto& name : names) {
    const auto cell = std::find_if(grid.cells.begin(), grid.cells.end(), [&](const auto& one) {
      return (key == grid.row_key ? one.first.first : one.first.second) == name;
    });
    const auto& labels = folder.runs[cell->second->group.runs.front()].value_labels;
    if (const auto label = labels.find(key); label != labels.end()) {
      name = label->second;
    }
  }
  return names;
}

HeatMap heat_map(const PhaseGrid& grid,
                 std::size_t number,
                 const PhaseQuantity& quantity,
                 const ResultFolder& folder) {
  HeatMap map{
      .name = number == 0 ? std::string(quantity.name)
                          : fmt::format("{}-{}", quantity.name, number + 1),
      .title = fmt::format("{}{}{}", quantity.title, grid.rest.empty() ? "" : "; ", grid.rest),
      .row_key = grid.row_key,
      .column_key = grid.column_key,
      .rows = named_values(grid, grid.row_key, folder),
      .columns = named_values(grid, grid.column_key, folder),
      .cells = {},
      .row_title = short_key(grid.row_key),
      .column_title = short_key(grid.column_key)};
  for (const auto& row : grid.rows) {
    for (const auto& column : grid.columns) {
      map.cells.push_back(quantity.value(*grid.cells.at({row, column})));
    }
  }
  return map;
}

std::string cell_html(const GroupSummary& group,
                      const std::optional<double>& value,
                      const ColourScale& scale) {
  const std::string misses = group.misses();
  const std::string mark = misses.empty() ? misses : small(misses);
  if (value) {
    return fmt::format(
        "<td class=\"h{}\">{}{}</td>", scale.colour(*value), escape(short_number(value)), mark);
  }
  return fmt::format("<td>{}{}</td>", group.diverged > 0 ? "diverged" : "–", mark);
}

/// Returns the table of a diagram; `links` lead to its files.
std::string diagram(const PhaseGrid& grid, const HeatMap& map, const std::string& links) {
  const ColourScale scale(map);
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"phase diagram\">"
      "<table "
      "class=\"heat\">\n<caption><span>{0}<small>{1}</small></span></caption>\n<thead><tr><th "
      "scope=\"col\">{2} \\ {3}</th>",
      escape(map.title),
      links,
      escape(map.row_title),
      escape(map.column_title));
  for (const auto& column : map.columns) {
    html += fmt::format("<th scope=\"col\">{}</th>", escape(column));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", escape(map.rows[row]));
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const GroupSummary& group = *grid.cells.at({grid.rows[row], grid.columns[column]});
      html += cell_html(group, map.value(row, column), scale);
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

}  // namespace

std::vector<HeatMap> plan_heat_maps(const Summary& summary) {
  std::vector<HeatMap> maps;
  const auto grids = best_grids(summary);
  for (std::size_t i = 0; i < grids.size(); ++i) {
    for (const auto& quantity : phase_quantities()) {
      HeatMap map = heat_map(grids[i], i, quantity, summary.folder);
      if (!map.values().empty()) {
        maps.push_back(std::move(map));
      }
    }
  }
  return maps;
}

std::string phase_diagrams(const Summary& summary, FigureWriter& writer) {
  std::string html;
  const auto grids = best_grids(summary);
  for (std::size_t i = 0; i < grids.size(); ++i) {
    for (const auto& quantity : phase_quantities()) {
      const HeatMap map = heat_map(grids[i], i, quantity, summary.folder);
      if (!map.values().empty()) {
        html += diagram(grids[i], map, writer.draw(map));
      }
    }
  }
  if (html.empty()) {
    return html;
  }
  return "<p>Dark cells are low and bright ones high; the number in a cell is what its colour "
         "shows. Colours go by the logarithm where values differ more than twentyfold.</p>\n"
         "<div class=\"heats\">\n" +
         html + "</div>\n";
}

}  // namespace residuum::reports
