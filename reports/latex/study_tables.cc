#include "reports/latex/study_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "reports/analysis/byte_budgets.h"
#include "reports/analysis/comparison.h"
#include "reports/analysis/expected.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/statistics.h"
#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

/// Throws a usage error where no method of any objective has reached a budget.
void require_reached(const std::vector<BudgetComparison>& comparisons,
                     const std::vector<double>& budgets) {
  double most = 0;
  for (const auto& comparison : comparisons) {
    most = std::max(most, comparison.most);
  }
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    const bool is_reached =
        std::any_of(comparisons.begin(), comparisons.end(), [&](const BudgetComparison& one) {
          return std::any_of(one.methods.begin(), one.methods.end(), [&](const auto& method) {
            return method.values[i].has_value();
          });
        });
    require(is_reached,
            "--at {}: no method was evaluated on both sides of it in every seed; the most that a "
            "run has sent is {}",
            short_bytes(budgets[i]),
            short_bytes(most));
  }
}

std::string_view quantity_words_of(const BudgetComparison& comparison) {
  return comparison.quantity == "loss_gap" ? "f − f*" : "f";
}

bool any_ended_before(const BudgetComparison& comparison) {
  return std::any_of(
      comparison.methods.begin(), comparison.methods.end(), [](const MethodAtBudgets& method) {
        return std::any_of(
            method.values.begin(), method.values.end(), [](const auto& one) { return !one; });
      });
}

std::string budget_caption(const BudgetComparison& comparison) {
  std::string caption = fmt::format(
      "{} on {} when so many bytes were sent, between all workers and servers and both ways. A "
      "value is on the line between the two evaluations around the budget, which are at most {} "
      "apart.",
      quantity_words_of(comparison),
      comparison.objective,
      short_bytes(comparison.resolution));
  if (any_ended_before(comparison)) {
    caption += " A method of which a run ended before the budget has no value there.";
  }
  return caption;
}

TableSpec budget_spec(const BudgetComparison& comparison,
                      const Summary& summary,
                      const std::vector<double>& budgets,
                      IntervalKind kind) {
  TableSpec spec{.name = "at-bytes",
                 .title = fmt::format("{} at equal bytes", quantity_words_of(comparison)),
                 .caption = budget_caption(comparison),
                 .interval = std::string(interval_words(kind)),
                 .columns = {{.key = "method", .title = "method"}},
                 .rows = {}};
  for (const double budget : budgets) {
    spec.columns.push_back({.key = fmt::format("at_{:.0f}_bytes", budget),
                            .title = short_bytes(budget),
                            .is_number = true});
  }
  for (const auto& method : comparison.methods) {
    std::vector<TableCell> row{text_of(summary.groups[method.group].group.label)};
    for (const auto& values : method.values) {
      row.push_back(values ? centre_cell(centre_with_misses(*values, kind))
                           : number_of(std::nullopt));
    }
    spec.rows.push_back(std::move(row));
    spec.methods.emplace_back(method.group);
  }
  return spec;
}

}  // namespace

std::vector<TableSpec> budget_specs(const Summary& summary,
                                    const std::vector<double>& budgets,
                                    IntervalKind kind) {
  if (budgets.empty()) {
    return {};
  }
  const auto comparisons = compare_at_budgets(summary.folder, groups_of(summary), budgets);
  require_reached(comparisons, budgets);
  std::vector<TableSpec> specs;
  specs.reserve(comparisons.size());
  for (const auto& comparison : comparisons) {
    specs.push_back(budget_spec(comparison, summary, budgets, kind));
  }
  return specs;
}

