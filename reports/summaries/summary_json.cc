// This file writes a Summary as summary.json. Non-finite numbers are texts, undefined ones are
// null.

#include "reports/summaries/summary_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/analysis/practice.h"
#include "reports/results/csv.h"
#include "reports/summaries/search_table.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {
namespace {

Json ends_json(const std::optional<Interval>& interval) {
  if (!interval) {
    return nullptr;
  }
  return Json::array({json_number(interval->low), json_number(interval->high)});
}

/// Returns by how much a method is behind the best, over the seeds of both, and how many would
/// decide that; null where these are fewer than two, and for the best.
Json behind_json(const Reached& reached, const Standing& standing) {
  const Reached& best = standing.methods.front();
  const Difference difference = difference_of(reached, best, IntervalKind::student);
  if (&reached == &best || !difference.is_paired) {
    return nullptr;
  }
  return {{"mean", json_number(difference.mean)},
          {"interval", ends_json(difference.interval)},
          {"pairs", difference.values.size()},
          {"seeds_to_decide", json_number(seeds_to_decide(difference))}};
}

Json to_json(const Standing& standing, const Summary& summary) {
  Json methods = Json::array();
  for (const auto& reached : standing.methods) {
    methods.push_back({{"label", summary.groups[reached.group].group.label},
                       {"mean", json_number(reached.value.mean)},
                       {"interval", ends_json(reached.value.interval)},
                       {"seeds", reached.value.n},
                       {"spent", json_number(reached.spent)},
                       {"behind_best", behind_json(reached, standing)}});
  }
  return {{"cost", standing.cost},
          {"unit", standing.unit},
          {"budget", json_number(standing.budget)},
          {"absent", standing.absent},
          {"methods", methods}};
}

Json to_json(const Extreme& place) {
  if (!place.value) {
    return nullptr;
  }
  return {{"run_id", place.run_id}, {"iteration", place.iteration}};
}

Json to_json(const CheckNumbers& check) {
  return {{"holds", check.holds},
          {"expected", check.expected},
          {"n", check.n},
          {"failures", check.failures},
          {"unexpected_failures", check.unexpected_failures},
          {"worst_ratio", json_number(check.worst.value)},
          {"where", to_json(check.worst)}};
}

Json to_json(const BoundSummary& bound) {
  return {{"n", bound.n},
          {"held", bound.held},
          {"fraction", json_number(bound.fraction())},
          {"median", json_number(bound.median)},
          {"worst", json_number(bound.worst.value)},
          {"where", to_json(bound.worst)}};
}

Json checks_json(const std::vector<CheckNumbers>& checks) {
  Json object = Json::object();
  for (const auto& check : checks) {
    object[check.name] = to_json(check);
  }
  return object;
}

Json to_json(const GroupSummary& group, const ResultFolder& folder) {
  Json runs = Json::array();
  for (const std::size_t i : group.group.runs) {
    runs.push_back(folder.runs[i].id);
  }
  Json theorems = Json::array();
  for (const auto& theorem : group.theorems) {
    theorems.push_back(to_json(theorem));
  }
  Json assumptions = assumptions_json(group);
  assumptions["delta_at_most_1"] = to_json(group.delta);
  assumptions["contraction_below_1"] = to_json(group.contraction);
  Json metrics = Json::object();
  for (const auto& [name, spread] : group.metrics) {
    metrics[name] = to_json(spread);
  }
  return {{"label", group.group.label},
          {"varying", group.group.varying},
          {"practice", practice_of(folder.runs[group.group.runs.front()])},
          {"runs", runs},
          {"seeds", group.group.runs.size()},
          {"finished", group.finished},
          {"diverged", group.diverged},
          {"metrics", metrics},
          {"assumptions", assumptions},
          {"prediction", prediction_json(group)},
          {"lost_mass_norm_sq",
           {{"worst", json_number(group.lost_mass.value)}, {"where", to_json(group.lost_mass)}}},
          {"conservation_defect",
           {{"worst", json_number(group.conservation_defect.value)},
            {"where", to_json(group.conservation_defect)}}},
          {"checks", checks_json(group.checks)},
          {"theorems", theorems}};
}

Json measure_json(const BoundMeasure& measure) {
  return {{"n", measure.n},
          {"held", measure.held},
          {"median", json_number(measure.median)},
          {"worst", json_number(measure.worst.value)},
          {"worst_iteration", measure.worst.iteration}};
}

Json epochs_json(const std::vector<EpochDelta>& epochs) {
  Json all = Json::array();
  for (const auto& one : epochs) {
    Json interval = nullptr;
    if (one.delta.interval) {
      interval = Json::array(
          {json_number(one.delta.interval->low), json_number(one.delta.interval->high)});
    }
    all.push_back({{"epoch", one.epoch},
                   {"n", one.n},
                   {"delta", json_number(one.delta.value)},
                   {"delta_method_interval", interval},
                   {"batches", one.delta.pairs}});
  }
  return all;
}

/// A run without tables has no verdict.
Json runs_json(const Summary& summary) {
  Json runs = Json::array();
  for (const auto& run : summary.runs) {
    if (!run.measured) {
      runs.push_back({{"run_id", run.run_id}, {"invariants", nullptr}});
      continue;
    }
    runs.push_back({{"run_id", run.run_id},
                    {"invariants", run.invariants ? "PASS" : "FAIL"},
                    {"failed_check", run.failed_check},
                    {"delta_at_most_1", measure_json(run.delta)},
                    {"contraction_below_1", measure_json(run.contraction)},
                    {"delta_by_epoch", epochs_json(run.epochs)}});
  }
  return runs;
}

Json counts_json(const Summary& summary) {
  Json counts{{"runs", summary.folder.runs.size()}};
  for (const char* state :
       {"finished", "diverged", "failed", "interrupted", "running", "missing"}) {
    const auto found = summary.states.find(state);
    counts[state] = found == summary.states.end() ? 0 : found->second;
  }
  return counts;
}

Json failures_json(const Summary& summary) {
  Json failures = Json::array();
  const auto labels = method_labels(summary.folder);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Run& run = summary.folder.runs[i];
    if (run.state != "finished") {
      failures.push_back({{"run_id", run.id},
                          {"label", run.is_known ? labels[i] : run.id},
                          {"seed", run.seed},
                          {"state", run.state},
                          {"message", run.message}});
    }
  }
  return failures;
}

