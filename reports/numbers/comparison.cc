#include "reports/numbers/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "reports/numbers/fields.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kCosts = 3;
constexpr std::size_t kCostIterations = 0;
constexpr std::size_t kCostBytes = 1;
constexpr std::size_t kCostTime = 2;

struct CostName {
  std::string_view name;
  std::string_view unit;
};
constexpr std::array<CostName, kCosts> kCostNames{
    {{"iterations", ""}, {"bytes", "bytes"}, {"modelled time", "s"}}};

using Costs = std::array<std::optional<double>, kCosts>;
/// A value of the quantity and what it had cost.
struct Sample {
  double spent = 0;
  double value = 0;
};
using Samples = std::array<std::optional<Sample>, kCosts>;

/// Returns what the whole run has cost; absent where that cannot be known.
Costs costs_of(const Run& run, const RunMeasures& measures) {
  const auto iterations = number_at(run.status, "iterations");
  Costs costs{iterations, std::nullopt, std::nullopt};
  if (iterations && static_cast<double>(measures.bytes.iterations) == *iterations) {
    costs[kCostBytes] = measures.bytes.after;
  }
  if (iterations && static_cast<double>(measures.time.iterations) == *iterations) {
    costs[kCostTime] = measures.time.after;
  }
  return costs;
}

std::string_view reason_without(std::size_t cost) {
  return cost == kCostTime ? "not measured, as there is no network model"
                           : "not known, as not every iteration was measured";
}

/// Sets the budget to the least that a run of the field has spent, or says why it is not known.
void set_budget(const ResultFolder& folder,
                const Field& field,
                const std::vector<RunMeasures>& measures,
                std::size_t cost,
                Standing& standing) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& runs : field.runs) {
    for (const std::size_t i : runs) {
      const auto spent = costs_of(folder.runs[i], measures[i])[cost];
      if (!spent) {
        standing.absent = reason_without(cost);
        return;
      }
      least = std::min(least, *spent);
    }
  }
  if (!std::isfinite(least)) {
    standing.absent = "no run has finished";
  } else if (least == 0) {
    standing.absent = "a method has spent nothing";
  } else {
    standing.budget = least;
  }
}

/// Returns the iterations up to `last` at which the quantity of a run is known, its end included;
/// rising.
std::vector<double> evaluated(const ResultFolder& folder,
                              const Run& run,
                              Column quantity,
                              double last) {
  std::vector<double> iterations;
  read_iterations(
      folder.run_path(run) / "iterations.csv", run.id, [&](const IterationRecord& record) {
        const auto iteration = static_cast<double>(record.iteration());
        if (iteration <= last && record.get(quantity)) {
          iterations.push_back(iteration);
        }
      });
  const auto end = number_at(run.status, "iterations");
  if (end && *end <= last && number_at(run.status, final_path(quantity))) {
    iterations.push_back(*end);
  }
  return iterations;
}

/// Lowers the budget of iterations to the last that all have evaluated. Runs of one length have all
/// evaluated their end.
void align_iterations(const ResultFolder& folder,
                      const Field& field,
                      Column quantity,
                      Standing& standing) {
  std::vector<const Run*> runs;
  bool have_one_end = true;
  for (const auto& of_group : field.runs) {
    for (const std::size_t i : of_group) {
      runs.push_back(&folder.runs[i]);
      have_one_end = have_one_end &&
                     number_at(runs.back()->status, "iterations") == standing.budget &&
                     number_at(runs.back()->status, final_path(quantity)).has_value();
    }
  }
  if (!standing.budget || have_one_end) {
    return;
  }
  std::vector<double> common = evaluated(folder, *runs.front(), quantity, *standing.budget);
  for (const Run* run : runs) {
    const auto own = evaluated(folder, *run, quantity, *standing.budget);
    std::vector<double> both;
    std::set_intersection(
        common.begin(), common.end(), own.begin(), own.end(), std::back_inserter(both));
    common = std::move(both);
  }
  standing.budget.reset();
  if (common.empty()) {
    standing.absent = "there is no iteration at which all were evaluated";
  } else {
    standing.budget = common.back();
  }
}