namespace {

std::string quantity_words(const Expected& expected) {
  if (is_one_number(expected.quantity)) {
    return expected.quantity;
  }
  const bool is_word = expected.at == "end" || expected.at == "max" || expected.at == "mean";
  return fmt::format("{}, {}{}", expected.quantity, is_word ? "" : "t = ", expected.at);
}

/// Returns in words whether the paper's value lies within our interval, or whether its interval
/// overlaps ours.
std::string within_words(const Expected& expected, const std::optional<Interval>& ours) {
  if (!ours || (!expected.value && !expected.interval)) {
    return "–";
  }
  const double low = expected.interval ? expected.interval->low : *expected.value;
  const double high = expected.interval ? expected.interval->high : *expected.value;
  return low <= ours->high && ours->low <= high ? "yes" : "no";
}

}  // namespace

std::optional<TableSpec> expected_spec(const std::vector<ExpectedResult>& results,
                                       const std::vector<Group>& groups,
                                       IntervalKind kind) {
  if (results.empty()) {
    return std::nullopt;
  }
  const auto of_mean = kind == IntervalKind::quartiles ? IntervalKind::student : kind;
  TableSpec spec{.name = "expected",
                 .title = "Published values and ours",
                 .caption =
                     "Published values and ours. They meet where the published value, or "
                     "its interval, which may be its rounding, overlaps our interval; this "
                     "is over our seeds and says nothing of the source's own spread.",
                 .interval = std::string(interval_words(of_mean)),
                 .columns = {{.key = "quantity", .title = "quantity"},
                             {.key = "method", .title = "method"},
                             {.key = "published", .title = "published", .is_number = true},
                             {.key = "ours", .title = "ours", .is_number = true},
                             {.key = "seeds", .title = "n", .is_number = true},
                             {.key = "meets", .title = "meets"},
                             {.key = "source", .title = "source"}},
                 .rows = {}};
  for (const auto& [expected, group, values] : results) {
    TableCell theirs = number_of(expected.value);
    theirs.interval = expected.interval;
    const Centre ours = centre_with_misses(values, of_mean);
    TableCell mean = centre_cell(ours);
    spec.rows.push_back({text_of(quantity_words(expected)),
                         text_of(group ? groups[*group].label : "no such method"),
                         std::move(theirs),
                         std::move(mean),
                         number_of(static_cast<double>(values.size())),
                         text_of(within_words(expected, ours.interval)),
                         text_of(expected.source)});
  }
  return spec;
}