Json timing_json(const ResultFolder& folder) {
  double total = 0;
  std::vector<double> times;
  std::string started;
  std::string finished;
  for (const auto& run : folder.runs) {
    if (const auto wall = number_at(run.status, "wall_s")) {
      total += *wall;
      times.push_back(*wall);
    }
    const std::string begin = text_at(run.status, "started_utc");  // ISO 8601 sorts by time
    const std::string end = text_at(run.status, "finished_utc");
    started = started.empty() || (!begin.empty() && begin < started) ? begin : started;
    finished = std::max(finished, end);
  }
  return {{"wall_s", json_number(total)},
          {"run_wall_s", to_json(spread_of(times))},
          {"started_utc", started},
          {"finished_utc", finished}};
}

/// Returns the provenance of the first run, and the builds of the program that made the others.
Json provenance_json(const ResultFolder& folder) {
  Json first;
  Json other_builds = Json::array();
  for (const auto& run : folder.runs) {
    const Json& provenance = value_at(run.status, "provenance");
    if (!run.has_tables() || !provenance.is_object()) {
      continue;
    }
    if (first.is_null()) {
      first = provenance;
    }
    const auto build = [](const Json& of) {
      return fmt::format("{}, {}", text_at(of, "residuum"), text_at(of, "compiler"));
    };
    const Json other = build(provenance);
    if (other != build(first) &&
        std::find(other_builds.begin(), other_builds.end(), other) == other_builds.end()) {
      other_builds.push_back(other);
    }
  }
  if (!other_builds.empty()) {
    first["other builds"] = std::move(other_builds);
  }
  return first.is_null() ? Json::object() : first;
}

Json data_json(const ResultFolder& folder) {
  Json data = Json::array();
  for (const auto& run : folder.runs) {
    Json one = value_at(run.status, "data");
    if (one.is_object()) {
      one.erase("settings");  // they are in config.json
    }
    if (one.is_object() && std::find(data.begin(), data.end(), one) == data.end()) {
      data.push_back(one);
    }
  }
  return data;
}

/// Returns the text of a value that stands `depth` characters from the margin.
std::string indented(const Json& value, std::size_t depth) {
  const std::string text = indented_text(value);
  const std::string margin(depth, ' ');
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
    out += begin == 0 ? "" : margin;
    out.append(text, begin, end + 1 - begin);
    begin = end + 1;
  }
  return out;
}

