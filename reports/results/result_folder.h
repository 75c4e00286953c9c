#pragma once
// ResultFolder is a study's folder as the program leaves it. study.resolved.json names the runs in
// their order; runs/<run_id>/config.json and status.json say what each was and what became of it.
// Several folders are read as one: a study whose seeds were run on several machines is a list.
// All of it is untrusted: a run_id becomes a path only after `is_run_id`.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/results/files.h"
#include "reports/results/run_facts.h"

namespace residuum::reports {

/// The command of a study that is attached to a training outside.
inline constexpr const char* kAttached = "attached to a training";

struct Run {
  std::string id;
  std::filesystem::path folder;   // of its files
  std::string state = "missing";  // finished, diverged, failed, interrupted, running or missing
  std::string message;
  std::int64_t seed = 0;
  Json config = Json::object();   // the whole config.json, empty when there is none
  Json status = Json::object();   // the whole status.json, empty when there is none
  Json varying = Json::object();  // dotted key -> value: what differs within the study
  bool is_known = false;  // its seed and what varies, from config.json or the plan of the study
  RunFacts facts = read_run_facts(config, status);  // the record of what it was
  std::string label;  // what the study calls the method; empty where it does not
  std::map<std::string, std::string> value_labels;  // varying key -> the study's name for its value
  /// Kinds that other runs vary and this one leaves at their defaults: dotted key -> value.
  Json implied = Json::object();
  /// Values that the study's keys have where a run leaves them out: dotted key -> value.
  Json defaults = Json::object();
  std::set<std::string> moot;  // varying keys that say nothing of the run: its kind has no such key
  std::set<std::string> unnamed;  // keys of feedback, where nothing is left out that it puts back

  /// Returns whether the run's tables are complete because it has come to an end of its own.
  bool has_tables() const { return state == "finished" || state == "diverged"; }
};

struct ResultFolder {
  std::filesystem::path path;                  // where its tables and its report are written
  std::vector<std::filesystem::path> sources;  // the folders that were read
  std::string name;
  std::string title;
  std::string command;                    // a line for each source
  std::vector<Run> runs;                  // in study order
  std::vector<std::string> varying_keys;  // of all runs, in order of appearance
  Json expected = Json::array();          // objects: what the study says that a paper has
  Json search;                            // its plan and its runs; null without one
  Json tune;                              // the plan of its tuning and its runs; null without one
  /// The runs by which keys were tuned. They are no runs of the study: no number of it has them.
  std::vector<Run> tuning_runs;
  std::size_t unlisted_runs = 0;  // in runs/, but of no run of the study as it is now
  std::string mixed_data;  // says which runs are on different data; empty where they are comparable
};

/// Takes over what the study calls the values of keys: {"KEY": {"VALUE": "NAME"}}.
void take_value_labels(const Json& labels, Run& run);

/// Sets the facts of all runs together: the keys that vary, those that say nothing of a run, and
/// the kinds that a run leaves at their defaults.
void relate_runs(ResultFolder& folder);

/// Returns in words how many runs of earlier versions of the study lie in the folders; empty where
/// none do.
std::string unlisted_sentence(const ResultFolder& folder);

/// Returns whether the study names methods or values of keys.
bool has_labels(const ResultFolder& folder);

/// Returns the study that a run is of; folders that are read as one may be of several.
std::string study_of(const ResultFolder& folder, const Run& run);

/// Returns when a file of the run was last written, "2024-05-01T10:00:00Z"; empty where it has
/// none.
std::string last_written(const Run& run);

/// Returns the file beside a run's folder that says why the run failed if the folder cannot be
/// written: {"config": config.json, "status": status.json}.
OutputPath failure_file(const OutputPath& run_folder);

/// Reads the files of a run; what cannot be what the program wrote is a usage error.
Run read_run(const std::filesystem::path& run_folder, const std::string& run_id);

/// The schema of result folders, which study.resolved.json names. It changes with what the files
/// say or mean; a program reads folders of its own schema alone.
inline constexpr int kResultSchema = 6;
/// Throws a usage error where `study`, read from `file`, is of a folder of another schema.
void require_own_schema(const Json& study, const std::filesystem::path& file);
/// The note in the folder of a report on several folders: {"schema", "folders"}.
inline constexpr const char* kSources = "sources.json";
/// Throws that error for the study or the note on sources that the folder has, if it has one.
void require_own_schema_in(const std::filesystem::path& folder);

/// Reads the folder; what cannot be what the program wrote is a usage error that names the file.
ResultFolder read_result_folder(const std::filesystem::path& path);

/// Reads folders as one, at least one, with the name and title of the first. A run that several
/// folders have is taken once, from one in which it has ended. If it has ended in two, their tables
/// must be the same but for wall times. A key that differs between folders counts as varied, even
/// if it varies in none of them. Folders that searched or tuned by different plans are a usage
/// error.
ResultFolder read_result_folders(const std::vector<std::filesystem::path>& paths);

/// Returns the number at a dotted path ("totals.delta_max"). "nan", "inf" and "-inf" are numbers; a
/// missing key, null and other types are nullopt.
std::optional<double> number_at(const Json& object, std::string_view dotted);

/// Returns the text at a dotted path; empty where there is none.
std::string text_at(const Json& object, std::string_view dotted);

/// Returns whether a dotted path holds true; the fallback where it holds neither true nor false.
bool flag_at(const Json& object, std::string_view dotted, bool fallback);

/// Returns the value at a dotted path; null where there is nothing.
const Json& value_at(const Json& object, std::string_view dotted);

/// Returns the number as our JSON holds it: non-finite ones as text, nothing as null.
Json json_number(const std::optional<double>& value);

/// Returns a scalar as a person writes it: texts bare, numbers shortest, the rest as JSON.
std::string plain_text(const Json& value);

/// Returns a scalar as the text of a table's cell: empty for null, 0 or 1 for booleans.
std::string json_text(const Json& value);

/// Returns the cell's text as a field of CSV.
std::string json_field(const Json& value);

}  // namespace residuum::reports