namespace {

struct ResultMetric {
  std::string_view name;
  std::string_view title;
  bool higher_is_better = false;
};
constexpr std::array<ResultMetric, 5> kResultMetrics{
    {{"final_loss", "final f"},
     {"final_loss_gap", "final f − f*"},
     {"final_test_loss", "test loss"},
     {"final_test_accuracy", "test accuracy", true},
     {"final_test_perplexity", "test perplexity"}}};

std::string_view words_of_quantity(std::string_view quantity) {
  return quantity == "loss_gap" ? "f − f*" : "f";
}

/// Adds to each row how many of the method's runs have diverged or not finished, where any have.
/// `groups` are those of the rows; `words` say in the caption what such a run counts as.
void add_misses(const Summary& summary,
                const std::vector<std::size_t>& groups,
                std::string_view words,
                TableSpec& spec) {
  const auto unfinished = [](const GroupSummary& group) {
    return group.group.runs.size() - group.finished - group.diverged;
  };
  bool any_diverged = false;
  bool any_unfinished = false;
  for (const std::size_t group : groups) {
    any_diverged = any_diverged || summary.groups[group].diverged > 0;
    any_unfinished = any_unfinished || unfinished(summary.groups[group]) > 0;
  }
  const auto add = [&](const char* title, const auto& count) {
    spec.columns.push_back({.key = title, .title = title, .is_number = true});
    for (std::size_t row = 0; row < groups.size(); ++row) {
      spec.rows[row].push_back(number_of(static_cast<double>(count(summary.groups[groups[row]]))));
    }
  };
  if (any_diverged || any_unfinished) {
    add("runs", [](const GroupSummary& group) { return group.group.runs.size(); });
  }
  if (any_diverged) {
    add("diverged", [](const GroupSummary& group) { return group.diverged; });
    spec.caption += words;
  }
  if (any_unfinished) {
    add("unfinished", unfinished);
  }
}

/// Returns where a metric ended in the group's runs, with the sign that makes less better.
Reached ends_of(const Summary& summary, std::size_t group, const ResultMetric& metric) {
  const auto& known = run_metrics();
  const auto found = std::find_if(
      known.begin(), known.end(), [&](const Metric& one) { return one.name == metric.name; });
  Reached reached = end_of(summary.folder, summary.groups[group].group, group, *found);
  if (metric.higher_is_better) {
    std::vector<double> values = reached.value.values;
    std::transform(values.begin(), values.end(), values.begin(), std::negate<>());
    reached.value = spread_of(values);
  }
  return reached;
}

/// Returns the method that is ahead of all others in the metric; none where that is not decided.
std::optional<std::size_t> best_method(const Summary& summary,
                                       const ResultMetric& metric,
                                       IntervalKind kind) {
  const auto fields = fields_of(summary.folder, groups_of(summary));
  if (fields.size() != 1 || !took_equal_samples(summary.folder, fields.front())) {
    return std::nullopt;  // different objectives cannot be compared, nor unequal samples
  }
  Standing standing{.cost = {}, .unit = {}, .budget = std::nullopt, .methods = {}, .absent = {}};
  for (std::size_t group = 0; group < summary.groups.size(); ++group) {
    Reached reached = ends_of(summary, group, metric);
    if (reached.value.n > 0 && !reached.value.median) {
      return std::nullopt;  // a value that is no number
    }
    standing.methods.push_back(std::move(reached));
  }
  sort_best_first(standing.methods);
  if (!best_is_decided(standing, kind)) {
    return std::nullopt;
  }
  return standing.methods.front().group;
}

/// Returns the groups of a table that has a row for each, in their order.
std::vector<std::size_t> rows_of(std::size_t groups) {
  std::vector<std::size_t> rows(groups);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

TableSpec results_spec(const Summary& summary, IntervalKind kind) {
  TableSpec spec{.name = "results",
                 .title = "Where the methods ended",
                 .caption =
                     "Where the methods ended; bytes are the median of all that the workers "
                     "sent, δ is the largest of any iteration. " +
                     bold_words(kind),
                 .interval = std::string(interval_words(kind)),
                 .columns = {{.key = "method", .title = "method"}},
                 .rows = {}};
  for (const auto& group : summary.groups) {
    spec.rows.push_back({text_of(group.group.label)});
  }
  for (const auto& metric : kResultMetrics) {
    const bool is_known =
        std::any_of(summary.groups.begin(), summary.groups.end(), [&](const auto& group) {
          return group.metric(metric.name) != nullptr;
        });
    if (!is_known) {
      continue;
    }
    spec.columns.push_back(
        {.key = std::string(metric.name), .title = std::string(metric.title), .is_number = true});
    const auto best = best_method(summary, metric, kind);
    for (std::size_t i = 0; i < summary.groups.size(); ++i) {
      const Spread* spread = summary.groups[i].metric(metric.name);
      TableCell cell = spread == nullptr ? number_of(std::nullopt)
                                         : centre_cell(centre_with_misses(spread->values, kind));
      cell.is_best = best == i;
      spec.rows[i].push_back(std::move(cell));
    }
  }
  spec.columns.push_back(
      {.key = "sent_bytes", .title = "bytes sent", .is_number = true, .is_bytes = true});
  spec.columns.push_back({.key = "delta_max", .title = "largest δ", .is_number = true});
  for (std::size_t i = 0; i < summary.groups.size(); ++i) {
    const Spread* bytes = summary.groups[i].metric("sent_bytes");
    spec.rows[i].push_back(number_of(bytes == nullptr ? std::nullopt : bytes->median));
    spec.rows[i].push_back(number_of(summary.groups[i].delta.worst.value));
  }
  add_misses(summary,
             rows_of(summary.groups.size()),
             " Runs that diverged count as infinite, in accuracy as 0.",
             spec);
  return spec;
}

/// A CostTable has the names of one kind of cost in tables.
struct CostTable {
  std::string_view cost;
  std::string_view name;  // in the names of tables
  std::string_view key;
  std::string_view title;
};
constexpr std::array<CostTable, 4> kCostTables{
    {{"iterations", "iterations", "iterations", "iterations"},
     {"bytes", "bytes", "sent_bytes", "bytes"},
     {"modelled time", "time", "model_time_s", "modelled time, s"},
     {"samples", "samples", "samples", "samples"}}};

const CostTable& cost_table(std::string_view cost) {
  return *std::find_if(kCostTables.begin(), kCostTables.end(), [&](const CostTable& one) {
    return one.cost == cost;
  });
}

std::string at_cost(const Standing& standing) {
  if (standing.unit == "bytes") {
    return short_bytes(standing.budget);
  }
  return fmt::format("{} {}",
                     short_number(standing.budget),
                     standing.unit == "s" ? "s of modelled time" : standing.cost);
}

/// Returns the reason why no method is bold, and where to look instead.
std::string not_bold_words(const Comparison& comparison, const Standing& standing) {
  std::string tables;
  for (const auto& other : comparison.standings) {
    if (other.budget && other.unequal.empty()) {
      tables += fmt::format("{}{}", tables.empty() ? "" : " or ", other.cost);
    }
  }
  return fmt::format("No method is bold: {}{}.",
                     standing.unequal,
                     tables.empty() ? "" : "; a table at equal " + tables + " compares them");
}

TableSpec equal_cost_spec(const Comparison& comparison,
                          const Standing& standing,
                          const Summary& summary,
                          IntervalKind kind) {
  const CostTable& cost = cost_table(standing.cost);
  TableSpec spec{
      .name = fmt::format("equal-{}", cost.name),
      .title = fmt::format("{} after {}; behind the best: mean of the differences, 95 %",
                           words_of_quantity(comparison.quantity),
                           at_cost(standing)),
      .caption = fmt::format(
          "{} on {} after {}, as last evaluated by then; beside it the mean of "
          "the differences to the best in mean, over common seeds, with its 95 % "
          "interval. {}",
          words_of_quantity(comparison.quantity),
          comparison.objective,
          at_cost(standing),
          standing.unequal.empty() ? bold_words(kind) : not_bold_words(comparison, standing)),
      .interval = std::string(interval_words(kind)),
      .columns = {{.key = "method", .title = "method"},
                  {.key = std::string(comparison.quantity),
                   .title = std::string(words_of_quantity(comparison.quantity)),
                   .is_number = true,
                   .is_quantity = true},
                  {.key = "behind_best", .title = "behind the best", .is_number = true},
                  {.key = std::string(cost.key),
                   .title = fmt::format("{} when evaluated", cost.title),
                   .is_number = true,
                   .is_bytes = standing.unit == "bytes"}},
      .rows = {}};
  const bool is_decided = best_is_decided(standing, kind);
  std::vector<std::size_t> groups;
  for (const auto& reached : standing.methods) {
    TableCell value = centre_cell(centre_with_misses(reached.value.values, kind));
    TableCell behind = number_of(std::nullopt);
    const bool is_first = &reached == &standing.methods.front();
    value.is_best = is_first && is_decided;
    if (!is_first) {
      const Difference difference = difference_of(reached, standing.methods.front(), kind);
      behind.value = difference.mean;
      behind.interval = difference.interval;
      behind.n = difference.interval ? difference.values.size() : 0;
    }
    spec.rows.push_back({text_of(summary.groups[reached.group].group.label),
                         std::move(value),
                         std::move(behind),
                         number_of(reached.spent)});
    groups.push_back(reached.group);
  }
  add_misses(summary, groups, " Runs that diverged count as infinite.", spec);
  return spec;
}

TableSpec targets_spec(const TargetComparison& comparison, const Summary& summary) {
  constexpr std::size_t kEvery = kTargets / 4;
  const CostTable& cost = cost_table(comparison.cost);
  TableSpec spec{
      .name = fmt::format("time-to-target-{}", cost.name),
      .title = fmt::format(
          "Spent at targets of {}: {}", words_of_quantity(comparison.quantity), cost.title),
      .caption = fmt::format(
          "What the runs had spent when {} on {} was first evaluated at a target or below it. Runs "
          "that never got there count as infinite, whether they ended, diverged or failed. {}",
          words_of_quantity(comparison.quantity),
          comparison.objective,
          comparison.resolution_words()),
      .interval = std::string(interval_words(IntervalKind::quartiles)),
      .columns = {{.key = "method", .title = "method"},
                  {.key = "target", .title = "target", .is_number = true},
                  {.key = "reached", .title = "runs that reached it", .is_number = true},
                  {.key = "runs", .title = "of", .is_number = true},
                  {.key = std::string(cost.key),
                   .title = std::string(cost.title),
                   .is_number = true,
                   .is_bytes = comparison.unit == "bytes"}},
      .rows = {}};
  spec.spread = "target";
  for (std::size_t target = kEvery - 1; target < comparison.targets.size(); target += kEvery) {
    for (const auto& method : comparison.methods) {
      const auto& spent = method.spent[target];
      const auto reached = static_cast<double>(
          std::count_if(spent.begin(), spent.end(), [](double one) { return std::isfinite(one); }));
      spec.rows.push_back({text_of(summary.groups[method.group].group.label),
                           number_of(comparison.targets[target]),
                           number_of(reached),
                           number_of(static_cast<double>(spent.size())),
                           centre_cell(centre_of(spent, IntervalKind::quartiles))});
      const auto runs = static_cast<double>(spent.size());
      if (reached < runs) {
        spec.rows.back().back().note = fmt::format("{:.0f} of {:.0f}", reached, runs);
        spec.notes = "how many runs reached it, where not all did";
      }
      spec.methods.emplace_back(method.group);
    }
  }
  return spec;
}

TableSpec networks_spec(const NetworkComparison& comparison, const Summary& summary) {
  TableSpec spec{.name = "network-times",
                 .title = fmt::format("Virtual seconds until {} ≤ {}, and of a whole run",
                                      words_of_quantity(comparison.quantity),
                                      short_number(comparison.target)),
                 .caption = fmt::format("Virtual seconds until {} ≤ {} on {}, the best value that "
                                        "every finished run has reached, "
                                        "and mean of a whole run that finished. {}",
                                        words_of_quantity(comparison.quantity),
                                        short_number(comparison.target),
                                        comparison.objective,
                                        bold_words(IntervalKind::student)),
                 .interval = std::string(interval_words(IntervalKind::quartiles)),
                 .columns = {{.key = "method", .title = "method"},
                             {.key = "network", .title = "network"},
                             {.key = "to_target_s", .title = "to the target, s", .is_number = true},
                             {.key = "total_s", .title = "whole run, s", .is_number = true}},
                 .rows = {}};
  std::vector<std::size_t> groups;
  for (const auto& time : comparison.times) {
    TableCell to_target = centre_cell(centre_of(time.to_target.values, IntervalKind::quartiles));
    to_target.is_best = time.is_fastest;
    spec.rows.push_back({text_of(summary.groups[time.group].group.label),
                         text_of(time.network),
                         std::move(to_target),
                         number_of(time.total.mean)});
    groups.push_back(time.group);
  }
  add_misses(summary, groups, " Runs that diverged before that count as infinite.", spec);
  return spec;
}

/// Returns the caption of predicted times, which states the band.
std::string prediction_caption() {
  return fmt::format(
      "Virtual seconds of simulated runs, and wall seconds of the real runs that differ from them "
      "by their execution alone, at the last iteration that all pairs of a method have a row of. "
      "In the band: measured over predicted seconds are within {:.0f} % of 1 for every seed.",
      100 * kPredictionBand);
}

TableSpec predictions_spec(const Summary& summary, IntervalKind kind) {
  TableSpec spec{.name = "predicted-times",
                 .title = "Predicted virtual and measured wall seconds",
                 .caption = prediction_caption(),
                 .interval = std::string(interval_words(kind)),
                 .columns = {{.key = "method", .title = "method"},
                             {.key = "iteration", .title = "iteration", .is_number = true},
                             {.key = "predicted_s", .title = "predicted, s", .is_number = true},
                             {.key = "measured_s", .title = "measured, s", .is_number = true},
                             {.key = "ratio", .title = "ratio", .is_number = true},
                             {.key = "in_band", .title = "in the band"}},
                 .rows = {}};
  for (const auto& held : summary.predictions) {
    const TimesAtIteration& last = held.times.back();
    spec.rows.push_back({text_of(held.label),
                         number_of(last.iteration),
                         centre_cell(centre_of(last.predicted_s, kind)),
                         centre_cell(centre_of(last.measured_s, kind)),
                         centre_cell(centre_of(held.ratios, kind)),
                         text_of(held.is_in_band() ? "yes" : "no")});
    spec.methods.emplace_back(held.measured);
  }
  return spec;
}

TableSpec rates_spec(const Summary& summary, IntervalKind kind) {
  const auto of_mean = kind == IntervalKind::quartiles ? IntervalKind::student : kind;
  TableSpec spec{.name = "rates",
                 .title = "Slopes of log X_T, the mean of ‖∇f‖², against log of the key",
                 .caption =
                     "Slope of log X_T, X_T the mean of ‖∇f‖² over a run, against the "
                     "logarithm of the key, fitted to every seed over the window stated.",
                 .interval = std::string(interval_words(of_mean)),
                 .columns = {{.key = "method", .title = "method"},
                             {.key = "key", .title = "against"},
                             {.key = "from", .title = "from", .is_number = true},
                             {.key = "to", .title = "to", .is_number = true},
                             {.key = "values", .title = "values", .is_number = true},
                             {.key = "slope", .title = "slope", .is_number = true}},
                 .rows = {}};
  for (const auto& rate : summary.rates) {
    spec.rows.push_back({text_of(rate.label),
                         text_of(rate.key),
                         number_of(rate.x.front()),
                         number_of(rate.x.back()),
                         number_of(static_cast<double>(rate.x.size())),
                         centre_cell(centre_of(rate.slope.values, of_mean))});
  }
  return spec;
}

/// Returns the row of a method at one of its levels.
std::vector<TableCell> tuned_row(const TuningPlan& plan,
                                 const TunedMethod& method,
                                 const TunedLevel& level) {
  std::vector<TableCell> row{text_of(method.label)};
  const auto places = plan.places_of(level.level);
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    row.push_back(text_of(plain_text(plan.axes[axis].values[places[axis]])));
  }
  if (plan.halving > 0) {
    row.push_back(number_of(plan.share(level.round)));
  }
  TableCell mean = number_of(level.mean);
  mean.interval = level.interval;
  mean.n = level.interval ? level.values.size() : 0;
  row.push_back(std::move(mean));
  row.push_back(number_of(static_cast<double>(level.worst)));
  const auto& best = method.result.best;
  const bool is_best = best && best->level == level.level && best->round == level.round;
  row.push_back(text_of(is_best ? "yes" : "no"));
  return row;
}

/// Returns the table of the values that were tuned; every row is a method at one of them.
TableSpec tuning_spec(const TunedStudy& study) {
  const std::string quantity = quantity_words(study.plan);
  TableSpec spec{
      .name = "tuning",
      .title = fmt::format("Tuning by {}: mean over the tuning seeds", quantity),
      .caption = fmt::format(
          "The mean of {} over the tuning seeds at every value that was tried. A run that diverged "
          "or missed its target is worse than any number, and the mean is of the others. The "
          "study's own runs are at the chosen values, on other seeds.",
          quantity),
      .interval = std::string(interval_words(IntervalKind::student)),
      .columns = {{.key = "method", .title = "method"}},
      .rows = {}};
  for (const auto& axis : study.plan.axes) {
    spec.columns.push_back({.key = axis.key, .title = axis.key});
  }
  if (study.plan.halving > 0) {
    spec.columns.push_back({.key = "budget_share", .title = "budget", .is_number = true});
  }
  spec.columns.insert(
      spec.columns.end(),
      {{.key = "mean", .title = quantity, .is_number = true},
       {.key = "diverged_or_missed", .title = "diverged or missed", .is_number = true},
       {.key = "chosen", .title = "chosen"}});
  for (const auto& method : study.methods) {
    for (const auto& level : method.result.levels) {
      spec.rows.push_back(tuned_row(study.plan, method, level));
      spec.methods.push_back(method.group);
    }
  }
  return spec;
}

/// Adds the number of its kind to a table's name, from the second on.
void number_names(std::vector<TableSpec>& specs) {
  std::map<std::string, std::size_t> count;
  for (auto& spec : specs) {
    const std::size_t number = ++count[spec.name];
    spec.name += number == 1 ? "" : fmt::format("-{}", number);
  }
}

/// Says in the captions of tables what names with … stand for.
void say_cut_words(const std::vector<Group>& groups, std::vector<TableSpec>& specs) {
  for (auto& spec : specs) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const bool has_row = std::any_of(spec.rows.begin(), spec.rows.end(), [&](const auto& row) {
        return std::any_of(row.begin(), row.end(), [&](const TableCell& cell) {
          return cell.text == groups[i].label;
        });
      });
      if (has_row) {
        shown.push_back(i);
      }
    }
    std::string words;
    for (const auto& [word, whole] : cut_words(groups, shown)) {
      words += fmt::format("{}{} is {}", words.empty() ? " In names " : ", ", word, whole);
    }
    spec.caption += words.empty() ? words : words + '.';
  }
}

}  // namespace

