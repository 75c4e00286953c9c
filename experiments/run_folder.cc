#include "experiments/run_folder.h"

#include <cmath>
#include <ctime>
#include <system_error>

#include "core/vectors/dense.h"
#include "experiments/progress.h"
#include "reports/result_folder.h"

namespace residuum {
namespace {

using reports::Json;
using reports::json_number;

constexpr const char* kIterationsPart = "iterations.csv.part";
constexpr const char* kChecksPart = "checks.csv.part";

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    resource_error("cannot make the folder {}: {}", folder.string(), error.message());
  }
}

void move_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) {
    resource_error("cannot rename {} to {}: {}", from.string(), to.string(), error.message());
  }
}

void set_known(Json& object, const char* key, const std::optional<double>& value) {
  if (value) {
    object[key] = json_number(value);
  }
}

/// L of EF21's theorem, whose workers count the same: the root of the mean of L_p^2, where worker p
/// has the objective (P n_p / n) f_p.
std::optional<double> worker_smoothness(const PreparedRun& run) {
  const auto& shards = run.training.shards;
  if (!run.method->feedback->estimates() || shards.empty()) {
    return std::nullopt;
  }
  const auto workers = static_cast<double>(shards.size());
  const auto n = static_cast<double>(run.objective->samples());
  double sum = 0;
  for (const auto& shard : shards) {
    const auto smoothness = run.objective->shard_smoothness(shard);
    if (!smoothness) {
      return std::nullopt;
    }
    const double of_worker = workers * static_cast<double>(shard.size()) / n * *smoothness;
    sum += of_worker * of_worker;
  }
  return std::sqrt(sum / workers);
}

Json facts_json(const PreparedRun& run) {
  const Facts facts = run.objective->facts();
  Json json = Json::object();
  set_known(json, "smoothness", facts.smoothness);
  set_known(json, "worker_smoothness", worker_smoothness(run));
  set_known(json, "strong_convexity", facts.strong_convexity);
  set_known(json, "minimum", facts.minimum);
  set_known(json, "noise_variance", facts.noise_variance);
  if (!facts.minimizer.empty()) {
    std::vector<double> start(facts.minimizer.size());
    run.objective->initial_point(run.seed, start);
    json["initial_distance_sq"] = distance_sq(start, facts.minimizer);
  }
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
    json["test_accuracy"] = json_number(outcome.test->accuracy);
    json["test_loss"] = json_number(outcome.test->loss);
    set_known(json, "test_perplexity", outcome.test->perplexity);
  }
  return json;
}

