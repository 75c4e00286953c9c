#include "reports/analysis/study_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace residuum::reports {
namespace {

void take_worse(Extreme& worst,
                const std::optional<double>& value,
                const std::string& run_id,
                std::uint64_t iteration) {
  if (!value) {
    return;
  }
  Worst comparison{.value = worst.value, .iteration = 0};
  comparison.add(*value, 1);
  if (comparison.iteration == 1) {
    worst = {.value = value, .run_id = run_id, .iteration = iteration};
  }
}

void take_worse(Extreme& worst, const Worst& of_run, const std::string& run_id) {
  take_worse(worst, of_run.value, run_id, of_run.iteration);
}

/// Finds or adds a check. Checks are few, so a list serves, which keeps the order the program made
/// them in.
CheckNumbers& entry(std::vector<CheckNumbers>& checks, const std::string& name) {
  const auto found = std::find_if(
      checks.begin(), checks.end(), [&](const CheckNumbers& c) { return c.name == name; });
  if (found != checks.end()) {
    return *found;
  }
  checks.push_back({.name = name, .expected = false, .worst = {}});
  return checks.back();
}

std::uint64_t count_at(const Json& object, std::string_view key) {
  constexpr double kMost = 9007199254740992.0;  // 2^53
  const double value = number_at(object, key).value_or(0);
  return value > 0 && std::isfinite(value) ? static_cast<std::uint64_t>(std::min(value, kMost)) : 0;
}

void add_checks(std::vector<CheckNumbers>& checks, const Run& run) {
  for (const auto& [name, status] : value_at(run.status, "checks").items()) {
    if (!flag_at(status, "hard", true)) {
      continue;  // an assumption, not an invariant: judged from its column
    }
    CheckNumbers& check = entry(checks, name);
    const bool holds = flag_at(status, "holds", false);
    const bool expected = flag_at(status, "expected", true);
    const std::uint64_t failures = count_at(status, "failures");
    check.holds = check.holds && holds;
    check.expected = check.expected || expected;
    check.n += count_at(status, "n");
    check.failures += failures;
    if (expected && !holds) {
      check.unexpected_failures += std::max<std::uint64_t>(failures, 1);
    }
    take_worse(
        check.worst, number_at(status, "worst_ratio"), run.id, count_at(status, "worst_iteration"));
  }
}

void add_bound(BoundSummary& summary,
               const BoundMeasure& measure,
               const std::string& run_id,
               std::vector<double>& medians) {
  summary.n += measure.n;
  summary.held += measure.held;
  take_worse(summary.worst, measure.worst, run_id);
  if (measure.median) {
    medians.push_back(*measure.median);
  }
}

/// A finished run and what its rows say of late gradients.
struct LateRun {
  const Run* run;
  const LateTotals* totals;
};

using MetricValues = std::pair<std::string_view, std::vector<double>>;

/// Finds or adds the values of a metric.
std::vector<double>& values_of(std::vector<MetricValues>& metrics, std::string_view name) {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [name](const MetricValues& metric) {
        return metric.first == name;
      });
  return found == metrics.end() ? metrics.emplace_back(name, std::vector<double>()).second
                                : found->second;
}

/// Adds the numbers of late gradients, of which a method without them has none.
void add_late_metrics(GroupNumbers& numbers, const std::vector<LateRun>& finished) {
  std::vector<MetricValues> metrics;
  for (const auto& [run, totals] : finished) {
    for (const auto& [name, value] : totals->numbers(run->facts.workers)) {
      if (value) {
        values_of(metrics, name).push_back(*value);
      }
    }
  }
  for (const auto& [name, values] : metrics) {
    numbers.metrics.emplace_back(name, spread_of(values));
  }
}

/// Returns whether the metric exists in this study, which a run that diverged does not tell.
bool is_measured(const ResultFolder& folder, const Metric& metric) {
  return std::any_of(folder.runs.begin(), folder.runs.end(), [&](const Run& run) {
    return run.state == "finished" && number_at(run.status, metric.path);
  });
}

