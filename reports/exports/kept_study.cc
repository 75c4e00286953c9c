#include "reports/exports/kept_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "reports/exports/epoch_table.h"
#include "reports/exports/kept_numbers.h"
#include "reports/exports/summary_tables.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"
#include "reports/results/run_list.h"
#include "reports/results/table_prints.h"

namespace residuum::reports {
namespace {

namespace fs = std::filesystem;

// --- made.json -----------------------------------------------------------------------------------

// A list with an entry for each program's command and machine, or the making of a whole study.

/// The record of the making of one run: its seed, duration, provenance and start.
struct Made {
  std::string run;
  Json seed;
  double wall_s = 0;
  Json from;  // its provenance
  Json started_utc;
};

Json seed_of(const ListedRun& run) {
  const auto seed = parsed<std::int64_t>(run.seed);
  require(seed.has_value(),
          "runs.csv: the seed of {} is '{}', which is no whole number",
          run.id,
          run.seed);
  return *seed;
}

Made made_by(const ListedRun& run, const fs::path& results, const Json& summary) {
  require(is_run_id(run.id), "runs.csv names a run that is no run_id: {}", run.id);
  const auto file = results / "runs" / run.id / "status.json";
  const Json status = read_json(file);
  require_own_print(status, file);
  require(
      value_at(status, "provenance.residuum").is_string() && value_at(status, "wall_s").is_number(),
      "'{}' says nothing of the program, or not how long the run took",
      file.string());
  Made made{.run = run.id,
            .seed = seed_of(run),
            .wall_s = status["wall_s"].get<double>(),
            .from = summary["provenance"],
            .started_utc = value_at(status, "started_utc")};
  made.from.update(status["provenance"]);
  require(value_at(made.from, "command").is_string(),
          "neither '{}' nor summary.json says by which command the run was made",
          file.string());
  if (made.started_utc.is_null()) {
    made.started_utc = value_at(summary, "timing.started_utc");
  }
  return made;
}

/// Returns the end of the digits that begin at `at`.
std::size_t end_of_digits(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size());
}

/// Returns where " --shard 2/8" ends whose name ends at `at`; `at` if it is another option.
std::size_t end_of_share(std::string_view command, std::size_t at) {
  if (at == command.size() || (command[at] != ' ' && command[at] != '=')) {
    return at;
  }
  const std::size_t slash = end_of_digits(command, at + 1);
  if (slash == at + 1 || slash == command.size() || command[slash] != '/') {
    return at;
  }
  const std::size_t end = end_of_digits(command, slash + 1);
  return end == slash + 1 ? at : end;
}

std::string without_share(std::string command) {
  constexpr std::string_view kOption = " --shard";
  for (auto begin = command.find(kOption); begin != std::string::npos;
       begin = command.find(kOption, begin + 1)) {
    const std::size_t name_end = begin + kOption.size();
    if (const std::size_t end = end_of_share(command, name_end); end != name_end) {
      return command.erase(begin, end - begin);
    }
  }
  return command;
}

std::string whole_command(const Made& made) {
  return without_share(made.from["command"].get<std::string>());
}

/// Returns the values that all runs of one entry share: command, machine, compiler and libtorch.
std::vector<Json> origin_of(const Made& made) {
  std::vector<Json> origin{whole_command(made)};
  for (const char* key : {"CPU", "cores", "GPU", "compiler", "libtorch"}) {
    origin.push_back(value_at(made.from, key));
  }
  return origin;
}

Json list_of_values(const std::set<Json>& values) {
  Json list = Json::array();
  for (const auto& value : values) {
    list.push_back(value);
  }
  return list;
}

/// Whole numbers have no point.
Json json_seconds(double seconds) {
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  const bool is_whole = seconds == std::trunc(seconds) && std::abs(seconds) < kMostExact;
  return is_whole ? Json(static_cast<std::int64_t>(seconds)) : Json(seconds);
}

Json entry_of(const std::vector<Made>& group) {
  std::set<Json> commands;
  std::set<Json> seeds;
  std::set<Json> programs;
  std::set<Json> starts;
  Json runs = Json::array();
  double run_s = 0;
  for (const auto& made : group) {
    commands.insert(made.from["command"]);
    seeds.insert(made.seed);
    programs.insert(made.from["residuum"]);
    starts.insert(made.started_utc);
    runs.push_back(made.run);
    run_s += made.wall_s;
  }
  const Made& first = group.front();
  return {{"command", commands.size() == 1 ? *commands.begin() : Json(whole_command(first))},
          {"seeds", list_of_values(seeds)},
          {"runs", std::move(runs)},
          {"programs", list_of_values(programs)},
          {"CPU", value_at(first.from, "CPU")},
          {"cores", value_at(first.from, "cores")},
          {"GPU", value_at(first.from, "GPU")},
          {"compiler", value_at(first.from, "compiler")},
          {"libtorch", value_at(first.from, "libtorch")},
          {"started_utc", *starts.begin()},
          {"run_s", json_seconds(run_s)}};
}

/// Returns the entries of these runs of a folder of results, by its summary.json and the
/// status.json of each run. If --shard divided the command, the entry is of the whole one. Runs
/// that were copied from another study's results say themselves how they were made. A file that
/// says nothing of the program is a usage error that names it.
Json made_entries(const fs::path& results,
                  const Json& summary,
                  const std::vector<ListedRun>& runs) {
  std::map<std::vector<Json>, std::vector<Made>> groups;
  for (const auto& run : runs) {
    Made made = made_by(run, results, summary);
    auto origin = origin_of(made);
    groups[std::move(origin)].push_back(std::move(made));
  }
  Json entries = Json::array();
  for (const auto& group : groups) {
    entries.push_back(entry_of(group.second));
  }
  return entries;
}

/// Returns how a whole study was made: program, command and machine of its summary, the seeds of
/// these runs and the programs that made them.
Json made_study(const fs::path& results, const Json& summary, const std::vector<ListedRun>& runs) {
  std::set<Json> programs;
  std::set<Json> seeds;
  for (const auto& run : runs) {
    const Made made = made_by(run, results, summary);
    programs.insert(made.from["residuum"]);
    seeds.insert(made.seed);
  }
  const Json& collected = value_at(summary, "provenance");
  return {{"programs", list_of_values(programs)},
          {"command", value_at(collected, "command")},
          {"seeds", list_of_values(seeds)},
          {"CPU", value_at(collected, "CPU")},
          {"cores", value_at(collected, "cores")},
          {"GPU", value_at(collected, "GPU")},
          {"compiler", value_at(collected, "compiler")},
          {"libtorch", value_at(collected, "libtorch")},
          {"MPI", value_at(collected, "MPI")},
          {"started_utc", value_at(summary, "timing.started_utc")},
          {"wall_s", value_at(summary, "timing.wall_s")}};
}

/// Returns `old`, read from `file`, with the entries of runs that were made later: an entry is of
/// the runs that are still its own.
Json joined_entries(const Json& old, const Json& added, const fs::path& file) {
  std::set<Json> later;
  for (const auto& entry : added) {
    later.insert(entry["runs"].begin(), entry["runs"].end());
  }
  Json entries = Json::array();
  for (Json entry : old) {
    const auto runs = entry.find("runs");
    if (runs != entry.end()) {
      require(runs->is_array(), "the runs of an entry of '{}' are no list", file.string());
      Json own = Json::array();
      std::copy_if(runs->begin(), runs->end(), std::back_inserter(own), [&](const Json& run) {
        return !later.contains(run);
      });
      *runs = std::move(own);
    }
    if (runs == entry.end() || !runs->empty()) {
      entries.push_back(std::move(entry));
    }
  }
  entries.insert(entries.end(), added.begin(), added.end());
  return entries;
}

// --- Tables of parts of a study ------------------------------------------------------------------

// They are merged: the seeds that a later part has made again replace those that are there.

using Texts = std::vector<std::string>;

/// The columns that tell rows apart.
struct RowNames {
  std::vector<std::string_view> run;  // of a run
  std::vector<std::string_view> row;  // and, with these, of a row
};

Texts texts_of(const Texts& row, const std::vector<std::size_t>& columns) {
  Texts texts;
  texts.reserve(columns.size());
  for (const std::size_t column : columns) {
    texts.push_back(row[column]);
  }
  return texts;
}

std::vector<std::size_t> columns_of(const TextTable& table,
                                    const std::vector<std::string_view>& names) {
  std::vector<std::size_t> columns;
  columns.reserve(names.size());
  for (const auto& name : names) {
    columns.push_back(table.column(name));
  }
  return columns;
}

/// Returns the names of the runs, one for each row.
std::vector<Texts> runs_of(const TextTable& table, const RowNames& names) {
  const auto columns = columns_of(table, names.run);
  std::vector<Texts> runs;
  runs.reserve(table.rows.size());
  for (const auto& row : table.rows) {
    runs.push_back(texts_of(row, columns));
  }
  return runs;
}

void require_rows_once(const TextTable& table, const RowNames& names) {
  auto columns = columns_of(table, names.run);
  const auto more = columns_of(table, names.row);
  columns.insert(columns.end(), more.begin(), more.end());
  std::set<Texts> seen;
  for (const auto& row : table.rows) {
    const auto [name, is_new] = seen.insert(texts_of(row, columns));
    require(is_new, "'{}' has the row {} twice", table.file, fmt::join(*name, ", "));
  }
}

/// Returns the columns that both tables have, as pairs of places.
std::vector<std::pair<std::size_t, std::size_t>> shared_columns(const TextTable& old,
                                                                const TextTable& added) {
  std::vector<std::pair<std::size_t, std::size_t>> columns;
  for (std::size_t i = 0; i < old.header.size(); ++i) {
    if (const auto other = added.find(old.header[i])) {
      columns.emplace_back(i, *other);
    }
  }
  return columns;
}

/// Throws a usage error if a row that is kept already says something else now: the runs of one id
/// are the same on every machine.
void require_same_rows(const TextTable& old, const TextTable& added, const RowNames& names) {
  if (old.header.empty()) {
    return;
  }
  const auto keys_of = [&](const TextTable& table) {
    auto keys = columns_of(table, names.run);
    const auto more = columns_of(table, names.row);
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
  };
  const auto keys_of_old = keys_of(old);
  std::map<Texts, const Texts*> kept;
  for (const auto& row : old.rows) {
    kept.emplace(texts_of(row, keys_of_old), &row);
  }
  const auto keys_of_added = keys_of(added);
  const auto shared = shared_columns(old, added);
  for (const auto& row : added.rows) {
    const auto found = kept.find(texts_of(row, keys_of_added));
    const bool differs =
        found != kept.end() && std::any_of(shared.begin(), shared.end(), [&](const auto& places) {
          return (*found->second)[places.first] != row[places.second];
        });
    require(!differs,
            "'{}' has another row of {} than '{}'; runs of one id are the same: remove the kept "
            "folder to keep the new ones",
            old.file,
            fmt::join(texts_of(row, keys_of_added), ", "),
            added.file);
  }
}

/// Returns the row with its fields at the places that the header gives them.
Texts placed(const Texts& row, const TextTable& table, const Texts& header) {
  Texts fields;
  fields.reserve(header.size());
  for (const auto& name : header) {
    const auto column = table.find(name);
    fields.push_back(column ? row[*column] : std::string());
  }
  return fields;
}

/// A Merger puts the rows of tables in their order.
class Merger {
 public:
  Merger(std::vector<std::string> header, const RowNames& names)
      : header_(std::move(header)), names_(&names) {}