/// Returns the last value of the quantity within each of the budgets.
Samples samples_of(const ResultFolder& folder,
                   const Run& run,
                   const Costs& totals,
                   const std::vector<Standing>& standings,
                   Column quantity) {
  Samples reached;
  const auto take = [&](const Costs& spent, double value) {
    for (std::size_t cost = 0; cost < kCosts; ++cost) {
      const auto& budget = standings[cost].budget;
      if (budget && spent[cost] && *spent[cost] <= *budget) {
        reached[cost] = Sample{.spent = *spent[cost], .value = value};
      }
    }
  };
  Spent bytes = kSentBytes;
  Spent time = kVirtualTime;
  read_iterations(
      folder.run_path(run) / "iterations.csv", run.id, [&](const IterationRecord& record) {
        bytes.add(record);
        time.add(record);
        if (const auto value = record.get(quantity)) {
          take({static_cast<double>(record.iteration()), bytes.before, time.before}, *value);
        }
      });
  if (const auto value = number_at(run.status, final_path(quantity))) {
    take(totals, *value);
  }
  return reached;
}

void sort_best_first(std::vector<Reached>& methods) {
  const auto rank = [](const Reached& reached) {
    return reached.value.mean.value_or(std::numeric_limits<double>::infinity());
  };
  std::stable_sort(methods.begin(), methods.end(), [&](const Reached& a, const Reached& b) {
    return rank(a) < rank(b);
  });
}

void add_group(const ResultFolder& folder,
               const std::vector<RunMeasures>& measures,
               std::size_t group,
               const std::vector<std::size_t>& runs,
               Column quantity,
               std::vector<Standing>& standings) {
  std::array<std::vector<double>, kCosts> values;
  std::array<std::vector<double>, kCosts> spent;
  for (const std::size_t i : runs) {
    const Run& run = folder.runs[i];
    const Samples reached =
        samples_of(folder, run, costs_of(run, measures[i]), standings, quantity);
    for (std::size_t cost = 0; cost < kCosts; ++cost) {
      if (reached[cost]) {
        values[cost].push_back(reached[cost]->value);
        spent[cost].push_back(reached[cost]->spent);
      }
    }
  }
  for (std::size_t cost = 0; cost < kCosts; ++cost) {
    if (standings[cost].budget) {
      standings[cost].methods.push_back(
          {.group = group, .value = spread_of(values[cost]), .spent = mean(spent[cost])});
    }
  }
}

Comparison compare(const ResultFolder& folder,
                   const Field& field,
                   const std::vector<RunMeasures>& measures) {
  const Column quantity = quantity_of(folder, field);
  Comparison comparison{.objective = field.objective,
                        .quantity = kColumns[static_cast<std::size_t>(quantity)].name,
                        .standings = {}};
  for (std::size_t cost = 0; cost < kCosts; ++cost) {
    Standing standing{.cost = kCostNames[cost].name,
                      .unit = kCostNames[cost].unit,
                      .budget = std::nullopt,
                      .methods = {},
                      .absent = {}};
    set_budget(folder, field, measures, cost, standing);
    comparison.standings.push_back(std::move(standing));
  }
  align_iterations(folder, field, quantity, comparison.standings[kCostIterations]);
  for (std::size_t g = 0; g < field.groups.size(); ++g) {
    add_group(folder, measures, field.groups[g], field.runs[g], quantity, comparison.standings);
  }
  for (auto& standing : comparison.standings) {
    sort_best_first(standing.methods);
  }
  return comparison;
}

}  // namespace

std::vector<Comparison> compare_methods(const ResultFolder& folder,
                                        const std::vector<Group>& groups,
                                        const std::vector<RunMeasures>& measures) {
  std::vector<Comparison> comparisons;
  for (const auto& field : fields_of(folder, groups)) {
    if (field.groups.size() >= 2) {
      comparisons.push_back(compare(folder, field, measures));
    }
  }
  return comparisons;
}

}  // namespace residuum::reports
