#include "reports/analysis/tuning_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kMostTunedLevels = 100'000;

Column tuned_column(const std::string& quantity) {
  if (quantity == "accuracy") {
    return Column::test_accuracy;
  }
  return quantity == "loss-gap" ? Column::loss_gap : Column::loss;
}

std::size_t tuned_cost(const std::string& quantity) {
  if (quantity == "bytes") {
    return kCostBytes;
  }
  return quantity == "time" ? kCostTime : kCostIterations;
}

/// Returns an end of this value; one that is no finite number is worse than any.
TuningEnd end_of_value(const std::optional<double>& value) {
  if (!value) {
    return {.kind = TuningEnd::Kind::unmeasured};
  }
  return std::isfinite(*value) ? TuningEnd{.kind = TuningEnd::Kind::value, .value = *value}
                               : TuningEnd{.kind = TuningEnd::Kind::worst};
}

/// Reads what a run had spent when it was first evaluated at the target.
TuningEnd cost_of_target(const Run& run, const TuningPlan& plan) {
  const std::size_t cost = tuned_cost(plan.quantity);
  const bool is_accuracy = plan.target_of == "accuracy";
  std::optional<TuningEnd> end;
  bool was_evaluated = false;
  read_evaluations(run, tuned_column(plan.target_of), [&](const Costs& spent, double value) {
    was_evaluated = true;
    const bool is_there = is_accuracy ? value >= *plan.target : value <= *plan.target;
    if (!end && is_there) {
      end = end_of_value(spent[cost]);
    }
  });
  const auto missed = was_evaluated ? TuningEnd::Kind::worst : TuningEnd::Kind::unmeasured;
  return end.value_or(TuningEnd{.kind = missed});
}

std::size_t count_in(const Json& object, std::string_view key) {
  const double value = number_at(object, key).value_or(-1);
  return value >= 0 && value < static_cast<double>(kMostTunedLevels)
             ? static_cast<std::size_t>(value)
             : kMostTunedLevels;
}

TuningAxis axis_from(const Json& record) {
  TuningAxis axis{.key = text_at(record, "key"),
                  .values = {},
                  .numbers = {},
                  .first = count_in(record, "first"),
                  .last = count_in(record, "last")};
  for (const auto& value : value_at(record, "values")) {
    axis.values.push_back(value);
  }
  for (const auto& number : value_at(record, "numbers")) {
    axis.numbers.push_back(number.is_number() ? number.get<double>() : std::nan(""));
  }
  return axis;
}

bool is_sound_axis(const TuningAxis& axis) {
  return !axis.key.empty() && axis.first <= axis.last && axis.last < axis.values.size() &&
         axis.values.size() <= kMostTunedLevels &&
         (axis.numbers.empty() || axis.numbers.size() == axis.values.size()) &&
         std::all_of(axis.numbers.begin(), axis.numbers.end(), [](double one) {
           return std::isfinite(one);
         });
}

bool is_sound_plan(const TuningPlan& plan) {
  double levels = 1;
  for (const auto& axis : plan.axes) {
    levels *= is_sound_axis(axis) ? static_cast<double>(axis.values.size()) : std::nan("");
  }
  return !plan.axes.empty() && levels <= static_cast<double>(kMostTunedLevels) &&
         plan.halving != 1 && plan.halving <= kMostHalving && !plan.seeds.empty() &&
         (plan.target_of.empty() || plan.target.has_value());
}

TuningPlan tuning_plan_from(const Json& record) {
  TuningPlan plan{.axes = {},
                  .quantity = text_at(record, "quantity"),
                  .target_of = text_at(record, "target_of"),
                  .target = number_at(record, "target"),
                  .seeds = {},
                  .extends = flag_at(record, "extend", false),
                  .halving = count_in(record, "halving")};
  for (const auto& axis : value_at(record, "axes")) {
    plan.axes.push_back(axis_from(axis));
  }
  for (const auto& seed : value_at(record, "seeds")) {
    plan.seeds.push_back(seed.is_number_unsigned() ? seed.get<std::uint64_t>() : 0);
  }
  return plan;
}

RunsByLevel runs_by_level(const Json& record) {
  RunsByLevel runs;
  for (const auto& level : record) {
    auto& ids = runs.emplace_back();
    for (const auto& id : level) {
      ids.push_back(plain_text(id));
    }
  }
  return runs;
}