  /// Adds the rows of runs that are not in `replaced`; these keep their places.
  void add(const TextTable& table, const std::set<Texts>& replaced) {
    require_rows_once(table, *names_);
    const auto runs = runs_of(table, *names_);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t position = positions_.emplace(runs[i], positions_.size()).first->second;
      if (!replaced.contains(runs[i])) {
        rows_.push_back({.run = position, .fields = placed(table.rows[i], table, header_)});
      }
    }
  }

  TextTable finish(const std::string& file) {
    std::stable_sort(rows_.begin(), rows_.end(), [](const PlacedRow& a, const PlacedRow& b) {
      const int order = a.fields.front().compare(b.fields.front());
      return order != 0 ? order < 0 : a.run < b.run;
    });
    TextTable table{.file = file, .header = header_, .rows = {}};
    for (auto& row : rows_) {
      table.rows.push_back(std::move(row.fields));
    }
    return table;
  }

 private:
  /// A row with what decides its place.
  struct PlacedRow {
    std::size_t run = 0;  // the position of its run among all
    Texts fields;
  };

  Texts header_;
  const RowNames* names_;
  std::map<Texts, std::size_t> positions_;  // of runs, by first appearance
  std::vector<PlacedRow> rows_;
};

/// Returns the rows of both tables, which may differ in their columns: those of `old` come first. A
/// table without a header has no rows. A run that `added` has replaces that of `old`, in its place.
/// Rows are in the order of the first column, and rows that are the same there stay in the order of
/// their runs. A row that a table has twice is a usage error.
TextTable merged(const TextTable& old, const TextTable& added, const RowNames& names) {
  std::vector<std::string> header = old.header;
  for (const auto& name : added.header) {
    if (!old.find(name)) {
      header.push_back(name);
    }
  }
  Merger merger(std::move(header), names);
  if (!old.header.empty()) {
    const auto replacing = runs_of(added, names);
    merger.add(old, {replacing.begin(), replacing.end()});
  }
  merger.add(added, {});
  return merger.finish(added.file);
}

