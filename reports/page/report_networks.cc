#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
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
             "reached: median over the seeds and quartiles, the fastest bold where the 95 % "
             "interval "
             "of its mean lead over each other method, over common seeds, excludes zero. A run is "
             "there at the first iteration at which it was evaluated there; one that diverged "
             "before has "
             "taken infinitely long.</p>\n",
             escape(quantity),
             escape(short_number(comparison.target)),
             escape(comparison.objective)) +
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