bool is_sound_method(const TunedMethod& method, const TuningPlan& plan) {
  if (!method.varying.is_object() || method.tuning.size() != plan.trials() ||
      method.final.size() != plan.levels()) {
    return false;
  }
  for (std::size_t trial = 0; trial < plan.trials(); ++trial) {
    const auto& ids = method.tuning[trial];
    const bool is_whole =
        ids.size() == plan.seeds.size() && !method.final[plan.level_of(trial)].empty();
    if (!ids.empty() && !is_whole) {
      return false;
    }
  }
  return true;
}

/// The runs in the folder of a tuned study: tuning runs by name, and groups of the other runs.
struct TunedRuns {
  std::map<std::string, const Run*> tuning;
  std::map<std::string, std::size_t> groups;  // of the other runs
};

TunedRuns tuned_runs(const ResultFolder& folder, const std::vector<Group>& groups) {
  TunedRuns runs;
  for (const auto& run : folder.tuning_runs) {
    runs.tuning.emplace(run.id, &run);
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::size_t run : groups[group].runs) {
      runs.groups.emplace(folder.runs[run].id, group);
    }
  }
  return runs;
}

/// Returns the group of a method's runs; nothing where none has begun.
std::optional<std::size_t> group_of(const TunedMethod& method, const TunedRuns& runs) {
  for (const auto& ids : method.final) {
    const auto found = ids.empty() ? runs.groups.end() : runs.groups.find(ids.front());
    if (found != runs.groups.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

/// Returns the name of a method by one of its tuning runs, whose label and varying keys also say
/// what it is tuned to.
std::string label_by_run(const TunedMethod& method, const std::string& own, const TunedRuns& runs) {
  for (const auto& ids : method.tuning) {
    const auto found = ids.empty() ? runs.tuning.end() : runs.tuning.find(ids.front());
    if (found != runs.tuning.end() && found->second->is_known) {
      Run run = *found->second;
      run.varying = method.varying;
      run.label = own;
      return method_label(run);
    }
  }
  return own;
}

TunedMethod tuned_method(const Json& record,
                         const TuningPlan& plan,
                         const TunedRuns& runs,
                         const std::vector<Group>& groups) {
  TunedMethod method{.label = {},
                     .varying = value_at(record, "varying"),
                     .group = std::nullopt,
                     .tuning = runs_by_level(value_at(record, "tuning")),
                     .final = runs_by_level(value_at(record, "final")),
                     .result = {}};
  require(is_sound_method(method, plan), "the tuning is not one that this program has written");
  method.group = group_of(method, runs);
  if (method.group) {
    method.label = groups[*method.group].label;
  } else {
    method.label = label_by_run(method, text_at(record, "label"), runs);
  }
  method.result = follow_tuning(
      plan,
      [&](std::size_t level) { return method.has(level); },
      [&](std::size_t trial, std::size_t seed) {
        const auto found = runs.tuning.find(method.tuning[trial][seed]);
        return found == runs.tuning.end() ? TuningEnd{} : tuning_end_of(*found->second, plan);
      });
  return method;
}

/// Returns "step.value of 5 values from 0.1 to 1", or the values where they have no order.
std::string axis_words(const TuningAxis& axis, std::size_t low, std::size_t high) {
  if (axis.is_ordered()) {
    return fmt::format("{} of {} values from {} to {}",
                       axis.key,
                       high - low + 1,
                       plain_text(axis.values[low]),
                       plain_text(axis.values[high]));
  }
  std::vector<std::string> values;
  for (const auto& value : axis.values) {
    values.push_back(plain_text(value));
  }
  return fmt::format("{} of {}", axis.key, fmt::join(values, " "));
}

std::string values_words(const TuningPlan& plan, const TuningResult& result) {
  std::string text;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    text += (text.empty() ? "" : "; ") + axis_words(plan.axes[i], result.low[i], result.high[i]);
  }
  return text;
}

std::string mean_words(const TunedLevel& level) {
  if (!level.mean) {
    return "no run came to a number";
  }
  return fmt::format("{}{}",
                     short_number(level.mean, digits_for(level.interval)),
                     level.interval ? " " + short_interval(*level.interval) : std::string());
}

}  // namespace

bool TunedStudy::is_over() const {
  return std::all_of(
      methods.begin(), methods.end(), [](const TunedMethod& one) { return one.result.is_over; });
}

TuningEnd tuning_end_of(const Run& run, const TuningPlan& plan) {
  if (run.state == "diverged") {
    return {.kind = TuningEnd::Kind::worst};
  }
  if (run.state != "finished") {
    return {.kind = run.state == "failed" ? TuningEnd::Kind::failed : TuningEnd::Kind::missing};
  }
  if (!plan.target_of.empty()) {
    return cost_of_target(run, plan);
  }
  return end_of_value(number_at(run.status, final_path(tuned_column(plan.quantity))));
}

TuningEnd tuning_end_of(const std::filesystem::path& result_dir,
                        const std::string& run_id,
                        const TuningPlan& plan) {
  try {
    return tuning_end_of(read_run(result_dir / "runs" / run_id, run_id), plan);
  } catch (const Error& error) {
    if (error.code() == ExitCode::resource) {
      throw;
    }
    return {};
  }
}

Json tuning_record(const TuningPlan& plan) {
  Json axes = Json::array();
  for (const auto& axis : plan.axes) {
    axes.push_back({{"key", axis.key},
                    {"values", axis.values},
                    {"numbers", axis.numbers},
                    {"first", axis.first},
                    {"last", axis.last}});
  }
  return {{"axes", std::move(axes)},
          {"quantity", plan.quantity},
          {"target_of", plan.target_of},
          {"target", json_number(plan.target)},
          {"seeds", plan.seeds},
          {"extend", plan.extends},
          {"halving", plan.halving}};
}

std::optional<TunedStudy> tuned_study(const ResultFolder& folder,
                                      const std::vector<Group>& groups) {
  if (folder.tune.is_null() || !folder.mixed_data.empty()) {
    return std::nullopt;
  }
  TunedStudy study{.plan = tuning_plan_from(folder.tune), .methods = {}};
  require(is_sound_plan(study.plan),
          "the tuning in '{}' is not one that this program has written",
          (folder.path / "study.resolved.json").string());
  const TunedRuns runs = tuned_runs(folder, groups);
  for (const auto& method : value_at(folder.tune, "methods")) {
    study.methods.push_back(tuned_method(method, study.plan, runs, groups));
  }
  return study;
}

std::string quantity_words(const TuningPlan& plan) {
  return plan.target_of.empty() ? plan.quantity
                                : fmt::format("{} to {} {} of {}",
                                              plan.quantity,
                                              plan.target_of == "accuracy" ? "an" : "a",
                                              plan.target_of,
                                              short_number(plan.target));
}

std::string tuned_on(const TunedStudy& study, const TunedMethod& method) {
  return fmt::format("{}, seed{} {}, {}",
                     quantity_words(study.plan),
                     study.plan.seeds.size() == 1 ? "" : "s",
                     fmt::join(study.plan.seeds, " "),
                     values_words(study.plan, method.result));
}

std::string edge_warning(const TunedStudy& study, const TunedMethod& method) {
  std::string text;
  for (const auto& edge : method.result.edges) {
    const TuningAxis& axis = study.plan.axes[edge.axis];
    const std::size_t place = (edge.is_upper ? method.result.high : method.result.low)[edge.axis];
    text += fmt::format("{}the best {} of {}, {}, is the {} that was tried: {} ones may be better",
                        text.empty() ? "" : "; ",
                        axis.key,
                        method.label,
                        plain_text(axis.values[place]),
                        edge.is_upper ? "largest" : "smallest",
                        edge.is_upper ? "larger" : "smaller");
  }
  return text;
}

std::string sentence_of(const TunedStudy& study, const TunedMethod& method) {
  const TuningResult& result = method.result;
  if (!result.is_over || !result.best) {
    return result.trouble.empty()
               ? fmt::format("{} is not tuned yet", method.label)
               : fmt::format("{} is not tuned: {}", method.label, result.trouble);
  }
  std::string text = fmt::format("{} runs at {}, tuned by {}: {}, n = {}",
                                 method.label,
                                 study.plan.name(result.best->level),
                                 quantity_words(study.plan),
                                 mean_words(*result.best),
                                 result.best->values.size());
  if (result.best->worst > 0) {
    text += fmt::format(
        "; {} of {} tuning runs diverged or missed", result.best->worst, study.plan.seeds.size());
  }
  if (result.left_out > 0) {
    text += fmt::format(
        "; halving left out {} values on a part of the budget, of which {} were not significantly "
        "worse "
        "than one that stayed",
        result.left_out,
        result.undecided);
  }
  return text;
}

}  // namespace residuum::reports
