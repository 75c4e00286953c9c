#include "reports/analysis/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/statistics.h"

namespace residuum::reports {
namespace {

/// A value of the quantity and what it had cost.
struct Sample {
  double spent = 0;
  double value = 0;
  std::optional<double> bytes;
};
using Samples = std::array<std::optional<Sample>, kCosts>;

std::string_view reason_without(std::size_t cost) {
  if (cost == kCostSamples) {
    return "not known, as versions take more samples or fewer";
  }
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
      const auto spent = costs_of(folder.runs[i], measures[i].bytes, measures[i].time)[cost];
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
std::vector<double> evaluated(const Run& run, Column quantity, double last) {
  std::vector<double> iterations;
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
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
  std::vector<double> common = evaluated(*runs.front(), quantity, *standing.budget);
  for (const Run* run : runs) {
    const auto own = evaluated(*run, quantity, *standing.budget);
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
Samples samples_of(const Run& run, const std::vector<Standing>& standings, Column quantity) {
  Samples reached;
  read_evaluations(run, quantity, [&](const Costs& spent, double value) {
    for (std::size_t cost = 0; cost < standings.size(); ++cost) {
      const auto& budget = standings[cost].budget;
      if (budget && spent[cost] && *spent[cost] <= *budget) {
        reached[cost] = Sample{.spent = *spent[cost], .value = value, .bytes = spent[kCostBytes]};
      }
    }
  });
  return reached;
}

/// The values that the seeds of a method have reached within one budget, with their costs.
struct Reaching {
  std::vector<double> values;
  std::vector<double> spent;
  std::vector<double> bytes;
  std::vector<std::int64_t> seeds;

  void add(const Sample& sample, std::int64_t seed) {
    values.push_back(sample.value);
    spent.push_back(sample.spent);
    seeds.push_back(seed);
    if (sample.bytes) {
      bytes.push_back(*sample.bytes);
    }
  }
  void add_diverged(std::int64_t seed) {
    values.push_back(std::numeric_limits<double>::infinity());
    seeds.push_back(seed);
  }
  /// Absent unless it is known of every seed.
  std::optional<double> mean_bytes() const {
    return bytes.size() == spent.size() ? mean(bytes) : std::nullopt;
  }
};

/// Adds what the group at this place of the field has reached within the budgets.
void add_group(const ResultFolder& folder,
               const Field& field,
               std::size_t place,
               std::size_t all_runs,
               Column quantity,
               std::vector<Standing>& standings) {
  std::array<Reaching, kCosts> reaching;
  for (const std::size_t i : field.runs[place]) {
    const Run& run = folder.runs[i];
    const Samples reached = samples_of(run, standings, quantity);
    for (std::size_t cost = 0; cost < standings.size(); ++cost) {
      if (reached[cost]) {
        reaching[cost].add(*reached[cost], run.seed);
      }
    }
  }
  for (std::size_t cost = 0; cost < standings.size(); ++cost) {
    Reaching& own = reaching[cost];
    const std::size_t missing = all_runs - own.values.size();
    for (const std::size_t i : field.diverged[place]) {
      own.add_diverged(folder.runs[i].seed);
    }
    if (standings[cost].budget) {
      standings[cost].methods.push_back({.group = field.groups[place],
                                         .value = spread_of(own.values),
                                         .spent = mean(own.spent),
                                         .bytes = own.mean_bytes(),
                                         .seeds = own.seeds,
                                         .missing = missing});
    }
  }
}

Comparison compare(const ResultFolder& folder,
                   const std::vector<Group>& groups,
                   const Field& field,
                   const std::vector<RunMeasures>& measures) {
  const Column quantity = quantity_of(folder, field);
  Comparison comparison{.objective = field.objective,
                        .quantity = kColumns[static_cast<std::size_t>(quantity)].name,
                        .standings = {}};
  const std::string unequal = unequal_iterations(folder, field);
  const std::size_t costs = unequal.empty() ? kCostSamples : kCosts;
  for (std::size_t cost = 0; cost < costs; ++cost) {
    Standing standing{.cost = kCostNames[cost].name,
                      .unit = kCostNames[cost].unit,
                      .budget = std::nullopt,
                      .methods = {},
                      .absent = {}};
    set_budget(folder, field, measures, cost, standing);
    comparison.standings.push_back(std::move(standing));
  }
  comparison.standings[kCostIterations].unequal = unequal;
  align_iterations(folder, field, quantity, comparison.standings[kCostIterations]);
  for (std::size_t g = 0; g < field.groups.size(); ++g) {
    add_group(
        folder, field, g, groups[field.groups[g]].runs.size(), quantity, comparison.standings);
  }
  for (auto& standing : comparison.standings) {
    sort_best_first(standing.methods);
  }
  return comparison;
}

/// Returns one value less the other for each seed that both have, in the order of the first.
std::vector<double> paired_values(const Reached& method, const Reached& reference) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < method.seeds.size(); ++i) {
    const auto same = std::find(reference.seeds.begin(), reference.seeds.end(), method.seeds[i]);
    if (same != reference.seeds.end()) {
      const auto place = static_cast<std::size_t>(same - reference.seeds.begin());
      differences.push_back(method.value.values[i] - reference.value.values[place]);
    }
  }
  return differences;
}

std::vector<double> finite_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

/// Returns the interval of the mean of the values that are finite. If misses leave too few for the
/// bootstrap, it is Student's: they must not save a method from being behind.
std::optional<Interval> interval_of_finite(const std::vector<double>& values, IntervalKind kind) {
  const auto finite = finite_of(values);
  const bool lost_too_many = finite.size() < values.size() && kind == IntervalKind::bootstrap &&
                             finite.size() < least_bootstrap_values();
  return interval_of_mean(finite, lost_too_many ? IntervalKind::student : kind);
}

/// Returns whether a method that is whole is ahead of another by the other's finite values.
bool is_ahead(const Reached& best, const Reached& other, IntervalKind kind) {
  const auto pairs = paired_values(other, best);
  if (finite_of(pairs).size() >= 2) {
    const auto interval = interval_of_finite(pairs, kind);
    return interval && interval->low > 0;
  }
  const auto own = interval_of_mean(best.value.values, kind);
  const auto others = interval_of_finite(other.value.values, kind);
  return own && others && own->high < others->low;
}

/// Returns the mean of values that may be infinite; none where they are so in both directions.
std::optional<double> mean_with_misses(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return std::isnan(sum) ? std::nullopt : std::optional(sum / static_cast<double>(values.size()));
}

}  // namespace

bool Reached::is_whole() const {
  return missing == 0 && value.n > 0 && finite_of(value.values).size() == value.n;
}

void sort_best_first(std::vector<Reached>& methods) {
  const auto rank = [](const Reached& reached) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    return std::pair(reached.value.mean.value_or(kInfinite),
                     reached.value.median.value_or(kInfinite));
  };
  std::stable_sort(methods.begin(), methods.end(), [&](const Reached& a, const Reached& b) {
    return rank(a) < rank(b);
  });
}

Difference difference_of(const Reached& method, const Reached& reference, IntervalKind kind) {
  Difference difference{
      .is_paired = false, .values = {}, .mean = std::nullopt, .interval = std::nullopt};
  auto pairs = paired_values(method, reference);
  if (pairs.size() >= 2) {
    difference.is_paired = true;
    difference.mean = mean_with_misses(pairs);
    const bool is_random =
        !are_one_run(method.value.values) || !are_one_run(reference.value.values);
    difference.interval = is_random ? interval_of_mean(pairs, kind) : std::nullopt;
    difference.values = std::move(pairs);
  } else if (method.value.mean && reference.value.mean) {
    difference.mean = *method.value.mean - *reference.value.mean;
  }
  return difference;
}

std::optional<double> seeds_to_decide(const Difference& difference) {
  const auto& interval = difference.interval;
  if (!difference.is_paired || !interval || interval->low > 0 || interval->high < 0) {
    return std::nullopt;
  }
  return seeds_for_sign(difference.values);
}

bool best_is_decided(const Standing& standing, IntervalKind kind) {
  const auto& methods = standing.methods;
  if (methods.empty() || !methods.front().is_whole() || !standing.unequal.empty()) {
    return false;
  }
  bool has_rival = false;
  for (auto other = methods.begin() + 1; other != methods.end(); ++other) {
    if (finite_of(other->value.values).empty()) {
      continue;
    }
    has_rival = true;
    if (!is_ahead(methods.front(), *other, kind)) {
      return false;
    }
  }
  return has_rival;
}

std::string bold_words(IntervalKind kind) {
  return fmt::format(
      "Bold: ahead of every other method, by the 95 % interval ({}) of the paired differences "
      "over common seeds, or, without these, by intervals that do not overlap; only where no seed "
      "of the method is missing.",
      kind == IntervalKind::bootstrap
          ? fmt::format(
                "bootstrap; Student where another method's misses leave fewer than {} values",
                least_bootstrap_values())
          : "Student");
}

std::vector<Comparison> compare_methods(const ResultFolder& folder,
                                        const std::vector<Group>& groups,
                                        const std::vector<RunMeasures>& measures) {
  std::vector<Comparison> comparisons;
  for (const auto& field : fields_of(folder, groups)) {
    if (field.groups.size() >= 2) {
      comparisons.push_back(compare(folder, groups, field, measures));
    }
  }
  return comparisons;
}

}  // namespace residuum::reports
