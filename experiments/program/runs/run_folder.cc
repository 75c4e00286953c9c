#include "experiments/program/runs/run_folder.h"

#include <fstream>
#include <limits>
#include <system_error>

#include "experiments/program/console/streams.h"
#include "experiments/program/runs/provenance.h"
#include "experiments/program/runs/run_status.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"
#include "reports/results/table_prints.h"

namespace residuum {
namespace {

using reports::Json;

constexpr const char* kIterationsPart = RunTables::kIterationsPart;
constexpr const char* kChecksPart = RunTables::kChecksPart;

OutputPath folder_of(const std::filesystem::path& result_dir, const std::string& run_id) {
  return OutputPath::named(result_dir) / "runs" / run_id;
}

/// Returns false also for a folder that may not be read; writing there then tells why not.
bool is_there(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

std::vector<std::string> tables_in(const std::filesystem::path& folder) {
  std::vector<std::string> names{"iterations.csv", "checks.csv"};
  for (const TableInfo* details : kDetailTables) {
    const auto name = DetailFiles::name(*details);
    if (is_there(folder / name)) {
      names.push_back(name);
    }
  }
  return names;
}

/// Returns what config.json is to hold.
Json config_json(const PreparedRun& run, const Study& study) {
  Json json{{"run_id", run.id},
            {"study", study.name},
            {"title", study.title},
            {"seed", run.seed},
            {"varying", Json(run.varying)},
            {"config", Json(run.config)}};
  return json;
}

void write_status(const OutputPath& folder, const Json& status) {
  reports::write_json_atomically(folder / "status.json", reports::with_print(status));
}

/// log.txt: when the run started, and when and how it ended.
void write_log(const OutputPath& folder,
               const std::string& started_utc,
               const std::string& ending) {
  write_file_atomically(folder / "log.txt",
                        fmt::format("{} started\n{} {}\n", started_utc, utc_now(), ending));
}

std::uint64_t bytes_in(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

/// Returns whether status.json says that the run has come to its end.
bool has_ended(const std::filesystem::path& folder) {
  try {
    const auto state = reports::text_at(reports::read_json(folder / "status.json"), "state");
    return state == "finished" || state == "diverged";
  } catch (const Error&) {
    return false;
  }
}

/// Returns whether the first `bytes` of a table end with a line; it has them.
bool ends_a_row(const std::filesystem::path& file, std::uint64_t bytes) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(bytes - 1));
  return stream.get() == '\n';
}

/// Gives the tables of a run that ended or failed between naming them and writing its status their
/// old names, so that it goes on with them. A run that was recorded as finished is left alone: its
/// tables are not those that were written.
void restore_parts(const OutputPath& folder) {
  if (has_ended(folder)) {
    return;
  }
  const auto restore = [&](const std::string& name, const std::string& part) {
    if (!is_there(folder / part) && is_there(folder / name)) {
      move_file(folder / name, folder / part);
    }
  };
  restore("iterations.csv", kIterationsPart);
  restore("checks.csv", kChecksPart);
  for (const TableInfo* details : kDetailTables) {
    restore(DetailFiles::name(*details), DetailFiles::part(*details));
  }
}

/// The status of a run that has no tables.
Json status_without_tables(const std::string& started_utc,
                           const char* state,
                           const std::string& message) {
  return {{"state", state},
          {"message", message},
          {"started_utc", started_utc},
          {"finished_utc", utc_now()}};
}

/// Throws a usage error unless this build has written the checkpoint of the run.
void require_own_program(const CheckpointHead& head, const std::filesystem::path& run_folder) {
  require(head.revision == program_version(),
          "{} has a checkpoint of another build, {}, and this one is {}; go on with that build, or "
          "remove {} to begin anew",
          run_folder.string(),
          head.revision.empty() ? "which it does not name" : head.revision,
          program_version(),
          (run_folder / "checkpoint").string());
}

/// The run_id that a config.json names; empty where it is missing or damaged.
std::string id_in(const std::filesystem::path& config) {
  try {
    return reports::text_at(reports::read_json(config), "run_id");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

bool is_interrupted(const std::filesystem::path& result_dir, const std::string& run_id) {
  try {
    const auto status = reports::read_json(result_dir / "runs" / run_id / "status.json");
    return reports::text_at(status, "state") == state_name(Outcome::State::stopped);
  } catch (const Error&) {
    return false;
  }
}

bool is_done(const std::filesystem::path& result_dir, const std::string& run_id) {
  const auto folder = result_dir / "runs" / run_id;
  if (!is_there(folder / "status.json")) {
    return false;
  }
  try {
    const Json status = reports::read_json(folder / "status.json");
    const auto state = reports::text_at(status, "state");
    if (state != "finished" && state != "diverged") {
      return false;
    }
    const Json& files = reports::value_at(status, "files");
    require(files.is_object() && !files.empty(), "it does not say which tables it has");
    for (const auto& known : {reports::text_at(status, "run_id"), id_in(folder / "config.json")}) {
      require(!reports::is_run_id(known) || known == run_id, "it is of run {}", known);
    }
    const auto damage = reports::damage_of(folder, status);
    require(!damage, "{}", damage.value_or(""));
    return true;
  } catch (const Error& error) {
    if (error.code() == ExitCode::resource) {
      throw;  // the run may be whole; it only cannot be read now
    }
    say(fmt::format(
        "{} was damaged since it finished ({}); it is run again", folder.string(), error.what()));
  }
  return false;
}

void mend_finished(const std::filesystem::path& result_dir,
                   const PreparedRun& run,
                   const Study& study) {
  const OutputPath folder = folder_of(result_dir, run.id);
  remove_file(reports::failure_file(folder));
  const OutputPath file = folder / "config.json";
  const Json config = config_json(run, study);
  try {
    const Json found = reports::read_json(file);
    reports::require_own_print(found, file);
    if (found.value("run_id", Json()) == run.id && found.value("seed", Json()) == config["seed"] &&
        found.value("varying", Json()).is_object() && found.value("config", Json()).is_object()) {
      return;
    }
  } catch (const Error&) {
    // It is missing, no JSON, or was changed.
  }
  say(fmt::format("{} was damaged; it is written again", file.string()));
  reports::write_json_atomically(file, reports::with_print(config));
}

void refuse_other_data(const std::filesystem::path& result_dir, const PreparedRun& run) {
  const auto file = result_dir / "runs" / run.id / "status.json";
  if (!run.failure.empty() || !is_there(file)) {
    return;  // nobody knows what data an unprepared run would have
  }
  std::string before;
  try {
    before = reports::text_at(reports::read_json(file), "data.fingerprint");
  } catch (const Error&) {
    before.clear();  // a damaged run is made again
  }
  require(
      before.empty() || before == run.data_fingerprint,
      "run {} in {} was done on other data (fingerprint {}, now {}): put them back, use another "
      "--out, or remove {}",
      run.id,
      result_dir.string(),
      before,
      run.data_fingerprint,
      result_dir.string());
}

void refuse_other_program(const std::filesystem::path& result_dir, const PreparedRun& run) {
  const OutputPath folder = folder_of(result_dir, run.id);
  const auto head = newest_head(folder);
  if (!head || !run.failure.empty()) {
    return;
  }
  std::string state;
  try {
    state = reports::text_at(reports::read_json(folder / "status.json"), "state");
  } catch (const Error&) {
    state.clear();  // a damaged run is made again
  }
  if (state != "finished" && state != "diverged") {
    require_own_program(*head, folder);
  }
}

namespace {

/// Returns T; null where a training outside or a budget decides when the run ends.
Json planned_iterations(const PreparedRun& run) {
  return run.has_open_end() ? Json() : Json(run.training.iterations);
}

}  // namespace

RunFolder::RunFolder(const std::filesystem::path& result_dir,
                     const PreparedRun& run,
                     const Study& study)
    : folder_(folder_of(result_dir, run.id)),
      run_id_(run.id),
      data_fingerprint_(run.data_fingerprint),
      plan_({.iterations = run.training.iterations,
             .has_pilot = run.needs_pilot,
             .details = run.details.tables()}),
      begun_utc_(utc_now()),
      started_utc_(begun_utc_) {
  make_folder(folder_);
  reports::write_json_atomically(folder_ / "config.json",
                                 reports::with_print(config_json(run, study)));
  restore_parts(folder_);
  adopt(
      find_checkpoint(folder_, run_id_, [this](const CheckpointHead& head) { check_head(head); }));
  Json status{{"state", "running"},
              {"started_utc", started_utc_},
              {"planned_iterations", planned_iterations(run)}};
  if (resumed_) {
    status["resumed_utc"] = begun_utc_;
    status["resumed_at"] = resumed_iterations();
  }
  write_status(folder_, status);
  remove_file(reports::failure_file(folder_));
  if (!resumed_) {
    begin_tables();
  }
}

/// A checkpoint of another build of the program is refused as a whole, not set aside.
void RunFolder::adopt(std::optional<Checkpoint> checkpoint) {
  if (checkpoint) {
    require_own_program(checkpoint->head, folder_);
  }
  resumed_ = std::move(checkpoint);
  found_.reset();
  started_utc_ = resumed_ ? resumed_->head.started_utc : begun_utc_;
  if (resumed_ && !resumed_->head.found.is_null()) {
    const Json& found = resumed_->head.found;
    found_ = FoundThreshold{.threshold = found.at("threshold").get<double>(),
                            .pilot_runs = found.at("pilot_runs").get<int>()};
  }
}

void RunFolder::begin_tables() {
  sums_ = {};
  tables_ = std::make_unique<RunTables>(folder_, run_id_, plan_.details);
}

void RunFolder::go_on() {
  const CheckpointHead& head = resumed_->head;
  const TablesBytes kept{
      .iterations = head.iterations_bytes, .checks = head.checks_bytes, .details = head.details};
  tables_ = std::make_unique<RunTables>(folder_, run_id_, plan_.details, &kept);
}

void RunFolder::refuse(const std::string& reason) {
  tables_.reset();  // rows that follow the checkpoint may be open
  adopt(next_checkpoint(
      folder_, *resumed_, reason, [this](const CheckpointHead& head) { check_head(head); }));
  if (!resumed_) {
    begin_tables();
  }
}

void RunFolder::check_head(const CheckpointHead& head) {
  require(head.data_fingerprint == data_fingerprint_,
          "it is of other data (fingerprint {}, now {})",
          head.data_fingerprint,
          data_fingerprint_);
  require(head.iteration > 0 && head.iteration <= plan_.iterations,
          "it is of iteration {}, and the run has {}",
          head.iteration,
          plan_.iterations);
  require(plan_.has_pilot == !head.found.is_null(),
          "it {} a threshold of pilot runs",
          plan_.has_pilot ? "lacks" : "has");
  require(reports::seconds_of_utc(head.started_utc).has_value(), "its time of start is damaged");
  check_tables(head);
}

TableBytes RunFolder::parts_of(const CheckpointHead& head) const {
  TableBytes parts{{kIterationsPart, head.iterations_bytes}, {kChecksPart, head.checks_bytes}};
  for (const TableInfo* details : plan_.details) {
    const auto counted = head.details.find(std::string(details->name));
    require(counted != head.details.end(), "it has not counted {}", details->name);
    parts[DetailFiles::part(*details)] = counted->second;
  }
  require(head.details.size() == plan_.details.size(), "it has counted other tables");
  return parts;
}

void RunFolder::check_tables(const CheckpointHead& head) {
  const TableBytes parts = parts_of(head);
  for (const auto& [name, bytes] : parts) {
    require(bytes > 0 && bytes_in(folder_ / name) >= bytes,
            "the tables that go with it are not there");
    require(ends_a_row(folder_ / name, bytes), "it ends within a row of {}", name);
  }
  require(head.table_sums.size() == parts.size(), "it has summed up other tables");
  for (const auto& [name, sum] : sums_of(head)) {
    const auto counted = head.table_sums.find(name);
    require(counted != head.table_sums.end() && counted->second == sum,
            "{} has changed since",
            table(name.c_str()).string());
  }
}

std::map<std::string, std::uint32_t> RunFolder::sums_of(const CheckpointHead& head) {
  std::map<std::string, std::uint32_t> sums;
  for (const auto& [name, bytes] : parts_of(head)) {
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
  const TablesBytes bytes = tables_->synchronise();
  CheckpointHead head{.run_id = run_id_,
                      .iteration = iterations,
                      .iterations_bytes = bytes.iterations,
                      .checks_bytes = bytes.checks,
                      .details = bytes.details,
                      .data_fingerprint = data_fingerprint_,
                      .found = found,
                      .started_utc = started_utc_,
                      .revision = program_version()};
  head.table_sums = sums_of(head);
  write_checkpoint(folder_, head, fill);
}

void RunFolder::remove_checkpoints() const {
  keep_checkpoints(folder_, 0, std::numeric_limits<std::uint64_t>::max());
}

void RunFolder::write(const Row& row, const std::vector<Check>& checks) {
  tables_->write(row, checks);
}

void RunFolder::finish(const Outcome& outcome,
                       const RunSummary& summary,
                       const PreparedRun& run,
                       const nlohmann::json& provenance) {
  if (outcome.state == Outcome::State::stopped) {
    write_log(folder_, started_utc_, outcome.message);
    Json status = status_without_tables(started_utc_, state_name(outcome.state), outcome.message);
    status["planned_iterations"] = planned_iterations(run);
    write_status(folder_, status);
    return;
  }
  tables_->close();
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
  Json status = final_status(outcome, summary, run);
  status["run_id"] = run_id_;
  status["started_utc"] = started_utc_;
  status["finished_utc"] = utc_now();
  status["files"] = reports::prints_of(folder_, tables_in(folder_));
  status["provenance"] = Json(provenance);
  write_status(folder_, status);
  keep_checkpoints(folder_, 1, outcome.iterations);
}

void fail_run(const std::filesystem::path& result_dir,
              const PreparedRun& run,
              const Study& study,
              const std::string& message) {
  const OutputPath folder = folder_of(result_dir, run.id);
  const std::string now = utc_now();
  const Json config = config_json(run, study);
  const Json status = status_without_tables(now, "failed", message);
  try {
    make_folder(folder);
    write_log(folder, now, message);
    reports::write_json_atomically(folder / "config.json", reports::with_print(config));
    write_status(folder, status);
  } catch (const Error&) {
    try {
      reports::write_json_atomically(
          reports::failure_file(folder),
          {{"config", reports::with_print(config)}, {"status", reports::with_print(status)}});
    } catch (const Error& error) {
      resource_error("{} (nor can it be noted that the run failed: {})", message, error.what());
    }
  }
}

}  // namespace residuum