/// Returns the members of an object that is the whole of a file, without its braces.
std::string members_text(const Json& object) {
  const std::string text = indented_text(object);
  return text.substr(2, text.size() - 4);
}

/// Returns the method's costs by target and run, null where a run missed the target.
Json costs_json(const TargetCosts& method, const Summary& summary) {
  Json spent = Json::array();
  Json missed = Json::array();
  for (const auto& of_target : method.spent) {
    Json costs = Json::array();
    std::size_t misses = 0;
    for (const double cost : of_target) {
      costs.push_back(std::isfinite(cost) ? json_number(cost) : Json(nullptr));
      misses += std::isfinite(cost) ? 0 : 1;
    }
    spent.push_back(std::move(costs));
    missed.push_back(misses);
  }
  const Group& group = summary.groups[method.group].group;
  Json runs = Json::array();
  for (const std::size_t i : group.runs) {
    if (counts_towards_targets(summary.folder.runs[i])) {
      runs.push_back(summary.folder.runs[i].id);
    }
  }
  return {{"method", group.label},
          {"runs", std::move(runs)},
          {"spent", std::move(spent)},
          {"missed", std::move(missed)}};
}

Json targets_json(const Summary& summary) {
  Json comparisons = Json::array();
  for (const auto& comparison : summary.targets) {
    Json methods = Json::array();
    for (const auto& method : comparison.methods) {
      methods.push_back(costs_json(method, summary));
    }
    comparisons.push_back({{"objective", comparison.objective},
                           {"quantity", comparison.quantity},
                           {"cost", comparison.cost},
                           {"unit", comparison.unit},
                           {"resolution", json_number(comparison.resolution)},
                           {"targets", comparison.targets},
                           {"methods", std::move(methods)}});
  }
  return comparisons;
}

}  // namespace

Json comparisons_json(const Summary& summary) {
  Json comparisons = Json::array();
  for (const auto& comparison : summary.comparisons) {
    Json standings = Json::array();
    for (const auto& standing : comparison.standings) {
      standings.push_back(to_json(standing, summary));
    }
    comparisons.push_back({{"objective", comparison.objective},
                           {"quantity", comparison.quantity},
                           {"at_equal", standings}});
  }
  return comparisons;
}

Json rates_json(const Summary& summary) {
  Json rates = Json::array();
  for (const auto& rate : summary.rates) {
    rates.push_back({{"quantity", "average_grad_norm_sq"},
                     {"against", rate.key},
                     {"label", rate.label},
                     {"values", rate.x},
                     {"slope", json_number(rate.slope.mean)},
                     {"interval", ends_json(rate.slope.interval)},
                     {"seeds", rate.slope.n},
                     {"unended_seeds", rate.unended},
                     {"note", note_on(rate)}});
  }
  return rates;
}

Json to_json(const Spread& spread) {
  return {{"n", spread.n},
          {"median", json_number(spread.median)},
          {"lower_quartile", json_number(spread.lower_quartile)},
          {"upper_quartile", json_number(spread.upper_quartile)},
          {"mean", json_number(spread.mean)},
          {"interval", ends_json(spread.interval)}};
}

/// Each entry of `times` is one method on one network.
Json on_networks_json(const Summary& summary) {
  Json comparisons = Json::array();
  for (const auto& comparison : summary.on_networks) {
    Json times = Json::array();
    for (const auto& time : comparison.times) {
      Json entry{{"method", summary.groups[time.group].group.label},
                 {"network", time.network},
                 {"to_target_s", to_json(time.to_target)},
                 {"total_s", to_json(time.total)}};
      for (std::size_t part = 0; part < kTimeParts.size(); ++part) {
        entry[std::string(kTimeParts[part])] = to_json(time.parts[part]);
      }
      times.push_back(std::move(entry));
    }
    comparisons.push_back({{"objective", comparison.objective},
                           {"quantity", comparison.quantity},
                           {"target", json_number(comparison.target)},
                           {"times", std::move(times)}});
  }
  return comparisons;
}

/// Each entry is one method with simulated and real runs.
Json predictions_json(const Summary& summary) {
  Json predictions = Json::array();
  for (const auto& held : summary.predictions) {
    const TimesAtIteration& last = held.times.back();
    predictions.push_back({{"method", held.label},
                           {"iteration", json_number(last.iteration)},
                           {"predicted_s", to_json(spread_of(last.predicted_s))},
                           {"measured_s", to_json(spread_of(last.measured_s))},
                           {"ratio", to_json(spread_of(held.ratios))},
                           {"band", kPredictionBand},
                           {"in_band", held.is_in_band()}});
  }
  return predictions;
}