void add_metrics(GroupNumbers& numbers, const ResultFolder& folder) {
  for (const auto& metric : run_metrics()) {
    std::vector<double> values;
    bool have_finished = false;
    for (const std::size_t i : numbers.group.runs) {
      if (const auto value = value_of(folder.runs[i], metric)) {
        values.push_back(*value);
        have_finished = have_finished || folder.runs[i].state == "finished";
      }
    }
    if (!have_finished && !is_measured(folder, metric)) {
      continue;
    }
    if (!values.empty()) {
      numbers.metrics.emplace_back(metric.name, spread_of(values));
    }
  }
}

void add_time(RunningTime& time, const Run& run, const RunMeasures& measures) {
  ++time.runs;
  time.wall_s += number_at(run.status, "wall_s").value_or(0);
  const double iterations =
      measures.evidence ? static_cast<double>(measures.evidence->iterations()) : 0;
  const auto rows = static_cast<double>(measures.rows);
  if (rows > 0 && iterations > rows) {
    time.more_rows_s += (iterations - rows) * measures.measure_s / rows;
  }
}

RunVerdict judge_run(const Run& run, const RunMeasures& measures) {
  RunVerdict verdict;
  verdict.run_id = run.id;
  verdict.measured = run.has_tables();
  verdict.delta = measures.delta;
  verdict.contraction = measures.contraction;
  verdict.epochs = measures.epochs;
  std::vector<CheckNumbers> checks;
  if (verdict.measured) {
    add_checks(checks, run);
  }
  for (const auto& check : checks) {
    if (check.unexpected_failures > 0 && verdict.invariants) {
      verdict.invariants = false;
      verdict.failed_check = check.name;
    }
  }
  return verdict;
}

}  // namespace

std::optional<double> BoundSummary::fraction() const {
  if (n == 0) {
    return std::nullopt;
  }
  return static_cast<double>(held) / static_cast<double>(n);
}

std::string GroupNumbers::misses() const {
  const std::size_t all = group.runs.size();
  std::string text = diverged == 0 ? "" : fmt::format("{} of {} diverged", diverged, all);
  const std::size_t rest = all - finished - diverged;
  if (rest > 0) {
    text += fmt::format("{}{} of {} not finished", text.empty() ? "" : ", ", rest, all);
  }
  return text;
}

const Spread* GroupNumbers::metric(std::string_view name) const {
  const auto found = std::find_if(
      metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.first == name; });
  return found == metrics.end() ? nullptr : &found->second;
}

const CheckNumbers* GroupNumbers::check(std::string_view name) const {
  const auto found = std::find_if(
      checks.begin(), checks.end(), [&](const CheckNumbers& c) { return c.name == name; });
  return found == checks.end() ? nullptr : &*found;
}

bool StudyNumbers::invariants_hold() const {
  return std::all_of(checks.begin(), checks.end(), [](const CheckNumbers& check) {
    return check.unexpected_failures == 0;
  });
}

const std::vector<Metric>& run_metrics() {
  constexpr double kMiss = std::numeric_limits<double>::infinity();
  static const std::vector<Metric> metrics{
      {"final_loss", "final.loss", "f(w_T) on the training set", kMiss},
      {"final_loss_gap", "final.loss_gap", "f(w_T) - f*, where f* is known", kMiss},
      {"final_grad_norm_sq", "final.grad_norm_sq", "|grad f(w_T)|^2", kMiss},
      {"final_test_loss", "final.test_loss", "mean loss on held-out data", kMiss},
      {"final_test_accuracy", "final.test_accuracy", "fraction of held-out samples right", 0.0},
      {"final_test_perplexity",
       "final.test_perplexity",
       "exp of the held-out loss of a token",
       kMiss},
      {"average_grad_norm_sq",
       "totals.average_grad_norm_sq",
       "X_T, mean of |grad f(w_t)|^2",
       kMiss},
      {"delta_max", "totals.delta_max", "largest delta_t that was measured"},
      {"total_error", "totals.total_error", "sum of all workers' |e|^2 over all iterations", kMiss},
      {"nnz_sent", "totals.nnz_sent", "entries sent by all workers"},
      {"sent_bytes", "totals.sent_bytes", "bytes from workers or servers to each other"},
      {"uplink_bytes", "totals.uplink_bytes", "those of them that workers send"},
      {"wall_s", "wall_s", "wall time of the run"}};
  return metrics;
}

