#include "reports/results/result_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "reports/results/comparable_rows.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/table_prints.h"

namespace residuum::reports {
namespace {

/// Returns one line of JSON, whatever the texts in it are.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& required(const Json& object, const char* key, const std::filesystem::path& file) {
  const auto found = object.find(key);
  require(found != object.end(), "'{}' has no '{}'", file.string(), key);
  return *found;
}

std::string required_text(const Json& object, const char* key, const std::filesystem::path& file) {
  const Json& value = required(object, key, file);
  require(value.is_string(), "'{}' in '{}' is not a text", key, file.string());
  return value.get<std::string>();
}

std::string checked_state(const Json& status, const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 5> kStates{
      "finished", "diverged", "failed", "interrupted", "running"};
  std::string state = required_text(status, "state", file);
  require(std::find(kStates.begin(), kStates.end(), state) != kStates.end(),
          "'{}' names no known state: '{}'",
          file.string(),
          state);
  return state;
}

/// Takes over the configuration that was read from `file`.
void take_config(Json config, const std::filesystem::path& file, Run& run) {
  run.config = std::move(config);
  require_own_print(run.config, file);
  require(required_text(run.config, "run_id", file) == run.id,
          "'{}' is of another run: '{}'",
          file.string(),
          text_at(run.config, "run_id"));
  const Json& seed = required(run.config, "seed", file);
  require(seed.is_number_integer(), "'seed' in '{}' is not a whole number", file.string());
  run.seed = seed.get<std::int64_t>();
  run.varying = run.config.value("varying", Json::object());
  require(run.varying.is_object(), "'varying' in '{}' is not an object", file.string());
  run.is_known = true;
}

/// Takes over what the study planned for runs that have not said it themselves, as they have not
/// begun.
void take_plan(const Json& plan, std::vector<Run>& runs) {
  if (!plan.is_array() || plan.size() != runs.size()) {
    return;
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json& seed = value_at(plan[i], "seed");
    const Json& varying = value_at(plan[i], "varying");
    if (!runs[i].is_known && seed.is_number_integer() && varying.is_object()) {
      runs[i].seed = seed.get<std::int64_t>();
      runs[i].varying = varying;
      runs[i].is_known = true;
    }
  }
}

/// Returns what the study calls a value of a key; empty where it does not.
std::string label_of_value(const Json& labels, const std::string& key, const Json& value) {
  const auto of_key = labels.is_object() ? labels.find(key) : labels.end();
  if (of_key == labels.end() || !of_key->is_object()) {
    return {};
  }
  const auto found = of_key->find(plain_text(value));
  return found != of_key->end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Takes over what keys are that a run leaves out. Only a run that says what it is leaves any out.
void take_defaults(const Json& defaults, std::vector<Run>& runs) {
  if (!defaults.is_object()) {
    return;
  }
  for (auto& run : runs) {
    if (!run.config.empty()) {
      run.defaults = defaults;
    }
  }
}

/// Takes over which keys of a run its name leaves out.
void take_unnamed_keys(const Json& plan, std::vector<Run>& runs) {
  for (std::size_t i = 0; plan.is_array() && i < std::min(plan.size(), runs.size()); ++i) {
    const Json& keys = value_at(plan[i], "unnamed");
    for (const auto& key : keys.is_array() ? keys : Json::array()) {
      if (key.is_string()) {
        runs[i].unnamed.insert(key.get<std::string>());
      }
    }
  }
}

/// Takes over what the study calls its methods and their values.
void take_labels(const Json& plan, const Json& labels, std::vector<Run>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (plan.is_array() && plan.size() == runs.size()) {
      runs[i].label = text_at(plan[i], "label");
    }
    take_value_labels(labels, runs[i]);
  }
}

/// Notes of each run the kinds that others vary and it leaves at their defaults, so that its name
/// says what it is.
void note_implied_kinds(const std::vector<std::string>& keys, std::vector<Run>& runs) {
  for (auto& run : runs) {
    for (const auto& key : keys) {
      const std::string recorded = text_at(run.config, "config." + key);
      const auto fallback = run.defaults.find(key);
      const std::string kind =
          recorded.empty() && fallback != run.defaults.end() ? plain_text(*fallback) : recorded;
      if (key.ends_with(".kind") && !run.varying.contains(key) && !kind.empty()) {
        run.implied[key] = kind;
      }
    }
  }
}

void take_status(Json status, const std::filesystem::path& file, Run& run) {
  run.status = std::move(status);
  require_own_print(run.status, file);
  run.state = checked_state(run.status, file);
  run.message = text_at(run.status, "message");
}

/// Throws if the status of a run that has ended does not say what the run was: what is not said
/// would be judged as if it were known.
void require_record(const Json& status, const std::filesystem::path& file) {
  const std::string field = damaged_fact(status);
  require(
      field.empty(), "'{}' does not say '{}' as a run of this version does", file.string(), field);
}

/// Returns whether the file exists. A folder that may not be read is an error, because it may hold
/// anything.
bool is_there(const std::filesystem::path& file) {
  std::error_code error;
  const bool found = std::filesystem::exists(file, error);
  if (error) {
    resource_error("cannot look for '{}': {}", file.string(), error.message());
  }
  return found;
}

/// Reads a run's files. A run that never started has no folder, and one that was cut off early has
/// no status.json. One that failed before it could say what it is has no config.json.
Run read_files(const std::filesystem::path& folder, const std::string& id) {
  Run run;
  run.id = id;
  const auto config = folder / "config.json";
  const auto status = folder / "status.json";
  if (is_there(config)) {
    take_config(read_json(config), config, run);
  }
  if (!is_there(status)) {
    return run;
  }
  take_status(read_json(status), status, run);
  require(!run.config.empty() || run.state == "failed" || run.state == "running",
          "'{}' is missing beside status.json",
          config.string());
  if (run.has_tables()) {
    const auto damage = damage_of(folder, run.status);
    require(!damage, "{}", damage.value_or(""));
    require_record(run.status, status);
  }
  return run;
}

/// Reads {"config": config.json, "status": status.json} of a run that failed because its folder
/// cannot be written.
Run read_failure(const std::filesystem::path& file, const std::string& id) {
  Run run;
  run.id = id;
  Json failure = read_json(file);
  take_config(required(failure, "config", file), file, run);
  take_status(required(failure, "status", file), file, run);
  return run;
}

/// A failure beside the folder counts unless the folder holds a whole run that has come to its end.
Run read_whole_or_failed(const std::filesystem::path& folder, const std::string& id) {
  const OutputPath aside = failure_file(folder);
  if (!is_there(aside)) {
    return read_files(folder, id);
  }
  try {
    Run run = read_files(folder, id);
    if (run.has_tables()) {
      return run;
    }
  } catch (const Error&) {  // the run was to be made again, and could not be
    return read_failure(aside, id);
  }
  return read_failure(aside, id);
}

/// Notes which keys that vary have no meaning for a run: config.json holds every value that
/// matters, and of no run whose section is of the same kind does it hold that key.
void mark_moot_keys(std::vector<Run>& runs) {
  const auto kind_and_key = [](const Run& run, const std::string& key) {
    const std::string section = key.substr(0, key.find('.'));
    return std::pair(text_at(run.config, fmt::format("config.{}.kind", section)), key);
  };
  std::set<std::pair<std::string, std::string>> known;
  for (const auto& run : runs) {
    for (const auto& [key, value] : run.varying.items()) {
      if (!value_at(run.config, "config." + key).is_null()) {
        known.insert(kind_and_key(run, key));
      }
    }
  }
  for (auto& run : runs) {
    for (const auto& [key, value] : run.varying.items()) {
      const auto own = kind_and_key(run, key);
      if (!own.first.empty() && !known.contains(own)) {
        run.moot.insert(key);
      }
    }
  }
}

/// Returns the settings that decide which data a run loads, as text.
std::string data_settings_of(const Run& run) {
  return text_of(value_at(run.status, "data.settings"));
}

/// Returns a sentence that names two runs whose settings ask for the same data and which had
/// others; empty where there are none.
std::string mixed_data_of(const std::vector<Run>& runs, const std::vector<Run>& tuning_runs) {
  std::map<std::string, const Run*> first;
  std::vector<std::reference_wrapper<const Run>> all(runs.begin(), runs.end());
  all.insert(all.end(), tuning_runs.begin(), tuning_runs.end());
  for (const Run& run : all) {
    const std::string fingerprint = text_at(run.status, "data.fingerprint");
    if (!run.has_tables() || fingerprint.empty()) {
      continue;
    }
    const Run& other = *first.emplace(data_settings_of(run), &run).first->second;
    const std::string before = text_at(other.status, "data.fingerprint");
    if (before != fingerprint) {
      return fmt::format(
          "This folder mixes runs on different data: {} has the fingerprint {} and {} has {}, with "
          "the same settings. The runs are listed; nothing is compared or judged.",
          other.id,
          before,
          run.id,
          fingerprint);
    }
  }
  return {};
}

std::vector<std::string> keys_of(const std::vector<Run>& runs) {
  std::vector<std::string> keys;
  for (const auto& run : runs) {
    for (const auto& [key, value] : run.varying.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

/// Counts the runs in `runs` that the study does not name.
std::size_t unlisted_runs(const std::filesystem::path& runs, const std::set<std::string>& named) {
  std::error_code ignored;
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(runs, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_run = is_run_id(name) && entry.is_directory(ignored);
    count += is_run && !named.contains(name) ? 1 : 0;
  }
  return count;
}

/// Reads the runs that a list in `file` names, with what the study planned for them.
std::vector<Run> read_listed(const Json& study,
                             const char* list,
                             const char* plan,
                             const std::filesystem::path& file,
                             std::set<std::string>& seen) {
  const Json& ids = value_at(study, list);
  require(ids.is_array(), "'{}' in '{}' is not a list", list, file.string());
  std::vector<Run> runs;
  for (const auto& id : ids) {
    require(id.is_string() && is_run_id(id.get<std::string>()),
            "'{}' names a run that is no run_id: {}",
            file.string(),
            text_of(id));
    const auto text = id.get<std::string>();
    require(seen.insert(text).second, "'{}' names the run '{}' twice", file.string(), text);
    runs.push_back(read_run(file.parent_path() / "runs" / text, text));
  }
  take_plan(value_at(study, plan), runs);
  take_unnamed_keys(value_at(study, plan), runs);
  take_labels(value_at(study, plan), value_at(study, "labels"), runs);
  take_defaults(value_at(study, "defaults"), runs);
  return runs;
}

/// Reads one folder, without the facts of all its runs together.
ResultFolder read_one(const std::filesystem::path& path) {
  const auto file = path / "study.resolved.json";
  const auto sources = path / kSources;
  require(is_there(file) || !is_there(sources),
          "'{}' is the report of other folders: name these, as {} does",
          path.string(),
          sources.string());
  require(
      is_there(file), "'{}' is not a result folder: it has no study.resolved.json", path.string());
  const Json study = read_json(file);
  require_own_schema(study, file);
  ResultFolder folder;
  folder.path = path;
  folder.sources = {path};
  folder.name = required_text(study, "name", file);
  folder.title = text_at(study, "title");
  folder.title = folder.title.empty() ? folder.name : folder.title;
  folder.command = text_at(study, "command");
  folder.search = value_at(study, "search");
  folder.tune = value_at(study, "tune");

  required(study, "runs", file);
  std::set<std::string> seen;
  folder.runs = read_listed(study, "runs", "plan", file, seen);
  if (!folder.tune.is_null()) {
    folder.tuning_runs = read_listed(study, "tuning_runs", "tuning_plan", file, seen);
  }
  folder.unlisted_runs = unlisted_runs(path / "runs", seen);
  if (study.contains("expected")) {
    folder.expected = study["expected"];
    const bool is_list =
        folder.expected.is_array() && std::all_of(folder.expected.begin(),
                                                  folder.expected.end(),
                                                  [](const Json& one) { return one.is_object(); });
    require(is_list, "'expected' in '{}' is not a list of objects", file.string());
  }
  return folder;
}

/// Returns which part of the records of two copies of a run differs; empty if none does. Their
/// machines and times may differ.
std::string_view differing_record(const Run& one, const Run& other) {
  if (value_at(one.config, "config") != value_at(other.config, "config")) {
    return "config.json";
  }
  for (const char* part : {"state", "iterations", "dimension", "k", "laws", "facts", "final"}) {
    if (value_at(one.status, part) != value_at(other.status, part)) {
      return part;
    }
  }
  return {};
}

/// Takes the other copy of a run where only that has come to its end, or says more.
void take_copy(Run& kept, Run other) {
  if (!kept.has_tables() && (other.has_tables() || !kept.is_known)) {
    kept = std::move(other);
    return;
  }
  if (!other.has_tables()) {
    return;
  }
  const std::string_view record = differing_record(kept, other);
  require(
      record.empty(),
      "'{}' and '{}' are of one run and their records differ in '{}'; join folders whose runs are "
      "of one program",
      kept.folder.string(),
      other.folder.string(),
      record);
  const Json& prints = value_at(kept.status, "files");
  if (!prints.is_null() && prints == value_at(other.status, "files")) {
    return;
  }
  const std::string difference = first_difference(kept.folder, other.folder);
  require(difference.empty(),
          "'{}' and '{}' are of one run and differ: {}; join folders whose runs are of one program "
          "and one data set",
          kept.folder.string(),
          other.folder.string(),
          difference);
}

void join_runs(std::vector<Run>& runs, std::vector<Run> others) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    places.emplace(runs[i].id, i);
  }
  for (auto& run : others) {
    const auto found = places.find(run.id);
    if (found == places.end()) {
      runs.push_back(std::move(run));
    } else {
      take_copy(runs[found->second], std::move(run));
    }
  }
}

void join(ResultFolder& folder, ResultFolder other) {
  require(folder.search == other.search,
          "'{}' and '{}' hold searches by different plans; report each by itself",
          folder.path.string(),
          other.path.string());
  require(folder.tune == other.tune,
          "'{}' and '{}' are tuned by different plans; report each by itself",
          folder.path.string(),
          other.path.string());
  folder.sources.push_back(other.path);
  folder.unlisted_runs += other.unlisted_runs;
  if (!other.command.empty() && other.command != folder.command) {
    folder.command += (folder.command.empty() ? "" : "\n") + other.command;
  }
  for (const auto& expected : other.expected) {
    if (std::find(folder.expected.begin(), folder.expected.end(), expected) ==
        folder.expected.end()) {
      folder.expected.push_back(expected);
    }
  }
  join_runs(folder.runs, std::move(other.runs));
  join_runs(folder.tuning_runs, std::move(other.tuning_runs));
}

/// Adds the values of a configuration to `leaves` by their dotted keys.
void add_leaves(const Json& object,
                const std::string& prefix,
                std::map<std::string, Json>& leaves) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      add_leaves(value, prefix + key + '.', leaves);
    } else {
      leaves.emplace(prefix + key, value);
    }
  }
}