Json background_json(const ResultFolder& folder) {
  return {{"timing", timing_json(folder)},
          {"data", data_json(folder)},
          {"provenance", provenance_json(folder)}};
}

void write_summary(const Summary& summary, const std::filesystem::path& file) {
  Json before{{"schema_version", 1},
              {"study", summary.folder.name},
              {"title", summary.folder.title},
              {"command", summary.folder.command},
              {"counts", counts_json(summary)},
              {"invariants_hold", summary.invariants_hold()},
              {"failures", failures_json(summary)},
              {"checks", checks_json(summary.checks)}};
  if (!summary.folder.mixed_data.empty()) {
    before["mixed_data"] = summary.folder.mixed_data;
  }
  Json after{{"runs", runs_json(summary)},
             {"delta_against_workers", to_json(delta_against_workers(summary))},
             {"comparisons", comparisons_json(summary)},
             {"targets", targets_json(summary)},
             {"on_networks", on_networks_json(summary)},
             {"predictions", predictions_json(summary)},
             {"rates", rates_json(summary)}};
  after.update(background_json(summary.folder));
  if (summary.search) {
    after["search"] = search_json(*summary.search);
  }
  if (summary.tuning) {
    after["tuning"] = tuning_json(*summary.tuning);
  }
  AtomicFile out(file);
  out.append("{\n" + members_text(before) + ",\n  \"groups\": [");
  std::string_view separator = "\n    ";
  for (const auto& group : summary.groups) {
    out.append(separator);
    out.append(indented(to_json(group, summary.folder), 4));
    separator = ",\n    ";
  }
  out.append(summary.groups.empty() ? "]" : "\n  ]");
  out.append(",\n" + members_text(after) + "\n}\n");
  out.commit();
}

namespace {

Json law_json(const DeltaPrediction& prediction) {
  return {{"delta", json_number(prediction.delta)},
          {"largest_workers", json_number(prediction.largest_workers)}};
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({json_number(interval->low), json_number(interval->high)})
                  : Json(nullptr);
}

Json quarter_json(const std::optional<LargestQuarter>& largest) {
  if (!largest) {
    return nullptr;
  }
  return {{"quarter", largest->quarter},
          {"value", json_number(largest->value)},
          {"interval", interval_json(largest->interval)}};
}

Json average_json(const AssumptionVerdict& verdict) {
  if (!verdict.is_average) {
    return nullptr;
  }
  return {{"verdict", state_text(verdict.state)},
          {"value", json_number(verdict.value)},
          {"interval", interval_json(verdict.interval)},
          {"largest_quarter", quarter_json(verdict.largest_quarter)},
          {"sampling_error", json_number(verdict.sampling_error)},
          {"p_value", json_number(verdict.p_value)},
          {"rows", verdict.rows},
          {"iterations", verdict.iterations},
          {"tests_growth", verdict.tests_growth}};
}

Json every_json(const AssumptionSummary& one) {
  if (!one.verdict.every) {
    return nullptr;
  }
  const EveryVerdict& every = *one.verdict.every;
  Json where = nullptr;
  if (every.worst) {
    where = {{"run_id", one.worst_every_run}, {"iteration", every.worst_iteration}};
  }
  return {{"verdict", state_text(every.state)},
          {"violations", every.violations},
          {"violations_counted", every.counts_all ? "all" : "at least"},
          {"measured", every.measured},
          {"iterations", every.iterations},
          {"share", every.share},
          {"worst", json_number(every.worst)},
          {"where", where},
          {"remark", every.remark}};
}

Json terms_json(const Bound& bound) {
  Json terms = Json::array();
  for (const auto& term : bound.terms) {
    const bool has_share = bound.rhs && *bound.rhs > 0;
    terms.push_back({{"attribution", attribution_text(term.attribution)},
                     {"formula", term.formula},
                     {"value", json_number(term.value)},
                     {"share", has_share ? json_number(term.value / *bound.rhs) : Json(nullptr)}});
  }
  return terms;
}

Json rates_json(const Bound& bound) {
  if (!bound.rates) {
    return nullptr;
  }
  return {{"bound", json_number(bound.rates->bound)},
          {"tight", json_number(bound.rates->tight)},
          {"measured", json_number(bound.rates->measured)},
          {"slack_of_proof", json_number(bound.rates->of_proof())},
          {"slack_of_problem", json_number(bound.rates->of_problem())}};
}

Json preconditions_json(const Bound& bound) {
  Json preconditions = Json::array();
  for (const auto& one : bound.preconditions) {
    preconditions.push_back({{"statement", one.statement},
                             {"met", one.state != PreconditionState::not_met},
                             {"state", precondition_text(one.state)},
                             {"detail", one.detail}});
  }
  return preconditions;
}

Json constants_json(const Bound& bound) {
  Json constants = Json::array();
  for (const auto& one : bound.constants) {
    constants.push_back(
        {{"symbol", one.symbol}, {"value", json_number(one.value)}, {"origin", one.origin}});
  }
  return constants;
}

}  // namespace

