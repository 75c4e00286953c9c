#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

std::string interval_text(const std::optional<Interval>& interval, std::size_t seeds) {
  if (interval) {
    return short_interval(*interval);
  }
  return seeds == 0 ? "" : seeds == 1 ? "one seed: no interval" : "too few seeds for an interval";
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

/// Returns "n = 6, 2 of them infinite".
std::string seeds_text(const Reached& reached) {
  const auto& values = reached.value.values;
  const auto misses =
      std::count_if(values.begin(), values.end(), [](double one) { return !std::isfinite(one); });
  return fmt::format(
      "n = {}{}", reached.value.n, misses == 0 ? "" : fmt::format(", {} of them infinite", misses));
}

/// Returns the groups in the order of the first standing that has a budget, best first.
std::vector<std::size_t> order_of(const std::vector<const Standing*>& shown) {
  std::vector<std::size_t> groups;
  for (const auto& reached : shown.front()->methods) {
    groups.push_back(reached.group);
  }
  return groups;
}

/// Returns in words by how much a method is behind the first, over the seeds of both.
std::string behind_text(const Reached& other, const Reached& best, IntervalKind kind) {
  const Difference difference = difference_of(other, best, kind);
  if (!difference.is_paired || !difference.mean) {
    return {};
  }
  if (!std::isfinite(*difference.mean)) {
    return "∞ behind the best, as some of its seeds diverged";
  }
  const auto seeds = seeds_to_decide(difference);
  return fmt::format(
      "{}{} {} to the best, same seeds{}",
      *difference.mean < 0 ? "" : "+",
      short_number(difference.mean, digits_for(difference.interval)),
      interval_text(difference.interval, difference.values.size()),
      seeds ? fmt::format("; about {} would decide", short_number(seeds)) : std::string());
}

Cell reached_cell(const Standing& standing, std::size_t group, IntervalKind kind) {
  const auto found = std::find_if(standing.methods.begin(),
                                  standing.methods.end(),
                                  [&](const Reached& reached) { return reached.group == group; });
  const Centre centre = centre_with_misses(found->value.values, kind);
  const bool is_first = found == standing.methods.begin();
  Cell cell =
      measured_cell(centre.middle, centre.interval, is_first && best_is_decided(standing, kind));
  if (!centre.middle || std::isfinite(*centre.middle)) {
    cell.html += small(interval_text(centre.interval, centre.n));
  }
  cell.html += small(seeds_text(*found));
  const std::string behind = is_first ? "" : behind_text(*found, standing.methods.front(), kind);
  cell.html += behind.empty() ? behind : small(behind);
  // The last value may be from long before the budget was spent where evaluations are rare.
  constexpr double kNearly = 0.95;
  if (found->spent && *found->spent < kNearly * *standing.budget) {
    cell.html += small(fmt::format("evaluated {}", at_text(standing, found->spent)));
  }
  return cell;
}

/// Returns the reason why no method is bold; empty where one may be.
std::string not_bold_note(const Standing& standing) {
  return standing.unequal.empty()
             ? std::string()
             : fmt::format(
                   "<p class=\"note\">At equal {} no method is bold: {}. Equal samples "
                   "stand beside it.</p>\n",
                   escape(standing.cost),
                   escape(standing.unequal));
}

std::string comparison_html(const Comparison& comparison,
                            const Summary& summary,
                            IntervalKind kind) {
  std::vector<const Standing*> shown;
  std::string notes;
  for (const auto& standing : comparison.standings) {
    if (standing.budget) {
      shown.push_back(&standing);
      notes += not_bold_note(standing);
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
  TableUse use;
  for (const std::size_t group : order_of(shown)) {
    use.methods.emplace_back(group);
    std::vector<Cell> row{method_cell(summary.groups[group])};
    for (const Standing* standing : shown) {
      row.push_back(reached_cell(*standing, group, kind));
    }
    rows.push_back(std::move(row));
  }
  const std::string_view quantity = comparison.quantity == "loss_gap" ? "f(w) − f*" : "f(w)";
  return fmt::format(
             "<p>{} on {}: {} over the seeds. Rows are in the order of the means of the first "
             "column. {} A run that diverged has reached nothing: its value is infinite.</p>\n",
             escape(quantity),
             escape(comparison.objective),
             interval_words(kind),
             escape(bold_words(kind))) +
         table(header, rows, use) + notes;
}

}  // namespace

std::string comparison_tables(const Summary& summary, IntervalKind kind) {
  std::string html;
  for (const auto& comparison : summary.comparisons) {
    html += comparison_html(comparison, summary, kind);
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
    Cell slope = measured_cell(rate.slope.mean, rate.slope.interval, false);
    if (rate.slope.n >= 2) {
      slope.html += small(interval_text(rate.slope.interval, rate.slope.n));
    }
    if (const std::string note = note_on(rate); !note.empty()) {
      slope.html += small(note);
    }
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

namespace {

std::string seconds(const std::optional<double>& value) {
  return value ? short_number(value) + " s" : "";
}

std::string quartiles(const Spread& spread) {
  if (spread.n < 2) {
    return "one seed";
  }
  return short_interval({.low = *spread.lower_quartile, .high = *spread.upper_quartile});
}

/// Returns the least median time to the target on the network.
double fastest(const NetworkComparison& comparison, const std::string& network) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& time : comparison.times) {
    if (time.network == network && time.to_target.median) {
      least = std::min(least, *time.to_target.median);
    }
  }
  return least;
}

Cell target_cell(const NetworkComparison& comparison, const NetworkTime& time) {
  const auto& median = time.to_target.median;
  Cell cell = number_cell(seconds(median));
  if (!median) {
    return cell;
  }
  const double least = fastest(comparison, time.network);
  if (time.is_fastest) {
    cell.html = fmt::format("<strong>{}</strong>", cell.html);
  }
  if (std::isfinite(*median) && *median > least && least > 0) {
    cell.html += small(fmt::format("{} times the fastest", short_number(*median / least)));
  }
  cell.html += small(quartiles(time.to_target)) + small(fmt::format("n = {}", time.to_target.n));
  return cell;
}

std::string target_table(const NetworkComparison& comparison, const Summary& summary) {
  std::vector<Cell> header{text_cell("method")};
  for (const auto& network : comparison.networks) {
    header.push_back(number_cell(network));
  }
  std::vector<std::vector<Cell>> rows;
  TableUse use;
  for (std::size_t i = 0; i < comparison.times.size(); i += comparison.networks.size()) {
    use.methods.emplace_back(comparison.times[i].group);
    rows.push_back({method_cell(summary.groups[comparison.times[i].group])});
    for (std::size_t n = 0; n < comparison.networks.size(); ++n) {
      rows.back().push_back(target_cell(comparison, comparison.times[i + n]));
    }
  }
  const std::string_view quantity = comparison.quantity == "loss_gap" ? "f(w) − f*" : "f(w)";
  return fmt::format(
             "<p>Virtual time until {} ≤ {} on {}, the best value that every finished run has "
             "reached: median over the seeds and quartiles. {} A run is there at the first "
             "iteration at which it was evaluated there; one that diverged before has taken "
             "infinitely long.</p>\n",
             escape(quantity),
             escape(short_number(comparison.target)),
             escape(comparison.objective),
             escape(bold_words(IntervalKind::student))) +
         table(header, rows, use);
}

std::string parts_table(const NetworkComparison& comparison, const Summary& summary) {
  std::vector<Cell> header{text_cell("method"), text_cell("network"), number_cell("whole run")};
  for (const char* part : {"gradients", "selection", "merges", "messages"}) {
    header.push_back(number_cell(part));
  }
  std::vector<std::vector<Cell>> rows;
  TableUse use;
  for (const auto& time : comparison.times) {
    use.methods.emplace_back(time.group);
    rows.push_back({method_cell(summary.groups[time.group]),
                    text_cell(time.network),
                    number_cell(seconds(time.total.mean))});
    for (const Spread& part : time.parts) {
      rows.back().push_back(number_cell(seconds(part.mean)));
    }
  }
  return "<p>What the time of a whole run goes to, mean over the runs that finished. Each part is "
         "the time by "
         "which the run is longer with it than without, in this order; selection and merges are 0 "
         "where <code>network.local</code> is not \"measured\".</p>\n" +
         table(header, rows, use);
}

}  // namespace

std::string network_tables(const Summary& summary) {
  std::string html;
  for (const auto& comparison : summary.on_networks) {
    html += target_table(comparison, summary) + parts_table(comparison, summary);
  }
  return html;
}

}  // namespace residuum::reports
