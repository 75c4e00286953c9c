#include "reports/analysis/byte_budgets.h"

#include <algorithm>
#include <limits>

#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"

namespace residuum::reports {
namespace {

using BytesAndValues = std::vector<std::pair<double, double>>;  // bytes and value

/// Returns the evaluations of a run whose bytes are known.
BytesAndValues evaluations_of(const Run& run, Column quantity) {
  BytesAndValues evaluations;
  read_evaluations(run, quantity, [&](const Costs& spent, double value) {
    if (spent[kCostBytes]) {
      evaluations.emplace_back(*spent[kCostBytes], value);
    }
  });
  return evaluations;
}

/// Returns the first evaluation at the budget or beyond it.
BytesAndValues::const_iterator first_beyond(const BytesAndValues& evaluations, double budget) {
  return std::find_if(
      evaluations.begin(), evaluations.end(), [&](const auto& one) { return one.first >= budget; });
}

/// Returns the bytes between the evaluations around the budget.
double gap_around(const BytesAndValues& evaluations, double budget) {
  const auto beyond = first_beyond(evaluations, budget);
  const bool is_between = beyond != evaluations.end() && beyond != evaluations.begin();
  return is_between ? beyond->first - std::prev(beyond)->first : 0;
}

/// Adds what a finished run was at each budget.
void add_run(const BytesAndValues& evaluations,
             const std::vector<double>& budgets,
             MethodAtBudgets& method,
             BudgetComparison& comparison) {
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    auto& values = method.values[i];
    const auto value = value_at_budget(evaluations, budgets[i]);
    if (!value) {
      values.reset();
    } else if (values) {
      values->push_back(*value);
    }
    comparison.resolution = std::max(comparison.resolution, gap_around(evaluations, budgets[i]));
  }
  if (!evaluations.empty()) {
    comparison.most = std::max(comparison.most, evaluations.back().first);
  }
}

}  // namespace

std::optional<double> value_at_budget(const BytesAndValues& evaluations, double budget) {
  const auto beyond = first_beyond(evaluations, budget);
  if (beyond == evaluations.end()) {
    return std::nullopt;
  }
  if (beyond->first == budget) {
    return beyond->second;
  }
  if (beyond == evaluations.begin()) {
    return std::nullopt;
  }
  const auto& [from, before] = *std::prev(beyond);
  const auto& [to, after] = *beyond;
  return before + (after - before) * (budget - from) / (to - from);
}

std::vector<BudgetComparison> compare_at_budgets(const ResultFolder& folder,
                                                 const std::vector<Group>& groups,
                                                 const std::vector<double>& budgets) {
  std::vector<BudgetComparison> comparisons;
  for (const auto& field : fields_of(folder, groups)) {
    const Column quantity = quantity_of(folder, field);
    BudgetComparison comparison{.objective = field.objective,
                                .quantity = quantity == Column::loss_gap ? "loss_gap" : "loss",
                                .methods = {}};
    for (std::size_t i = 0; i < field.groups.size(); ++i) {
      if (field.runs[i].empty()) {
        continue;
      }
      MethodAtBudgets method{.group = field.groups[i], .values = {}};
      const std::vector<double> misses(field.diverged[i].size(),
                                       std::numeric_limits<double>::infinity());
      method.values.assign(budgets.size(), misses);
      for (const std::size_t run : field.runs[i]) {
        add_run(evaluations_of(folder.runs[run], quantity), budgets, method, comparison);
      }
      comparison.methods.push_back(std::move(method));
    }
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace residuum::reports
