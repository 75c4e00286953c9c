#include "reports/summaries/search_table.h"

#include <fmt/format.h>

#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

std::string bounds_of(const std::optional<Interval>& interval) {
  return interval
             ? fmt::format("{},{}", format_number(interval->low), format_number(interval->high))
             : std::string(",");
}

Json ends_of(const std::optional<Interval>& interval) {
  return interval ? Json::array({json_number(interval->low), json_number(interval->high)}) : Json();
}

Json look_json(const CriticalRatio& search, const SearchLook& look) {
  return {{"name", search.name(look.level)},
          {"value", search.values[look.level]},
          {"ratio", search.ratios.empty() ? Json() : Json(search.ratios[look.level])},
          {"n", look.n},
          {"decision", word_of(look.decision)},
          {"loss", json_number(look.loss)},
          {"interval", ends_of(look.loss_interval)},
          {"excess", json_number(look.excess)},
          {"excess_interval", ends_of(look.excess_interval)},
          {"skewness", look.skewness}};
}

}  // namespace

const std::vector<RunColumn>& search_columns() {
  static const std::vector<RunColumn> columns{
      {"look", "integer", "looks in the order in which they were made, from 1"},
      {"value", "string", "of the key of the search"},
      {"ratio", "number", "1/density; empty where the key is no density"},
      {"n", "integer", "seeds"},
      {"error", "number", "the part of alpha that the look spends"},
      {"loss", "number", "mean over the seeds of how much worse than dense training a run ends"},
      {"loss_low", "number", "end of its Student interval, of confidence 1 - error"},
      {"loss_high", "number", ""},
      {"excess", "number", "mean of the loss less the margin"},
      {"excess_low", "number", "end of its interval, which decides"},
      {"excess_high", "number", ""},
      {"decision", "string", "no loss, loss, undecided, or none found (without a margin)"}};
  return columns;
}

std::string search_csv(const CriticalRatio& search) {
  std::string text;
  for (const auto& column : search_columns()) {
    text += (text.empty() ? "" : ",") + column.name;
  }
  text += '\n';
  std::size_t number = 0;
  for (const auto& look : search.result.looks) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n",
                        ++number,
                        json_field(search.values[look.level]),
                        search.ratios.empty() ? "" : format_number(search.ratios[look.level]),
                        look.n,
                        format_number(look.error),
                        format_number(look.loss),
                        bounds_of(look.loss_interval),
                        format_number(look.excess),
                        bounds_of(look.excess_interval),
                        word_of(look.decision));
  }
  return text;
}

Json search_json(const CriticalRatio& search) {
  const SearchPlan& plan = search.plan;
  const SearchResult& result = search.result;
  Json levels = Json::array();
  for (std::size_t level = 0; level < plan.levels; ++level) {
    if (const auto* look = result.last_look(level)) {
      levels.push_back(look_json(search, *look));
    }
  }
  return {
      {"key", search.key},
      {"quantity", search.quantity},
      {"margin", plan.margin},
      {"relative", plan.is_relative},
      {"alpha", plan.alpha},
      {"order", plan.ascends ? "ascending" : "bisection"},
      {"over", result.is_over},
      {"trouble", result.trouble},
      {"largest", result.largest ? search.values[*result.largest] : Json()},
      {"largest_ratio",
       result.largest && !search.ratios.empty() ? Json(search.ratios[*result.largest]) : Json()},
      {"monotone", result.is_monotone},
      {"levels", levels},
      {"sentence", sentence_of(search)}};
}

}  // namespace residuum::reports
