#pragma once
// A budget of bytes is a user's: every method is compared at it, whatever its runs have sent in
// all. A value there is on a line between the two evaluations around it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/analysis/groups.h"

namespace residuum::reports {

/// The values that the runs of one method had reached at each budget, in the order of the budgets.
struct MethodAtBudgets {
  std::size_t group = 0;
  /// One value a seed, infinite for a run that diverged; absent where a run ended before the budget
  /// or was not evaluated before it.
  std::vector<std::optional<std::vector<double>>> values;
};

/// The methods that worked on one objective.
struct BudgetComparison {
  std::string objective;
  std::string_view quantity;  // loss_gap where every run knows it, else loss
  std::vector<MethodAtBudgets> methods;
  double resolution = 0;  // bytes between the evaluations around a budget, at most
  double most = 0;        // bytes that a run had sent when it was evaluated for the last time
};

/// Returns the value at a budget on the line between the evaluations around it, which are pairs of
/// bytes and value in their order. Absent beyond the last and before the first of them.
std::optional<double> value_at_budget(const std::vector<std::pair<double, double>>& evaluations,
                                      double budget);

/// Compares the methods of each objective; those without a finished run are left out. Budgets are
/// in bytes.
std::vector<BudgetComparison> compare_at_budgets(const ResultFolder& folder,
                                                 const std::vector<Group>& groups,
                                                 const std::vector<double>& budgets);

}  // namespace residuum::reports