std::vector<TableSpec> study_tables(const Summary& summary,
                                    const std::vector<TargetComparison>& targets,
                                    IntervalKind kind,
                                    const std::vector<double>& budgets) {
  std::vector<TableSpec> specs;
  if (!summary.groups.empty()) {
    specs.push_back(results_spec(summary, kind));
  }
  for (const auto& comparison : summary.comparisons) {
    for (const auto& standing : comparison.standings) {
      if (standing.budget) {
        specs.push_back(equal_cost_spec(comparison, standing, summary, kind));
      }
    }
  }
  for (auto& spec : budget_specs(summary, budgets, kind)) {
    specs.push_back(std::move(spec));
  }
  for (const auto& comparison : targets) {
    specs.push_back(targets_spec(comparison, summary));
  }
  for (const auto& comparison : summary.on_networks) {
    specs.push_back(networks_spec(comparison, summary));
  }
  if (!summary.predictions.empty()) {
    specs.push_back(predictions_spec(summary, kind));
  }
  const bool has_slope = std::any_of(summary.rates.begin(),
                                     summary.rates.end(),
                                     [](const auto& rate) { return rate.slope.n > 0; });
  if (has_slope) {  // else it would say nothing
    specs.push_back(rates_spec(summary, kind));
  }
  const auto groups = groups_of(summary);
  if (summary.tuning) {
    specs.push_back(tuning_spec(*summary.tuning));
  }
  if (auto spec = expected_spec(hold_against_expected(summary.folder, groups), groups, kind)) {
    specs.push_back(std::move(*spec));
  }
  number_names(specs);
  say_cut_words(groups, specs);
  return specs;
}

}  // namespace residuum::reports