/// Returns the table without the columns in which no row has a text. One without rows stays as it
/// is.
TextTable without_empty_columns(const TextTable& table) {
  if (table.rows.empty()) {
    return table;
  }
  TextTable kept{.file = table.file, .header = {}, .rows = {}};
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const bool has_text = std::any_of(
        table.rows.begin(), table.rows.end(), [&](const Texts& row) { return !row[i].empty(); });
    if (has_text) {
      columns.push_back(i);
      kept.header.push_back(table.header[i]);
    }
  }
  for (const auto& row : table.rows) {
    kept.rows.push_back(texts_of(row, columns));
  }
  return kept;
}

// --- A study as tables ---------------------------------------------------------------------------

constexpr std::array<std::string_view, 20> kIterationColumns{"run_id",
                                                             "iteration",
                                                             "epoch",
                                                             "loss",
                                                             "loss_gap",
                                                             "step_size",
                                                             "grad_norm_sq",
                                                             "delta",
                                                             "contraction",
                                                             "residual_norm_sq",
                                                             "lost_mass_norm_sq",
                                                             "total_error",
                                                             "nnz_sent",
                                                             "sent_bytes",
                                                             "test_loss",
                                                             "test_accuracy",
                                                             "test_perplexity",
                                                             "total_sent_bytes",
                                                             "total_nnz_sent",
                                                             "virtual_s"};
