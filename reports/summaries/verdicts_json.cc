#include "reports/summaries/verdicts_json.h"

#include <fmt/format.h>

#include "reports/results/csv.h"
#include "reports/verdicts/delta_workers.h"

namespace residuum::reports {
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
    for (const auto& place : curve.places) {
      Json interval = nullptr;
      if (place.delta->interval) {
        interval = Json::array(
            {json_number(place.delta->interval->low), json_number(place.delta->interval->high)});
      }
      places.push_back({{"workers", place.workers},
                        {"delta", json_number(place.delta->value)},
                        {"interval", interval},
                        {"predicted", json_number(place.group->gaussian.delta)},
                        {"predicted_laplace", json_number(place.group->laplace.delta)}});
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
