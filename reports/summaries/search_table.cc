#include "reports/summaries/search_table.h"

#include <fmt/format.h>

#include <map>

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

namespace {

Json mean_interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({json_number(interval->low), json_number(interval->high)}) : Json();
}

Json level_json(const TunedStudy& study, const TunedLevel& level) {
  const auto places = study.plan.places_of(level.level);
  Json values = Json::object();
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    values[study.plan.axes[axis].key] = study.plan.axes[axis].values[places[axis]];
  }
  return {{"values", std::move(values)},
          {"budget_share", study.plan.share(level.round)},
          {"n", level.values.size() + level.worst},
          {"diverged_or_missed", level.worst},
          {"mean", json_number(level.mean)},
          {"interval", mean_interval_json(level.interval)}};
}

/// One row of tuning.csv: the run of a trial with a seed.
struct TuningRow {
  const TunedMethod* method = nullptr;
  std::size_t trial = 0;
  std::size_t seed = 0;
  const Run* run = nullptr;  // null where it is not listed
};

std::string tuning_row(const TunedStudy& study, const TuningRow& row) {
  const TuningPlan& plan = study.plan;
  std::string line =
      fmt::format("{},{}", row.method->tuning[row.trial][row.seed], csv_field(row.method->label));
  const auto places = plan.places_of(plan.level_of(row.trial));
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    line += ',' + json_field(plan.axes[axis].values[places[axis]]);
  }
  const TuningEnd end = row.run == nullptr ? TuningEnd{} : tuning_end_of(*row.run, plan);
  const bool is_worst = end.kind == TuningEnd::Kind::worst;
  const bool is_value = end.kind == TuningEnd::Kind::value;
  const auto& best = row.method->result.best;
  line += fmt::format(
      ",{},{},{},{},{},{}\n",
      format_number(plan.share(plan.round_of(row.trial))),
      plan.seeds[row.seed],
      row.run == nullptr ? "missing" : row.run->state,
      is_value ? format_number(end.value) : std::string(),
      is_worst   ? "1"
      : is_value ? "0"
                 : "",
      row.method->result.is_over && best && best->level == plan.level_of(row.trial) ? "1" : "0");
  return line;
}

}  // namespace

std::string tuned_column_name(std::string_view key) {
  return "tuned_" + parameter_column(key).substr(2);
}

std::vector<std::string> tuned_keys(const ResultFolder& folder) {
  std::vector<std::string> keys;
  for (const auto& axis : value_at(folder.tune, "axes")) {
    keys.push_back(text_at(axis, "key"));
  }
  return keys;
}

std::vector<RunColumn> tuning_columns(const std::vector<std::string>& keys) {
  std::vector<RunColumn> columns{{"run_id", "string", "the tuning run; runs.csv has none of them"},
                                 {"method", "string", "what is tuned, as the report names it"}};
  for (const auto& key : keys) {
    columns.push_back({tuned_column_name(key), "string", "value of " + key});
  }
  columns.insert(
      columns.end(),
      {{"budget_share", "number", "of the study's budget; below 1 in rounds of halving"},
       {"seed", "integer", "of the tuning"},
       {"status", "string", "finished, diverged, failed, interrupted, running or missing"},
       {"quantity", "number", "what is tuned by; empty where the run came to no number"},
       {"diverged_or_missed", "boolean", "worse than any number; empty before the run's end"},
       {"chosen", "boolean", "the value is the best, at which the study's own runs are"}});
  return columns;
}

std::string tuning_csv(const TunedStudy& study, const ResultFolder& folder) {
  std::string text;
  for (const auto& column : tuning_columns(tuned_keys(folder))) {
    text += (text.empty() ? "" : ",") + csv_field(column.name);
  }
  text += '\n';
  std::map<std::string, const Run*> runs;
  for (const auto& run : folder.tuning_runs) {
    runs.emplace(run.id, &run);
  }
  for (const auto& method : study.methods) {
    for (const std::size_t trial : method.result.needed) {
      for (std::size_t seed = 0; seed < study.plan.seeds.size(); ++seed) {
        const auto found = runs.find(method.tuning[trial][seed]);
        text += tuning_row(study,
                           {.method = &method,
                            .trial = trial,
                            .seed = seed,
                            .run = found == runs.end() ? nullptr : found->second});
      }
    }
  }
  return text;
}

Json tuning_json(const TunedStudy& study) {
  Json methods = Json::array();
  for (const auto& method : study.methods) {
    Json levels = Json::array();
    for (const auto& level : method.result.levels) {
      levels.push_back(level_json(study, level));
    }
    methods.push_back(
        {{"method", method.label},
         {"varying", method.varying},
         {"over", method.result.is_over},
         {"trouble", method.result.trouble},
         {"best", method.result.best ? level_json(study, *method.result.best) : Json()},
         {"tuned_on", tuned_on(study, method)},
         {"left_out", method.result.left_out},
         {"undecided", method.result.undecided},
         {"at_edge", !method.result.edges.empty()},
         {"sentence", sentence_of(study, method)},
         {"warning", edge_warning(study, method)},
         {"levels", std::move(levels)}});
  }
  return {{"quantity", quantity_words(study.plan)},
          {"seeds", study.plan.seeds},
          {"extend", study.plan.extends},
          {"halving", study.plan.halving},
          {"over", study.is_over()},
          {"methods", std::move(methods)}};
}

}  // namespace residuum::reports
