#include "reports/summaries/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/error.h"
#include "reports/analysis/groups.h"
#include "reports/results/csv.h"
#include "reports/summaries/search_table.h"
#include "reports/summaries/summary_json.h"
#include "reports/verdicts/evidence.h"

namespace residuum::reports {
namespace {

std::string field_of(const Json& status, std::string_view path) {
  return json_field(value_at(status, path));
}

std::string run_record(const ResultFolder& folder, const Run& run, const std::string& label) {
  const std::string seed = run.is_known ? fmt::format("{}", run.seed) : std::string();
  std::string line = fmt::format("{},{},{},{},{}",
                                 run.id,
                                 csv_field(study_of(folder, run)),
                                 run.state,
                                 csv_field(run.message),
                                 seed);
  for (const auto& key : folder.varying_keys) {
    line += ',' + json_field(parameter_of(run, key));
  }
  line += ',' + field_of(run.status, "iterations");
  for (const auto& metric : run_metrics()) {
    line += ',' + format_number(number_at(run.status, metric.path));
  }
  for (const char* path : {"dimension", "k", "processes", "started_utc", "finished_utc"}) {
    line += ',' + field_of(run.status, path);
  }
  line += ',' + csv_field(label);
  return line;
}

/// Returns what runs.csv says of a tuned study: by run id, the values and what they were tuned on.
std::map<std::string, std::string> tuned_fields(const TunedStudy& study) {
  std::map<std::string, std::string> fields;
  for (const auto& method : study.methods) {
    if (!method.result.best) {
      continue;
    }
    const std::size_t level = method.result.best->level;
    const auto places = study.plan.places_of(level);
    std::string text;
    for (std::size_t axis = 0; axis < places.size(); ++axis) {
      text += ',' + json_field(study.plan.axes[axis].values[places[axis]]);
    }
    text += ',' + csv_field(tuned_on(study, method));
    for (const auto& id : method.final[level]) {
      fields[id] = text;
    }
  }
  return fields;
}

void write_runs(const ResultFolder& folder) {
  AtomicFile file(folder.path / "runs.csv");
  std::string header;
  for (const auto& column : run_columns(folder)) {
    header += (header.empty() ? "" : ",") + csv_field(column.name);
  }
  file.append(header + '\n');
  const auto labels = method_labels(folder);
  const auto study = tuned_study(folder, group_runs(folder));
  const auto tuned = study ? tuned_fields(*study) : std::map<std::string, std::string>();
  const std::string unknown(folder.tune.is_null() ? 0 : tuned_keys(folder).size() + 1, ',');
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    const auto found = tuned.find(folder.runs[i].id);
    file.append(run_record(folder, folder.runs[i], labels[i]) +
                (found == tuned.end() ? unknown : found->second) + '\n');
  }
  file.commit();
}

std::vector<RunMeasures> write_iterations(const ResultFolder& folder) {
  std::vector<RunMeasures> measures;
  AtomicFile file(folder.path / "iterations.csv");
  file.append(iterations_header());
  const auto lengths = run_lengths(folder);
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    const Run& run = folder.runs[i];
    MeasureTaker taker(lengths[i]);
    if (run.has_tables()) {
      read_iterations(
          run.folder / "iterations.csv",
          run.id,
          [&](const IterationRecord& record) { taker.add(record); },
          [&](std::string_view line) { file.append(line); });
    }
    measures.push_back(taker.finish());
  }
  file.commit();
  return measures;
}

/// Appends the records of one run, which must be that run's own.
void append_table(AtomicFile& file,
                  const std::filesystem::path& path,
                  const Run& run,
                  std::string_view header) {
  CsvReader reader(path);
  require_own_header(reader, header);
  while (reader.next()) {
    if (reader.text(0) != run.id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    file.append(reader.record());
    file.append("\n");
  }
}

void write_checks(const ResultFolder& folder) {
  AtomicFile file(folder.path / "checks.csv");
  file.append(checks_header());
  for (const auto& run : folder.runs) {
    if (run.has_tables()) {
      append_table(file, run.folder / "checks.csv", run, checks_header());
    }
  }
  file.commit();
}

/// Collects the table of details; where no run of the study has it, an old one is removed.
void write_details(const ResultFolder& folder, const TableInfo& table) {
  const auto path = folder.path / (std::string(table.name) + ".csv");
  if (!has_details(folder, table)) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return;
  }
  const std::string header = detail_header(table);
  AtomicFile file(path);
  file.append(header);
  for (const auto& run : folder.runs) {
    if (has_details(run, table)) {
      append_table(file, details_path(run, table), run, header);
    }
  }
  file.commit();
}

/// Writes the looks of a search; where the study has none, an old table is removed.
void write_search(const Summary& summary) {
  const auto path = summary.folder.path / "search.csv";
  if (summary.search) {
    write_file_atomically(path, search_csv(*summary.search));
    return;
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

/// Writes the runs of a tuning; where the study has none, an old table is removed.
void write_tuning(const Summary& summary) {
  const auto path = summary.folder.path / "tuning.csv";
  if (summary.tuning) {
    write_file_atomically(path, tuning_csv(*summary.tuning, summary.folder));
    return;
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

/// Throws where the folder cannot be written: the tables lie in it, as page and figures do.
void require_writable(const std::filesystem::path& folder) {
  if (::access(folder.c_str(), W_OK) != 0) {
    resource_error(
        "'{}' cannot be written, and tables and report are made in the folder of the results; name "
        "another one for them with --out",
        folder.string());
  }
}

}  // namespace

std::filesystem::path details_path(const Run& run, const TableInfo& table) {
  return run.folder / (std::string(table.name) + ".csv");
}

bool has_details(const Run& run, const TableInfo& table) {
  std::error_code ignored;
  return run.has_tables() && std::filesystem::exists(details_path(run, table), ignored);
}

bool has_details(const ResultFolder& folder, const TableInfo& table) {
  return std::any_of(folder.runs.begin(), folder.runs.end(), [&](const Run& run) {
    return has_details(run, table);
  });
}

Summary collect(const std::filesystem::path& result_dir) {
  return collect(read_result_folder(result_dir));
}

Summary collect(ResultFolder folder) {
  const std::filesystem::path result_dir = folder.path;
  require_writable(result_dir);
  write_runs(folder);
  const auto measures = write_iterations(folder);
  write_checks(folder);
  for (const TableInfo* table : kDetailTables) {
    write_details(folder, *table);
  }
  write_json_atomically(result_dir / "datapackage.json", data_package(folder));
  Summary summary = make_summary(std::move(folder), measures);
  write_file_atomically(result_dir / "bounds.csv", bounds_csv(summary));
  write_search(summary);
  write_tuning(summary);
  write_summary(summary, result_dir / "summary.json");
  return summary;
}

}  // namespace residuum::reports
