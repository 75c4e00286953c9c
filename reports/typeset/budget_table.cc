#include "reports/typeset/budget_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "reports/analysis/byte_budgets.h"
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

}  // namespace residuum::reports
