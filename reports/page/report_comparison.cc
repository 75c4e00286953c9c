#include "reports/page/report_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/numbers/words.h"
#include "reports/page/html.h"

namespace residuum::reports {
namespace {

std::string interval_text(const Spread& spread) {
  if (spread.n < 2) {
    return spread.n == 0 ? "" : "one seed: no interval";
  }
  return spread.interval ? fmt::format("[{}, {}]",
                                       short_number(spread.interval->low),
                                       short_number(spread.interval->high))
                         : "";
}

std::string at_text(const Standing& standing, const std::optional<double>& spent) {
  if (standing.unit == "bytes") {
    return fmt::format("at {}", short_bytes(spent));
  }
  if (standing.unit == "s") {
    return fmt::format("at {} s modelled", short_number(spent));
  }
  return fmt::format("at {} {}", short_number(spent), standing.cost);
}

/// Returns the groups in the order of the first standing that has a budget, best first.
std::vector<std::size_t> order_of(const std::vector<const Standing*>& shown) {
  std::vector<std::size_t> groups;
  for (const auto& reached : shown.front()->methods) {
    groups.push_back(reached.group);
  }
  return groups;
}

Cell reached_cell(const Standing& standing, std::size_t group) {
  const auto found = std::find_if(standing.methods.begin(),
                                  standing.methods.end(),
                                  [&](const Reached& reached) { return reached.group == group; });
  Cell cell = number_cell(short_number(found->value.mean));
  if (found == standing.methods.begin() && found->value.mean) {
    cell.html = fmt::format("<strong>{}</strong>", cell.html);
  }
  cell.html += small(interval_text(found->value));
  // The last value may be from long before the budget was spent where evaluations are rare.
  constexpr double kNearly = 0.95;
  if (found->spent && *found->spent < kNearly * *standing.budget) {
    cell.html += small(fmt::format("evaluated {}", at_text(standing, found->spent)));
  }
  return cell;
}

std::string comparison_html(const Comparison& comparison, const Summary& summary) {
  std::vector<const Standing*> shown;
  std::string notes;
  for (const auto& standing : comparison.standings) {
    if (standing.budget) {
      shown.push_back(&standing);
    } else {
      notes += fmt::format("<p class=\"note\">At equal {}: {}.</p>\n",
                           escape(standing.cost),
                           escape(standing.absent));
    }
  }
  if (shown.empty()) {
    return notes;
  }
  std::vector<Cell> header{text_cell("method")};
  for (const Standing* standing : shown) {
    header.push_back(number_cell(at_text(*standing, standing->budget)));
  }
  std::vector<std::vector<Cell>> rows;
  for (const std::size_t group : order_of(shown)) {
    std::vector<Cell> row{text_cell(summary.groups[group].group.label)};
    for (const Standing* standing : shown) {
      row.push_back(reached_cell(*standing, group));
    }
    rows.push_back(std::move(row));
  }
  const std::string_view quantity = comparison.quantity == "loss_gap" ? "f(w) − f*" : "f(w)";
  return fmt::format("<p>{} on {}: mean over the seeds and 95 % interval, the best bold.</p>\n",
                     escape(quantity),
                     escape(comparison.objective)) +
         table(header, rows) + notes;
}

}  // namespace

std::string comparison_tables(const Summary& summary) {
  std::string html;
  for (const auto& comparison : summary.comparisons) {
    html += comparison_html(comparison, summary);
  }
  return html;
}

std::string rates_table(const Summary& summary) {
  if (summary.rates.empty()) {
    return {};
  }
  const std::vector<Cell> header{text_cell("method"),
                                 text_cell("against"),
                                 text_cell("from … to"),
                                 number_cell("slope of log X_T"),
                                 number_cell("seeds")};
  std::vector<std::vector<Cell>> rows;
  for (const auto& rate : summary.rates) {
    Cell slope = number_cell(short_number(rate.slope.mean));
    slope.html += small(rate.slope.n < 2 ? note_on(rate) : interval_text(rate.slope));
    rows.push_back({text_cell(rate.label),
                    text_cell(rate.key),
                    text_cell(fmt::format("{} … {} ({} values)",
                                          short_number(rate.x.front()),
                                          short_number(rate.x.back()),
                                          rate.x.size())),
                    slope,
                    number_cell(fmt::format("{}", rate.slope.n))});
  }
  return "<p>A line through log X_T, X_T the mean of ‖∇f‖² over the run, per seed; where noise "
         "dominates, theory has −1/2 for iterations and for workers.</p>\n" +
         table(header, rows);
}

}  // namespace residuum::reports