constexpr std::array<std::string_view, 4> kNetworkColumns{
    "run_id", "iteration", "network", "virtual_s"};

bool has_file(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

/// Reads the summary of results that have a report.
Json read_summary(const fs::path& results) {
  for (const char* name : {"runs.csv", "iterations.csv", "summary.json"}) {
    require(has_file(results / name),
            "{} has no {}; run residuum report {} first",
            results.string(),
            name,
            results.string());
  }
  require_own_schema_in(results);
  require(!has_file(results / kSources),
          "'{}' is the report of other folders: keep these, which have the runs",
          results.string());
  Json summary = read_json(results / "summary.json");
  require(value_at(summary, "provenance").is_object(),
          "'{}' says nothing of the program; run residuum report {}",
          (results / "summary.json").string(),
          results.string());
  return summary;
}

void require_other_folder(const fs::path& results, const fs::path& kept) {
  std::error_code ignored;
  require(!kept.empty() && (!fs::exists(kept) || fs::is_directory(kept)) &&
              !fs::equivalent(results, kept, ignored),
          "'{}' cannot be the folder of what is kept; give another KEPT",
          kept.string());
}

void require_kept_folder(const KeepRequest& request) {
  const fs::path& kept = request.kept;
  require_other_folder(request.results, kept);
  if (!has_file(kept / "runs.csv")) {
    return;
  }
  for (const char* name : {"iterations.csv", "epochs.csv", "quarters.csv", "made.json"}) {
    require(has_file(kept / name), "{} has a runs.csv and no {}; restore it", kept.string(), name);
  }
}

/// The rows of one run in iterations.csv: those with an evaluation of f, and the last one.
struct RunRows {
  std::vector<std::pair<std::string, double>> evaluated;  // iterations in which f was, as texts too
  std::optional<double> last;                             // iteration that has a row
  double gap = 0;                                         // to the row before
};

using RowsOfRuns = std::map<std::string, RunRows>;

RowsOfRuns rows_of_runs(const fs::path& iterations, const std::vector<ListedRun>& runs) {
  RowsOfRuns rows;
  for (const auto& run : runs) {
    rows.emplace(run.id, RunRows());
  }
  CsvReader table(iterations);
  const auto run = table.column("run_id");
  const auto at = table.column("iteration");
  const auto loss = table.column("loss");
  while (table.next()) {
    const auto found = rows.find(table.text(run));
    if (found == rows.end()) {
      continue;  // has not ended
    }
    const auto iteration = static_cast<double>(table.integer(at));
    RunRows& own = found->second;
    own.gap = own.last ? iteration - *own.last : 0;
    own.last = iteration;
    if (!table.text(loss).empty()) {
      own.evaluated.emplace_back(table.text(at), iteration);
    }
  }
  return rows;
}

/// The rows of a finished run go on to its end: the last one is as far from it as from the one
/// before.
void require_ends(const RowsOfRuns& rows,
                  const std::vector<ListedRun>& runs,
                  const fs::path& results) {
  for (const auto& run : runs) {
    const RunRows& own = rows.at(run.id);
    const bool is_short = run.state == "finished" && run.iterations && own.gap > 0 &&
                          *own.last + own.gap < *run.iterations;
    require(!is_short,
            "'{}' ends at iteration {} of {}, which made {}; run residuum report {} again",
            (results / "iterations.csv").string(),
            own.last.value_or(0),
            run.id,
            run.iterations.value_or(0),
            results.string());
  }
}

/// The iterations, as texts, whose rows are kept.
using Chosen = std::map<std::string, std::set<std::string>>;

/// Returns the first row of each of the equal parts that a run is cut into: `most` - 1 parts, and
/// the end.
std::set<std::string> chosen_of(const RunRows& rows, std::optional<std::int64_t> most) {
  std::set<std::string> chosen;
  if (rows.evaluated.empty()) {
    return chosen;
  }
  const double last = rows.evaluated.back().second;
  double latest = -1;
  for (const auto& [text, iteration] : rows.evaluated) {
    const double part = !most || last == 0
                            ? iteration
                            : std::trunc(iteration * static_cast<double>(*most - 1) / last);
    if (part > latest) {
      chosen.insert(text);
    }
    latest = part;
  }
  return chosen;
}

Chosen chosen_rows(const RowsOfRuns& rows, std::optional<std::int64_t> most) {
  Chosen chosen;
  for (const auto& [run, own] : rows) {
    chosen.emplace(run, chosen_of(own, most));
  }
  return chosen;
}

/// Reads the chosen rows of a table with those of the columns that it has.
TextTable read_chosen(const fs::path& file,
                      std::span<const std::string_view> names,
                      const Chosen& chosen) {
  CsvReader reader(file);
  TextTable table{.file = file.string(), .header = {}, .rows = {}};
  std::vector<std::size_t> columns;
  for (const auto& name : names) {
    if (const auto column = reader.find(name)) {
      columns.push_back(*column);
      table.header.emplace_back(name);
    }
  }
  const auto run = reader.column("run_id");
  const auto iteration = reader.column("iteration");
  while (reader.next()) {
    const auto own = chosen.find(reader.text(run));
    if (own == chosen.end() || !own->second.contains(reader.text(iteration))) {
      continue;
    }
    auto& row = table.rows.emplace_back();
    for (const std::size_t column : columns) {
      row.push_back(reader.text(column));
    }
  }
  return table;
}

/// Returns the table of the runs that have ended.
TextTable ended_runs(TextTable runs) {
  const auto listed = listed_runs(runs);
  std::vector<std::vector<std::string>> ended;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i].has_ended()) {
      ended.push_back(std::move(runs.rows[i]));
    }
  }
  runs.rows = std::move(ended);
  return runs;
}