std::optional<double> value_of(const Run& run, const Metric& metric) {
  if (run.state == "diverged") {
    return metric.of_diverged;
  }
  return run.state == "finished" ? number_at(run.status, metric.path) : std::nullopt;
}

Reached end_of(const ResultFolder& folder,
               const Group& group,
               std::size_t place,
               const Metric& metric) {
  Reached reached{.group = place, .value = {}, .spent = std::nullopt};
  std::vector<double> values;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    const auto value = value_of(run, metric);
    reached.missing += value && run.state == "finished" ? 0 : 1;
    if (value) {
      values.push_back(*value);
      reached.seeds.push_back(run.seed);
    }
  }
  reached.value = spread_of(values);
  return reached;
}

/// True if this run is another in every number: the same seedless run under another seed's name.
bool is_copy_of(const Run& run,
                const RunMeasures& own,
                const Run& first,
                const RunMeasures& of_first) {
  const auto same = [](const BoundMeasure& a, const BoundMeasure& b) {
    return a.n == b.n && a.held == b.held && a.worst.value == b.worst.value &&
           a.worst.iteration == b.worst.iteration && a.median == b.median;
  };
  const auto loss = number_at(run.status, "final.loss");
  return loss && loss == number_at(first.status, "final.loss") && same(own.delta, of_first.delta) &&
         same(own.contraction, of_first.contraction);
}

GroupNumbers numbers_of(const ResultFolder& folder,
                        const Group& group,
                        const std::vector<RunMeasures>& measures) {
  GroupNumbers numbers;
  numbers.group = group;
  std::vector<LateRun> late;
  std::vector<double> delta_medians;
  std::vector<double> contraction_medians;
  std::optional<std::size_t> first;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!run.has_tables()) {
      continue;
    }
    numbers.diverged += run.state == "diverged" ? 1 : 0;
    if (run.state == "finished") {
      ++numbers.finished;
      late.push_back({.run = &run, .totals = &measures[i].late});
    }
    add_checks(numbers.checks, run);
    if (first && is_copy_of(run, measures[i], folder.runs[*first], measures[*first])) {
      continue;  // its iterations are those of the first
    }
    first = first ? first : std::optional(i);
    add_bound(numbers.delta, measures[i].delta, run.id, delta_medians);
    add_bound(numbers.contraction, measures[i].contraction, run.id, contraction_medians);
    take_worse(numbers.lost_mass, measures[i].lost_mass, run.id);
    take_worse(numbers.conservation_defect, measures[i].conservation_defect, run.id);
  }
  numbers.delta.median = median(delta_medians);
  numbers.contraction.median = median(contraction_medians);
  add_metrics(numbers, folder);
  add_late_metrics(numbers, late);
  return numbers;
}

StudyNumbers numbers_of(ResultFolder folder,
                        const std::vector<Group>& groups,
                        const std::vector<RunMeasures>& measures) {
  StudyNumbers numbers;
  numbers.comparisons = compare_methods(folder, groups, measures);
  numbers.targets = costs_to_targets(folder, groups);
  numbers.on_networks = compare_on_networks(folder, groups);
  numbers.predictions = hold_against_predictions(folder, groups);
  numbers.rates = fit_rates(folder, groups);
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    const Run& run = folder.runs[i];
    ++numbers.states[run.state];
    if (run.has_tables()) {
      add_checks(numbers.checks, run);
    }
    if (run.state == "finished") {
      add_time(numbers.time, run, measures[i]);
    }
    numbers.runs.push_back(judge_run(run, measures[i]));
  }
  numbers.folder = std::move(folder);
  return numbers;
}

}  // namespace residuum::reports