Json assumptions_json(const GroupSummary& group) {
  Json object = Json::object();
  for (const auto& one : group.assumptions) {
    const AssumptionVerdict& verdict = one.verdict;
    Json worst{{"value", json_number(verdict.worst)}, {"run_id", one.worst_run}};
    if (one.worst.value) {
      worst = {{"value", json_number(one.worst.value)},
               {"run_id", one.worst.run_id},
               {"iteration", one.worst.iteration}};
    }
    object[std::string(verdict.name)] = {{"verdict", state_text(verdict.state)},
                                         {"value", json_number(verdict.value)},
                                         {"interval", interval_json(verdict.interval)},
                                         {"average", average_json(verdict)},
                                         {"every", every_json(one)},
                                         {"worst", worst},
                                         {"seeds", verdict.seeds},
                                         {"remark", verdict.remark},
                                         {"statement", verdict.statement},
                                         {"paper", verdict.paper}};
  }
  return object;
}

Json prediction_json(const GroupSummary& group) {
  return {{"gaussian", law_json(group.gaussian)}, {"laplace", law_json(group.laplace)}};
}

Json to_json(const TheoremSummary& summary) {
  const Bound& bound = summary.bound;
  Json interval = nullptr;
  if (bound.excess) {
    interval = Json::array({json_number(bound.excess->low), json_number(bound.excess->high)});
  }
  return {{"name", summary.theorem->name},
          {"verdict", verdict_text(bound.verdict)},
          {"reason", bound.reason},
          {"left", bound.left},
          {"iterations", json_number(bound.iterations)},
          {"seeds", bound.seeds},
          {"lhs", json_number(bound.lhs)},
          {"rhs", json_number(bound.rhs)},
          {"slack", json_number(bound.slack)},
          {"rates", rates_json(bound)},
          {"interval_of_lhs_minus_rhs", interval},
          {"p_value", json_number(bound.p_value)},
          {"horizon", json_number(bound.horizon)},
          {"remarks", bound.remarks},
          {"terms", terms_json(bound)},
          {"preconditions", preconditions_json(bound)},
          {"constants", constants_json(bound)}};
}

std::string bounds_csv(const Summary& summary) {
  std::string text = "method,theorem,iterations,lhs,rhs\n";
  for (const auto& group : summary.groups) {
    const std::string method = csv_field(group.group.label);
    for (const auto& [theorem, bound] : group.theorems) {
      for (const auto& point : bound.curve) {
        text += fmt::format("{},{},{},{},{}\n",
                            method,
                            theorem->name,
                            format_integer(point.iterations),
                            format_number(point.lhs),
                            format_number(point.rhs));
      }
    }
  }
  return text;
}

Json to_json(const std::vector<WorkersCurve>& curves) {
  Json all = Json::array();
  for (const auto& curve : curves) {
    Json places = Json::array();
    for (const auto& point : curve.points) {
      Json interval = nullptr;
      if (point.delta->interval) {
        interval = Json::array(
            {json_number(point.delta->interval->low), json_number(point.delta->interval->high)});
      }
      places.push_back({{"workers", point.workers},
                        {"delta", json_number(point.delta->value)},
                        {"interval", interval},
                        {"predicted", json_number(point.group->gaussian.delta)},
                        {"predicted_laplace", json_number(point.group->laplace.delta)}});
    }
    all.push_back({{"method", curve.label},
                   {"predicted_largest_workers", json_number(curve.predicted)},
                   {"holds_to", json_number(curve.holds_to)},
                   {"fails_from", json_number(curve.fails_from)},
                   {"places", places}});
  }
  return all;
}

}  // namespace residuum::reports