/// Gives every run its value of each key that varies in some folder.
void vary_alike(std::vector<Run>& runs, const std::vector<std::string>& keys) {
  for (auto& run : runs) {
    for (const auto& key : keys) {
      const Json& value = value_at(run.config, "config." + key);
      if (!run.varying.contains(key) && !value.is_null()) {
        run.varying[key] = value;
      }
    }
  }
}

/// Returns the keys in which runs differ that have the same values of all that varies.
std::vector<std::string> keys_that_differ(const std::vector<Run>& runs) {
  std::map<std::string, std::map<std::string, Json>> first;  // by what varies
  std::vector<std::string> keys;
  for (const auto& run : runs) {
    std::map<std::string, Json> leaves;
    add_leaves(value_at(run.config, "config"), "", leaves);
    if (leaves.empty()) {
      continue;
    }
    const auto [other, is_first] = first.try_emplace(text_of(run.varying), leaves);
    for (const auto& [key, value] : leaves) {
      const auto found = other->second.find(key);
      const bool differs = found == other->second.end() || found->second != value;
      if (differs && std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

}  // namespace

void take_value_labels(const Json& labels, Run& run) {
  for (const auto& [key, value] : run.varying.items()) {
    const std::string label = label_of_value(labels, key, value);
    if (!label.empty()) {
      run.value_labels[key] = label;
    }
  }
}

void relate_runs(ResultFolder& folder) {
  mark_moot_keys(folder.runs);
  folder.varying_keys = keys_of(folder.runs);
  note_implied_kinds(folder.varying_keys, folder.runs);
  mark_moot_keys(folder.tuning_runs);
  note_implied_kinds(keys_of(folder.tuning_runs), folder.tuning_runs);
}

Run read_run(const std::filesystem::path& folder, const std::string& id) {
  try {
    Run run = read_whole_or_failed(folder, id);
    run.folder = folder;
    run.facts = read_run_facts(value_at(run.config, "config"), run.status);
    return run;
  } catch (const Error& error) {
    if (error.code() == ExitCode::resource) {
      throw;
    }
    usage_error("{}; 'residuum run' makes the run again", error.what());
  }
}

std::string unlisted_sentence(const ResultFolder& folder) {
  const std::size_t runs = folder.unlisted_runs;
  return runs == 0
             ? std::string()
             : fmt::format("{} of an earlier version of the study {} in runs/ and {} in no table",
                           runs == 1 ? "1 run" : fmt::format("{} runs", runs),
                           runs == 1 ? "lies" : "lie",
                           runs == 1 ? "is" : "are");
}

bool has_labels(const ResultFolder& folder) {
  return std::any_of(folder.runs.begin(), folder.runs.end(), [](const Run& run) {
    return !run.label.empty() || !run.value_labels.empty();
  });
}

std::string study_of(const ResultFolder& folder, const Run& run) {
  const std::string own = text_at(run.config, "study");
  return own.empty() ? folder.name : own;
}

std::string last_written(const Run& run) {
  std::error_code ignored;
  std::optional<std::filesystem::file_time_type> latest;
  for (const auto& file : std::filesystem::directory_iterator(run.folder, ignored)) {
    const auto time = file.last_write_time(ignored);
    latest = !ignored && (!latest || time > *latest) ? time : latest;
  }
  return latest ? utc_text(std::chrono::file_clock::to_sys(*latest)) : std::string();
}

OutputPath failure_file(const OutputPath& run_folder) {
  return run_folder.parent() / (run_folder.path().filename().string() + ".failed.json");
}

void require_own_schema(const Json& study, const std::filesystem::path& file) {
  const Json& schema = value_at(study, "schema");
  require(
      schema == kResultSchema,
      "'{}' was written by another version of Residuum: its schema is {}, this program reads {}. "
      "Read it with that version, or run the study again in another folder",
      file.string(),
      schema.is_number_integer() ? plain_text(schema) : "an earlier one",
      kResultSchema);
}

void require_own_schema_in(const std::filesystem::path& folder) {
  for (const char* name : {"study.resolved.json", kSources}) {
    if (const auto file = folder / name; is_there(file)) {
      require_own_schema(read_json(file), file);
    }
  }
}

ResultFolder read_result_folder(const std::filesystem::path& path) {
  return read_result_folders({path});
}

ResultFolder read_result_folders(const std::vector<std::filesystem::path>& paths) {
  ResultFolder folder = read_one(paths.front());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    join(folder, read_one(paths[i]));
  }
  if (paths.size() > 1) {
    vary_alike(folder.runs, keys_of(folder.runs));
    vary_alike(folder.runs, keys_that_differ(folder.runs));
  }
  relate_runs(folder);
  folder.mixed_data = mixed_data_of(folder.runs, folder.tuning_runs);
  return folder;
}

const Json& value_at(const Json& object, std::string_view dotted) {
  static const Json nothing;
  const Json* value = &object;
  while (!dotted.empty()) {
    const std::size_t dot = dotted.find('.');
    const std::string key(dotted.substr(0, dot));
    if (!value->is_object() || !value->contains(key)) {
      return nothing;
    }
    value = &(*value)[key];
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
  }
  return *value;
}

std::optional<double> number_at(const Json& object, std::string_view dotted) {
  const Json& value = value_at(object, dotted);
  if (value.is_number()) {
    return value.get<double>();
  }
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  if (text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text == "inf" || text == "-inf") {
    const double infinity = std::numeric_limits<double>::infinity();
    return text == "inf" ? infinity : -infinity;
  }
  return std::nullopt;
}

std::string text_at(const Json& object, std::string_view dotted) {
  const Json& value = value_at(object, dotted);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool flag_at(const Json& object, std::string_view dotted, bool fallback) {
  const Json& value = value_at(object, dotted);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

Json json_number(const std::optional<double>& value) {
  if (!value) {
    return nullptr;
  }
  if (!std::isfinite(*value)) {
    return format_number(*value);
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (*value == std::trunc(*value) && std::abs(*value) <= kExact) {
    return static_cast<std::int64_t>(*value);
  }
  return *value;
}

std::string plain_text(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_number_float()) {
    return format_number(value.get<double>());
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_text(const Json& value) {
  if (value.is_null()) {
    return {};
  }
  if (value.is_boolean()) {
    return value.get<bool>() ? "1" : "0";
  }
  return plain_text(value);
}

std::string json_field(const Json& value) { return csv_field(json_text(value)); }

}  // namespace residuum::reports
