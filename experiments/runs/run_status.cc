#include "experiments/runs/run_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "core/measurement/landscape.h"
#include "core/vectors/dense.h"
#include "experiments/runs/run_laws.h"
#include "experiments/study/study_keys.h"
#include "reports/tables/result_folder.h"

namespace residuum {
namespace {

using reports::Json;
using reports::json_number;

void set_known(Json& object, const char* key, const std::optional<double>& value) {
  if (value) {
    object[key] = json_number(value);
  }
}

/// Sets the L of EF21's theorems, in which all workers count the same: the root of the mean of
/// L_p^2, and the mean of L_p; and the largest L_p, which bounds the drift of local steps.
void set_worker_smoothness(Json& json, std::span<const double> of_each) {
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
  json["worker_smoothness"] = json_number(std::sqrt(sum_sq / workers));
  json["worker_smoothness_mean"] = json_number(sum / workers);
  json["worker_smoothness_max"] = json_number(largest);
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
void add_sample_counts(Json& json, const PreparedRun& run) {
  const std::size_t n = run.objective->samples();
  if (n == 0) {
    return;
  }
  const std::size_t evaluated = run.objective->evaluated().size();
  json["samples"] = n;
  json["evaluated_samples"] = evaluated == 0 ? n : evaluated;
  if (run.training.plan.power) {
    json["power_samples"] = curvature_samples(run.training);
  }
}

Json facts_json(const PreparedRun& run) {
  const Facts facts = run.objective->facts();
  Json json = Json::object();
  set_known(json, "smoothness", facts.smoothness);
  set_worker_smoothness(json, run.training.worker_smoothness);
  set_known(json, "strong_convexity", facts.strong_convexity);
  set_known(json, "minimum", facts.minimum);
  set_known(json, "noise_variance", facts.noise_variance);
  if (!facts.minimizer.empty()) {
    std::vector<double> start(facts.minimizer.size());
    run.objective->initial_point(run.seed, start);
    json["initial_distance_sq"] = distance_sq(start, facts.minimizer);
  }
  if (facts.convex) {
    json["convex"] = *facts.convex;
  }
  set_known(json, "lower_bound", facts.lower_bound);
  json["starts_from_seed"] = facts.starts_from_seed;
  json["gradients_from_seed"] =
      !run.objective->recorded_steps() && run.objective->source() == nullptr;
  json["partition_from_seed"] = run.config["workers"].value("partition_seed", Json()) == "run";
  if (const auto bias = gradient_bias(facts, run.training); !bias.empty()) {
    json["gradient_bias"] = bias;
  }
  add_sample_counts(json, run);
  return json;
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
  set_known(json, "sent_bytes", summary.sent_bytes);
  set_known(json, "uplink_bytes", summary.uplink_bytes);
  set_known(json, "nnz_sent", summary.nnz_sent);
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

/// Returns what the method loses by design. Neighbours exchange models, whose mean mixing leaves
/// alone whatever is left out.
std::vector<std::string> known_losses(const PreparedRun& run) {
  if (law_of(run).synchrony == Synchrony::neighbours) {
    return {};
  }
  return run.method->known_losses(sends_everything(run), run.participants());
}

/// Returns whether the method claims that nothing is lost.
bool conserves(const PreparedRun& run) { return known_losses(run).empty(); }

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
  const std::size_t d = run.objective->dimension();
  const auto k = run.method->sparsifier->k(d);
  Json status{{"state", state_name(outcome.state)},
              {"message", outcome.message},
              {"iterations", outcome.iterations},
              {"wall_s", outcome.wall_s},
              {"dimension", d},
              {"k", k ? Json(*k) : Json(nullptr)},
              {"conserves", conserves(run)},
              {"known_losses", known_losses(run)},
              {"processes", run.training.cluster->world().size()},
              {"facts", facts_json(run)},
              {"laws", laws_json(run)},
              {"data", data_json(run)},
              {"final", final_json(outcome, run.training.minimum)},
              {"totals", totals_json(summary, outcome)},
              {"silent_workers", summary.silent_workers},
              {"checks", checks_json(summary)}};
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