/// A kept file: its name and its text.
using KeptFile = std::pair<std::string, std::string>;

/// Returns the table `added` joined with the rows that are kept already, which must be the same
/// where they are of the same runs.
TextTable with_same_kept(const fs::path& file, const TextTable& added, const RowNames& names) {
  const TextTable old = has_file(file) ? read_text_table(file) : TextTable();
  require_same_rows(old, added, names);
  return merged(old, added, names);
}

/// Returns the table `added` joined with the rows that are kept already.
TextTable with_kept(const fs::path& file, const TextTable& added, const RowNames& names) {
  return merged(has_file(file) ? read_text_table(file) : TextTable(), added, names);
}

/// Returns the runs joined with those that are kept already; a method may have one run of a seed.
KeptFile runs_file(const fs::path& kept, const TextTable& ended) {
  const auto runs =
      without_empty_columns(with_kept(kept / "runs.csv", ended, {.run = {"run_id"}, .row = {}}));
  require_distinct(listed_runs(runs), "runs.csv");
  return {"runs.csv", csv_text(runs)};
}

/// Returns the two tables of chosen rows, or the one without networks.csv.
std::vector<KeptFile> row_files(const KeepRequest& request, const Chosen& chosen) {
  const auto text_of = [&](const char* name,
                           std::span<const std::string_view> columns,
                           const RowNames& names) {
    const auto rows = read_chosen(request.results / name, columns, chosen);
    return KeptFile(
        name, csv_text(without_empty_columns(with_same_kept(request.kept / name, rows, names))));
  };
  std::vector<KeptFile> files{
      text_of("iterations.csv", kIterationColumns, {.run = {"run_id"}, .row = {"iteration"}})};
  if (has_file(request.results / "networks.csv")) {
    files.push_back(text_of(
        "networks.csv", kNetworkColumns, {.run = {"run_id"}, .row = {"iteration", "network"}}));
  }
  return files;
}