/// The average gradient is only stated if it was evaluated in all iterations.
Json totals_json(const RunSummary& summary, const Outcome& outcome) {
  Json json = Json::object();
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

Json data_json(const DataInfo& data) {
  return {{"name", data.name},
          {"samples", data.samples},
          {"features", data.features},
          {"fingerprint", data.fingerprint},
          {"note", data.note}};
}

/// A number, or the word for what JSON has no number for.
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

/// A print of each table, to notice later that it is not the one that was written.
Json prints_of(const std::filesystem::path& folder) {
  Json prints = Json::object();
  for (const char* name : {"iterations.csv", "checks.csv"}) {
    prints[name] = short_hash(reports::read_file(folder / name));
  }
  for (const TableInfo* details : kDetailTables) {
    const auto name = DetailFiles::name(*details);
    if (std::filesystem::exists(folder / name)) {
      prints[name] = short_hash(reports::read_file(folder / name));
    }
  }
  return prints;
}

/// Whether the method claims that nothing is lost.
bool conserves(const PreparedRun& run) {
  const bool sends_everything = run.config["sparsifier"]["kind"] == "none";
  return run.method->feedback->conserves(
      run.method->aggregator->law(), sends_everything, run.workers);
}

void write_status(const std::filesystem::path& folder, const Json& status) {
  reports::write_json_atomically(folder / "status.json", status);
}

/// log.txt: when the run started, and when and how it ended.
void write_log(const std::filesystem::path& folder,
               const std::string& started_utc,
               const std::string& ending) {
  reports::write_file_atomically(
      folder / "log.txt", fmt::format("{} started\n{} {}\n", started_utc, utc_now(), ending));
}

std::uint64_t bytes_in(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

/// A run that ended between naming its tables and its status goes on with them. One that has been
/// said to be finished does not: its tables are not those that were written.
void restore_parts(const std::filesystem::path& folder) {
  std::string state;
  if (std::filesystem::exists(folder / "status.json")) {
    try {
      state = reports::text_at(reports::read_json(folder / "status.json"), "state");
    } catch (const Error&) {
      state.clear();
    }
  }
  if (state != "running") {
    return;
  }
  const auto restore = [&](const std::string& name, const std::string& part) {
    if (!std::filesystem::exists(folder / part) && std::filesystem::exists(folder / name)) {
      move_file(folder / name, folder / part);
    }
  };
  restore("iterations.csv", kIterationsPart);
  restore("checks.csv", kChecksPart);
  for (const TableInfo* details : kDetailTables) {
    restore(DetailFiles::name(*details), DetailFiles::part(*details));
  }
}

/// No tables under their own names, and a status that says why.
void leave_without_tables(const std::filesystem::path& folder,
                          const std::string& started_utc,
                          const char* state,
                          const std::string& message) {
  write_log(folder, started_utc, message);
  write_status(folder,
               {{"state", state},
                {"message", message},
                {"started_utc", started_utc},
                {"finished_utc", utc_now()}});
}

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

}  // namespace

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

bool is_done(const std::filesystem::path& result_dir, const std::string& run_id) {
  const auto folder = result_dir / "runs" / run_id;
  if (!std::filesystem::exists(folder / "status.json")) {
    return false;
  }
  try {
    const Json status = reports::read_json(folder / "status.json");
    const auto state = reports::text_at(status, "state");
    if (state != "finished" && state != "diverged") {
      return false;
    }
    if (reports::value_at(status, "files") == prints_of(folder)) {
      return true;
    }
  } catch (const Error&) {
    // What cannot be read is as good as damaged.
  }
  say(fmt::format("{} was damaged since it finished; it is run again", folder.string()));
  return false;
}

void refuse_other_data(const std::filesystem::path& result_dir, const PreparedRun& run) {
  const auto file = result_dir / "runs" / run.id / "status.json";
  if (!std::filesystem::exists(file)) {
    return;
  }
  std::string before;
  try {
    before = reports::text_at(reports::read_json(file), "data.fingerprint");
  } catch (const Error&) {
    before.clear();  // a damaged run is made again
  }
  require(before.empty() || before == run.data_fingerprint,
          "run {} in {} was done on other data (fingerprint {}, now {}): use another --out, or "
          "remove {}",
          run.id,
          result_dir.string(),
          before,
          run.data_fingerprint,
          file.parent_path().string());
}

RunFolder::RunFolder(const std::filesystem::path& result_dir,
                     const PreparedRun& run,
                     const std::string& study_name,
                     const std::string& title)
    : folder_(result_dir / "runs" / run.id),
      run_id_(run.id),
      data_fingerprint_(run.data_fingerprint),
      started_utc_(utc_now()) {
  make_folder(folder_);
  resume(run);
  write_status(folder_, {{"state", "running"}, {"started_utc", started_utc_}});
  reports::write_json_atomically(folder_ / "config.json",
                                 {{"run_id", run.id},
                                  {"study", study_name},
                                  {"title", title},
                                  {"seed", run.seed},
                                  {"varying", Json(run.varying)},
                                  {"config", Json(run.config)}});
  if (!resumed_) {
    iterations_ = std::make_unique<reports::IterationsWriter>(table(kIterationsPart), run.id);
    checks_ = std::make_unique<reports::ChecksWriter>(table(kChecksPart), run.id);
    details_ = DetailFiles(folder_, run.id, run.details.tables(), nullptr);
  }
}

/// Rows after those that the checkpoint counted are made again.
void RunFolder::resume(const PreparedRun& run) {
  restore_parts(folder_);
  const auto details = run.details.tables();
  auto checkpoint = find_checkpoint(folder_, run.id, [&](const CheckpointHead& head) {
    require(head.data_fingerprint.empty() || head.data_fingerprint == data_fingerprint_,
            "it is of other data (fingerprint {}, now {})",
            head.data_fingerprint,
            data_fingerprint_);
    check_tables(head, run);
  });
  if (!checkpoint) {
    sums_ = {};  // of tables that begin anew
    return;
  }
  const CheckpointHead& head = checkpoint->head;
  iterations_ = std::make_unique<reports::IterationsWriter>(
      table(kIterationsPart), run.id, head.iterations_bytes);
  checks_ = std::make_unique<reports::ChecksWriter>(table(kChecksPart), run.id, head.checks_bytes);
  details_ = DetailFiles(folder_, run.id, details, &head.details);
  started_utc_ = head.started_utc;
  if (!head.found.is_null()) {
    found_ = FoundThreshold{.threshold = head.found.at("threshold").get<double>(),
                            .pilot_runs = head.found.at("pilot_runs").get<int>()};
  }
  resumed_ = std::move(checkpoint);
}

void RunFolder::check_tables(const CheckpointHead& head, const PreparedRun& run) {
  require(bytes_in(table(kIterationsPart)) >= head.iterations_bytes &&
              bytes_in(table(kChecksPart)) >= head.checks_bytes &&
              DetailFiles::reach(folder_, run.details.tables(), head.details),
          "the tables that go with it are not there");
  if (head.table_sums.empty()) {
    return;
  }
  for (const auto& [name, sum] : sums_of(head)) {
    const auto counted = head.table_sums.find(name);
    require(counted != head.table_sums.end() && counted->second == sum,
            "{} has changed since",
            table(name.c_str()).string());
  }
}

std::map<std::string, std::uint32_t> RunFolder::sums_of(const CheckpointHead& head) {
  TableBytes parts{{kIterationsPart, head.iterations_bytes}, {kChecksPart, head.checks_bytes}};
  for (const auto& [name, bytes] : head.details) {
    parts[name + ".csv.part"] = bytes;
  }
  std::map<std::string, std::uint32_t> sums;
  for (const auto& [name, bytes] : parts) {
    sums[name] = sums_.of(folder_ / name, bytes);
  }
  return sums;
}

void RunFolder::load(const std::function<void(StateStream&)>& fill) const {
  read_checkpoint(*resumed_, fill);
}

void RunFolder::save(std::uint64_t iterations, const std::function<void(StateStream&)>& fill) {
  Json found = nullptr;
  if (found_) {
    found = {{"threshold", found_->threshold}, {"pilot_runs", found_->pilot_runs}};
  }
  CheckpointHead head{.run_id = run_id_,
                      .iteration = iterations,
                      .iterations_bytes = iterations_->synchronise(),
                      .checks_bytes = checks_->synchronise(),
                      .details = details_.synchronise(),
                      .data_fingerprint = data_fingerprint_,
                      .found = found,
                      .started_utc = started_utc_};
  head.table_sums = sums_of(head);
  write_checkpoint(folder_, head, fill);
}

void RunFolder::write(const Row& row, const std::vector<Check>& checks) {
  iterations_->write(row);
  for (const auto& check : checks) {
    checks_->write(check);
  }
}

void RunFolder::finish(const Outcome& outcome,
                       const RunSummary& summary,
                       const PreparedRun& run,
                       const nlohmann::json& provenance) {
  if (outcome.state == Outcome::State::stopped) {
    leave_without_tables(folder_, started_utc_, state_name(outcome.state), outcome.message);
    return;
  }
  iterations_->close();
  checks_->close();
  details_.close();
  move_file(table(kIterationsPart), table("iterations.csv"));
  move_file(table(kChecksPart), table("checks.csv"));
  for (const TableInfo* details : run.details.tables()) {
    move_file(folder_ / DetailFiles::part(*details), folder_ / DetailFiles::name(*details));
  }
  write_log(
      folder_,
      started_utc_,
      outcome.message.empty()
          ? fmt::format("finished: {} iterations in {:.2f} s", outcome.iterations, outcome.wall_s)
          : outcome.message);
  const std::size_t d = run.objective->dimension();
  const auto k = run.method->sparsifier->k(d);
  Json status{{"state", state_name(outcome.state)},
              {"message", outcome.message},
              {"iterations", outcome.iterations},
              {"wall_s", outcome.wall_s},
              {"started_utc", started_utc_},
              {"finished_utc", utc_now()},
              {"dimension", d},
              {"k", k ? Json(*k) : Json(nullptr)},
              {"conserves", conserves(run)},
              {"processes", run.training.cluster->world().size()},
              {"facts", facts_json(run)},
              {"data", data_json(run.objective->data())},
              {"final", final_json(outcome, run.training.minimum)},
              {"totals", totals_json(summary, outcome)},
              {"checks", checks_json(summary)},
              {"files", prints_of(folder_)},
              {"provenance", Json(provenance)}};
  if (outcome.divergence) {
    status["diverged"] = divergence_json(*outcome.divergence, *run.objective);
  }
  if (run.found) {
    status["threshold"] = json_number(run.found->threshold);
    status["pilot_runs"] = run.found->pilot_runs;
  }
  write_status(folder_, status);
  keep_checkpoints(folder_, 1, outcome.iterations);
}

void fail_run(const std::filesystem::path& result_dir,
              const std::string& run_id,
              const std::string& message) {
  const auto folder = result_dir / "runs" / run_id;
  make_folder(folder);
  leave_without_tables(folder, utc_now(), "failed", message);
}

}  // namespace residuum
