#include "reports/analysis/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSmallestTarget = 1e-8;  // of the first

/// An Improvement is a value that no earlier one of its run was below, with the cost until then.
struct Improvement {
  double value = 0;
  Costs spent;
};

struct Descent {
  std::vector<Improvement> improvements;  // falling; the first is the first evaluation
  Costs end;                              // the last that was seen of each cost
  std::array<double, kCosts> apart{};     // most between two evaluations
};

Descent read_descent(const Run& run, Column quantity) {
  Descent descent;
  read_evaluations(run, quantity, [&](const Costs& spent, double value) {
    for (std::size_t cost = 0; cost < kCosts; ++cost) {
      if (spent[cost] && descent.end[cost]) {
        descent.apart[cost] = std::max(descent.apart[cost], *spent[cost] - *descent.end[cost]);
      }
      descent.end[cost] = spent[cost] ? spent[cost] : descent.end[cost];
    }
    auto& all = descent.improvements;
    if (std::isfinite(value) && (all.empty() || value < all.back().value)) {
      all.push_back({.value = value, .spent = spent});
    }
  });
  return descent;
}

/// Descents are those of one field's methods, in their order.
using Descents = std::vector<std::vector<Descent>>;

Descents read_descents(const ResultFolder& folder,
                       const std::vector<Group>& groups,
                       const Field& field,
                       Column quantity) {
  Descents descents;
  for (const std::size_t group : field.groups) {
    auto& of_method = descents.emplace_back();
    for (const std::size_t i : groups[group].runs) {
      const Run& run = folder.runs[i];
      if (counts_towards_targets(run)) {
        of_method.push_back(run.has_tables() ? read_descent(run, quantity) : Descent{});
      }
    }
  }
  return descents;
}

std::vector<double> targets_of(const Descents& descents, bool in_ratios) {
  double first = kInfinite;
  double best = kInfinite;
  for (const auto& of_method : descents) {
    for (const auto& descent : of_method) {
      if (!descent.improvements.empty()) {
        first = std::min(first, descent.improvements.front().value);
        best = std::min(best, descent.improvements.back().value);
      }
    }
  }
  std::vector<double> targets;
  if (!(best < first) || (in_ratios && first <= 0)) {
    return targets;
  }
  best = in_ratios ? std::max(best, kSmallestTarget * first) : best;
  for (std::size_t i = 1; i < kTargets; ++i) {
    const double share = static_cast<double>(i) / kTargets;
    targets.push_back(in_ratios ? first * std::pow(best / first, share)
                                : first + share * (best - first));
  }
  targets.push_back(best);  // to the last bit
  return targets;
}

/// Returns the cost at which the descent is first at the target; absent where it cannot be known.
std::optional<double> cost_to(double target, const Descent& descent, std::size_t cost) {
  const auto& all = descent.improvements;
  const auto reached = std::find_if(
      all.begin(), all.end(), [target](const Improvement& one) { return one.value <= target; });
  return reached == all.end() ? std::optional(kInfinite) : reached->spent[cost];
}

/// Fills the costs of all methods; false where one is not known.
bool add_methods(const Field& field,
                 const Descents& descents,
                 std::size_t cost,
                 TargetComparison& comparison) {
  bool spends = false;
  for (std::size_t g = 0; g < descents.size(); ++g) {
    if (descents[g].empty()) {
      continue;
    }
    TargetCosts& method = comparison.methods.emplace_back();
    method.group = field.groups[g];
    for (const double target : comparison.targets) {
      auto& spent = method.spent.emplace_back();
      for (const auto& descent : descents[g]) {
        const auto one = cost_to(target, descent, cost);
        if (!one) {
          return false;
        }
        spent.push_back(*one);
      }
    }
    for (const auto& descent : descents[g]) {
      method.most = std::max(method.most, descent.end[cost].value_or(0));
      comparison.resolution = std::max(comparison.resolution, descent.apart[cost]);
    }
    spends = spends || method.most > 0;
  }
  return spends;
}

}  // namespace

std::string TargetComparison::resolution_words() const {
  const std::string amount =
      unit == "bytes"
          ? short_bytes(resolution)
          : fmt::format("{}\u00a0{}", short_number(resolution), unit.empty() ? cost : unit);
  return fmt::format(
      "Evaluations are at most {} apart: a target may have been reached that much earlier than it "
      "was seen.",
      amount);
}

bool counts_towards_targets(const Run& run) { return run.has_tables() || run.state == "failed"; }

std::vector<TargetComparison> costs_to_targets(const ResultFolder& folder,
                                               const std::vector<Group>& groups) {
  std::vector<TargetComparison> comparisons;
  for (const auto& field : fields_of(folder, groups)) {
    const Column quantity = quantity_of(folder, field);
    const Descents descents = read_descents(folder, groups, field, quantity);
    const auto targets = targets_of(descents, quantity == Column::loss_gap);
    for (std::size_t cost = 0; cost < kCostsOfTargets && !targets.empty(); ++cost) {
      TargetComparison comparison{.objective = field.objective,
                                  .quantity = kColumns[static_cast<std::size_t>(quantity)].name,
                                  .cost = kCostNames[cost].name,
                                  .unit = kCostNames[cost].unit,
                                  .targets = targets,
                                  .methods = {},
                                  .resolution = 0};
      if (add_methods(field, descents, cost, comparison)) {
        comparisons.push_back(std::move(comparison));
      }
    }
  }
  return comparisons;
}

std::vector<Point> share_reached(const TargetCosts& method) {
  std::vector<double> spent;
  std::size_t runs = 0;
  for (const auto& of_target : method.spent) {
    spent.insert(spent.end(), of_target.begin(), of_target.end());
    runs = of_target.size();
  }
  std::sort(spent.begin(), spent.end());
  std::vector<Point> stair;
  const auto add = [&](double x, std::size_t reached) {
    stair.push_back({.x = x,
                     .middle = static_cast<double>(reached) / static_cast<double>(spent.size()),
                     .lower = std::nullopt,
                     .upper = std::nullopt,
                     .n = runs});
  };
  std::size_t reached = 0;
  while (reached < spent.size() && std::isfinite(spent[reached])) {
    const double x = spent[reached];
    add(x, reached);
    reached =
        static_cast<std::size_t>(std::upper_bound(spent.begin(), spent.end(), x) - spent.begin());
    add(x, reached);
  }
  if (!spent.empty() && (stair.empty() || stair.back().x < method.most)) {
    add(method.most, reached);
  }
  return stair;
}

}  // namespace residuum::reports
