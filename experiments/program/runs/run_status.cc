#include "experiments/program/runs/run_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "core/measurement/evaluations.h"
#include "core/training/method_facts.h"
#include "core/vectors/dense.h"
#include "experiments/program/study/study_keys.h"
#include "experiments/program/study/worker_smoothness.h"
#include "reports/results/result_folder.h"
#include "reports/results/run_facts.h"

namespace residuum {
namespace {

std::optional<Known> known(const std::optional<double>& value) {
  return value ? std::optional(Known{.value = *value, .origin = {}}) : std::nullopt;
}

/// Tells why the expectation of gradients is not grad f of the f that is evaluated: the objective's
/// reasons and those of how the run draws and treats gradients. Empty: it is.
std::string gradient_bias(const Facts& facts, const Training& training) {
  std::vector<std::string> reasons;
  if (!facts.gradient_bias.empty()) {
    reasons.push_back(facts.gradient_bias);
  }
  if (training.sampling == Sampling::shuffle && training.batch > 0) {
    reasons.emplace_back("a pass is shuffled: its batches depend on those before");
  }
  if (training.method->clip == Clip::worker) {
    reasons.emplace_back("workers' gradients are clipped");
  }
  return fmt::to_string(fmt::join(reasons, "; "));
}

/// Adds how many samples there are, and how many f and the power iteration for L look at.
/// Differences of gradients are those of grad f on the samples that f is evaluated on.
void add_evaluation(const PreparedRun& run, RunFacts& facts) {
  const std::size_t n = run.objective->samples();
  if (n == 0) {
    return;
  }
  const std::size_t evaluated = run.objective->evaluated().size();
  facts.objective.samples = static_cast<double>(n);
  facts.objective.evaluated_samples = static_cast<double>(evaluated == 0 ? n : evaluated);
  if (run.training.plan.power) {
    facts.objective.power_samples = static_cast<double>(curvature_samples(run.training));
  }
  facts.evaluation.differences_are_of_f =
      *facts.objective.evaluated_samples >= *facts.objective.samples;
  facts.evaluation.curvature_is_of_f =
      facts.evaluation.differences_are_of_f &&
      facts.objective.power_samples.value_or(*facts.objective.samples) >= *facts.objective.samples;
}

void add_gradients(const PreparedRun& run, const Facts& of_objective, RunFacts& facts) {
  const bool takes_whole_shards = run.objective->samples() > 0 && run.training.batch == 0;
  facts.gradients.full = takes_whole_shards || of_objective.noise_variance == 0.0;
  facts.objective.gradient_bias = gradient_bias(of_objective, run.training);
  facts.gradients.workers_alike = of_objective.workers_are_alike;
  facts.gradients.shares_minimizer = of_objective.shares_minimizer || run.workers == 1;
  facts.gradients.independent_draws = run.training.sampling == Sampling::replacement;
  facts.objective.starts_from_seed = of_objective.starts_from_seed;
  facts.objective.gradients_from_seed =
      !run.objective->recorded_steps() && run.objective->source() == nullptr;
  facts.objective.partition_from_seed =
      run.config["workers"].value("partition_seed", nlohmann::json()) == "run";
  // Unless they enter in rounds, which gradients are late, and by how much, may be drawn.
  const bool draws_batches = !facts.gradients.full && facts.objective.gradients_from_seed;
  facts.deterministic = !draws_batches && !facts.objective.starts_from_seed &&
                        !facts.objective.partition_from_seed &&
                        (facts.protocol.synchrony != Synchrony::late || facts.protocol.in_rounds) &&
                        facts.sparsifier.deterministic && !facts.protocol.participants;
}

/// Adds the L of EF21's theorems, in which all workers count the same: the root of the mean of
/// L_p^2, and the mean of L_p; and the largest L_p, which bounds the drift of local steps.
void add_worker_smoothness(std::span<const double> of_each, RunFacts& facts) {
  if (of_each.empty()) {
    return;
  }
  double sum = 0;
  double sum_sq = 0;
  double largest = 0;
  for (const double smoothness : of_each) {
    sum += smoothness;
    sum_sq += smoothness * smoothness;
    largest = std::max(largest, smoothness);
  }
  const auto workers = static_cast<double>(of_each.size());
  facts.objective.worker_smoothness = known(std::sqrt(sum_sq / workers));
  facts.objective.worker_smoothness_mean = known(sum / workers);
  facts.objective.worker_smoothness_max = known(largest);
}

void add_objective(const PreparedRun& run, const Facts& of_objective, RunFacts& facts) {
  facts.objective.convex = of_objective.convex;
  facts.objective.smoothness = known(of_objective.smoothness);
  add_worker_smoothness(run.training.worker_smoothness, facts);
  facts.objective.strong_convexity = known(of_objective.strong_convexity);
  facts.objective.worker_strong_convexity = known(worker_strong_convexity(run));
  facts.objective.minimum = known(of_objective.minimum);
  facts.objective.lower_bound = known(of_objective.lower_bound);
  facts.objective.noise_variance = known(of_objective.noise_variance);
  if (!of_objective.minimizer.empty()) {
    std::vector<double> start(of_objective.minimizer.size());
    run.objective->initial_point(run.seed, start);
    facts.objective.initial_distance_sq = known(distance_sq(start, of_objective.minimizer));
  }
}

}  // namespace

std::vector<std::string> known_losses(const PreparedRun& run) {
  const ProtocolLaw law = law_of(run);
  if (law.synchrony == Synchrony::neighbours) {
    return {};
  }
  const RunFacts facts = method_facts(*run.method, run.objective->dimension(), law, run.workers);
  return run.method->known_losses(facts.sends_everything, run.participants());
}

RunFacts run_facts(const PreparedRun& run) {
  const Facts of_objective = run.objective->facts();
  RunFacts facts = method_facts(*run.method, run.objective->dimension(), law_of(run), run.workers);
  add_gradients(run, of_objective, facts);
  add_evaluation(run, facts);
  add_objective(run, of_objective, facts);
  return facts;
}

namespace {

using reports::Json;
using reports::json_number;

void set_known(Json& object, const char* key, const std::optional<double>& value) {
  if (value) {
    object[key] = json_number(value);
  }
}

Json final_json(const Outcome& outcome, const std::optional<double>& minimum) {
  Json json = Json::object();
  if (outcome.evaluation) {
    json["loss"] = json_number(outcome.evaluation->loss);
    set_known(json, "grad_norm_sq", outcome.evaluation->grad_norm_sq);
    if (minimum) {
      json["loss_gap"] = json_number(outcome.evaluation->loss - *minimum);
    }
  }
  if (outcome.test) {
    if (!std::isnan(outcome.test->accuracy)) {  // it is where nothing is classified
      json["test_accuracy"] = json_number(outcome.test->accuracy);
    }
    json["test_loss"] = json_number(outcome.test->loss);
    set_known(json, "test_perplexity", outcome.test->perplexity);
  }
  return json;
}

/// States the average gradient only if it was evaluated in all iterations.
Json totals_json(const RunSummary& summary, const Outcome& outcome) {
  Json json = Json::object();
  const auto sent = [&](const char* name, const auto& in_rows, double RunTotals::*in_all) {
    const bool has_all = in_rows && outcome.totals;
    set_known(json, name, has_all ? std::optional((*outcome.totals).*in_all) : in_rows);
  };
  sent("sent_bytes", summary.sent_bytes, &RunTotals::sent_bytes);
  sent("uplink_bytes", summary.uplink_bytes, &RunTotals::uplink_bytes);
  sent("nnz_sent", summary.nnz_sent, &RunTotals::nnz_sent);
  if (outcome.totals && outcome.totals->virtual_s > 0) {
    json["virtual_s"] = json_number(outcome.totals->virtual_s);
  }
  if (summary.evaluations == outcome.iterations && summary.evaluations > 0) {
    json["average_grad_norm_sq"] =
        json_number(summary.grad_norm_sq_sum / static_cast<double>(summary.evaluations));
  }
  set_known(json, "delta_max", summary.delta_max);
  set_known(json, "total_error", summary.total_error);
  return json;
}

Json checks_json(const RunSummary& summary) {
  Json json = Json::object();
  for (const auto& [name, check] : summary.checks) {
    json[name] = {{"holds", check.failures == 0},
                  {"hard", check.hard},
                  {"expected", check.expected},
                  {"failures", check.failures},
                  {"n", check.n},
                  {"worst_ratio", json_number(check.worst_ratio)},
                  {"worst_iteration", check.worst_iteration}};
  }
  return json;
}

Json data_json(const PreparedRun& run) {
  const DataInfo data = run.objective->data();
  Json json{{"name", data.name},
            {"settings", Json(data_settings(run.config))},
            {"samples", data.samples},
            {"features", data.features},
            {"fingerprint", data.fingerprint},
            {"note", data.note}};
  if (!data.gradients_of.empty()) {
    json["gradients_of"] = data.gradients_of;
  }
  return json;
}

/// Returns a number, or the word for what JSON has no number for.
Json number_or_word(double value) {
  return std::isfinite(value) ? Json(value) : Json(in_words(value));
}

Json divergence_json(const Divergence& divergence, const Objective& objective) {
  Json json{{"reason", name_of(divergence.of)}, {"iteration", divergence.iteration}};
  if (divergence.worker >= 0) {
    json["worker"] = divergence.worker;
  }
  if (const auto place = place_of(divergence, objective)) {
    json["layer"] = place->layer;
    json["index"] = place->index;
  }
  json["value"] = number_or_word(divergence.value);
  return json;
}

}  // namespace

const char* state_name(Outcome::State state) {
  switch (state) {
    case Outcome::State::finished:
      return "finished";
    case Outcome::State::diverged:
      return "diverged";
    case Outcome::State::stopped:
      return "interrupted";
  }
  return "failed";
}

Json final_status(const Outcome& outcome, const RunSummary& summary, const PreparedRun& run) {
  Json status{{"state", state_name(outcome.state)},
              {"message", outcome.message},
              {"iterations", outcome.iterations},
              {"wall_s", outcome.wall_s},
              {"known_losses", known_losses(run)},
              {"processes", run.training.cluster->world().size()},
              {"data", data_json(run)},
              {"final", final_json(outcome, run.training.minimum)},
              {"totals", totals_json(summary, outcome)},
              {"silent_workers", summary.silent_workers},
              {"checks", checks_json(summary)}};
  reports::write_run_facts(run_facts(run), status);
  if (outcome.divergence) {
    status["diverged"] = divergence_json(*outcome.divergence, *run.objective);
  }
  if (run.found) {
    status["threshold"] = json_number(run.found->threshold);
    status["pilot_runs"] = run.found->pilot_runs;
  }
  return status;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                     parts.tm_year + 1900,
                     parts.tm_mon + 1,
                     parts.tm_mday,
                     parts.tm_hour,
                     parts.tm_min,
                     parts.tm_sec);
}

}  // namespace residuum