/// Returns the tuning runs with those that are kept already; none where the study tuned nothing.
std::vector<KeptFile> tuning_files(const KeepRequest& request) {
  if (!has_file(request.results / "tuning.csv")) {
    return {};
  }
  const auto runs = with_kept(request.kept / "tuning.csv",
                              read_text_table(request.results / "tuning.csv"),
                              {.run = {"run_id"}, .row = {}});
  return {{"tuning.csv", csv_text(runs)}};
}

std::vector<KeptFile> epoch_files(const KeepRequest& request, const std::vector<ListedRun>& runs) {
  const RowNames names{.run = {"method", "seed"}, .row = {"epoch"}};
  const auto text_of = [&](const char* name, std::optional<std::int64_t> parts) {
    const auto table = epoch_table({.iterations = request.results / "iterations.csv",
                                    .runs = runs,
                                    .leave_out_others = true,
                                    .parts = parts});
    return KeptFile(name, csv_text(with_kept(request.kept / name, table, names)));
  };
  return {text_of("epochs.csv", std::nullopt), text_of("quarters.csv", kQuarters)};
}

KeptFile made_file(const fs::path& kept, const Json& entries) {
  const auto file = kept / "made.json";
  const Json old = has_file(file) ? read_json_list(file) : Json::array();
  return {"made.json", indented_text(joined_entries(old, entries, file)) + '\n'};
}

/// Writes all files before the first one takes its place.
void write_files(const OutputPath& folder, const std::vector<KeptFile>& files) {
  make_folder(folder);
  remove_leftovers_beside(folder / files.front().first);
  std::vector<std::unique_ptr<AtomicFile>> written;
  for (const auto& [name, text] : files) {
    written.push_back(std::make_unique<AtomicFile>(folder / name));
    written.back()->append(text);
  }
  for (const auto& file : written) {
    file->commit();
  }
}

}  // namespace

