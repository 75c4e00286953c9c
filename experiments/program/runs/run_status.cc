#include "experiments/program/runs/run_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "experiments/program/runs/run_facts.h"
#include "experiments/program/study/study_keys.h"
#include "reports/results/result_folder.h"
#include "reports/results/run_facts.h"

namespace residuum {
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