std::size_t keep_study(const KeepRequest& request) {
  assert(!request.rows || *request.rows >= 2);
  require_tables_of_one_data(request.results);
  const Json summary = read_summary(request.results);
  require_kept_folder(request);
  const TextTable all = read_text_table(request.results / "runs.csv");
  const TextTable ended = ended_runs(all);
  const auto runs = listed_runs(ended);
  require(!runs.empty(), "no run of {} has ended", request.results.string());
  require_distinct(runs, all.file);
  const Json entries = made_entries(request.results, summary, runs);
  const auto rows = rows_of_runs(request.results / "iterations.csv", runs);
  require_ends(rows, runs, request.results);

  KeptFile kept_runs = runs_file(request.kept, ended);
  std::vector<KeptFile> files = row_files(request, chosen_rows(rows, request.rows));
  for (auto& file : epoch_files(request, runs)) {
    files.push_back(std::move(file));
  }
  for (auto& file : tuning_files(request)) {
    files.push_back(std::move(file));
  }
  files.push_back(made_file(request.kept, entries));
  files.push_back(std::move(kept_runs));  // it names the runs that the others have
  write_files(OutputPath::named(request.kept), files);
  return all.rows.size() - ended.rows.size();
}

namespace {

bool is_of_summary(const std::string& table) {
  const auto names = summary_table_names();
  return std::find(names.begin(), names.end(), table) != names.end();
}

bool names_runs(const KeepNumbersRequest& request) {
  return !request.numbers.empty() ||
         std::any_of(request.tables.begin(), request.tables.end(), [](const std::string& table) {
           return !is_of_summary(table);
         });
}

/// Returns the drawing of a figure and its numbers.
std::vector<KeptFile> figure_files(const fs::path& results, const std::string& name) {
  const bool is_name =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  require(is_name && !name.empty(), "--figures: '{}' is no figure's name", name);
  const fs::path figures = results / "figures";
  require(has_file(figures / (name + ".svg")),
          "{} has no figure {}; residuum report {} makes its figures",
          results.string(),
          name,
          results.string());
  std::vector<KeptFile> files;
  for (const char* ending : {".svg", ".csv", ".curves.csv"}) {
    if (has_file(figures / (name + ending))) {
      files.emplace_back(name + ending, read_file(figures / (name + ending)));
    }
  }
  return files;
}

/// Returns what a search found and each of its looks; nothing where the study searched nothing.
std::vector<KeptFile> search_files(const fs::path& results, const Json& summary) {
  if (!has_file(results / "search.csv")) {
    return {};
  }
  return {{"search.csv", read_file(results / "search.csv")},
          {"search.json", indented_text(value_at(summary, "search")) + '\n'}};
}

/// Returns the tables and figures that are asked for beside runs.csv.
std::vector<KeptFile> further_files(const KeepNumbersRequest& request, const Json& summary) {
  std::vector<KeptFile> files;
  for (const auto& word : request.tables) {
    const TextTable table = is_of_summary(word) ? summary_table(request.results, word)
                                                : further_table(request.results, word);
    files.emplace_back(table.file, csv_text(table));
  }
  for (const auto& name : request.figures) {
    for (auto& file : figure_files(request.results, name)) {
      files.push_back(std::move(file));
    }
  }
  if (!request.figures.empty()) {
    for (auto& file : search_files(request.results, summary)) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace

std::size_t keep_numbers(const KeepNumbersRequest& request) {
  require_tables_of_one_data(request.results);
  std::vector<RunNumber> numbers;
  for (const auto& word : request.numbers) {
    numbers.push_back(run_number(word));
  }
  const Json summary = read_summary(request.results);
  require_other_folder(request.results, request.kept);
  require(!has_file(request.kept / "iterations.csv"),
          "{} keeps iterations of runs; give another KEPT, or none of --numbers, --tables and "
          "--figures",
          request.kept.string());
  const auto runs = listed_runs(read_text_table(request.results / "runs.csv"));
  require_distinct(runs, "runs.csv");
  const TextTable kept = numbers_of_runs(request.results, numbers);
  require(!kept.rows.empty(), "no run of {} has finished", request.results.string());

  std::vector<KeptFile> files = further_files(request, summary);
  std::vector<ListedRun> ended;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(ended), [](const ListedRun& run) {
    return run.has_ended();
  });
  files.emplace_back("made.json",
                     indented_text(made_study(request.results, summary, ended)) + '\n');
  if (names_runs(request)) {
    files.emplace_back("runs.csv", csv_text(kept));
  }
  write_files(OutputPath::named(request.kept), files);
  return runs.size() - kept.rows.size();
}

}  // namespace residuum::reports
