#include "reports/exports/joined_table.h"

#include <fmt/format.h>

#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/collection/collect.h"
#include "reports/tables/csv.h"
#include "reports/tables/files.h"

namespace residuum::reports {
namespace {

/// Returns the columns of the run, each after a comma.
std::string run_fields(const ResultFolder& folder, const Run& run, const std::string& label) {
  std::string fields =
      fmt::format(",{},{},{}", csv_field(study_of(folder, run)), run.seed, run.state);
  for (const auto& key : folder.varying_keys) {
    fields += ',' + json_field(parameter_of(run, key));
  }
  return fields + (has_labels(folder) ? ',' + csv_field(label) : std::string());
}

}  // namespace

std::filesystem::path package_beside(std::filesystem::path file) {
  return file.replace_extension(".datapackage.json");
}

std::uint64_t write_joined_table(const ResultFolder& folder, const std::filesystem::path& file) {
  remove_leftovers_beside(file);
  AtomicFile joined(file);
  std::string header = iterations_header();
  header.pop_back();  // the line end
  header += ",study,seed,state";
  for (const auto& key : folder.varying_keys) {
    header += ',' + csv_field(parameter_column(key));
  }
  header += has_labels(folder) ? ",label" : "";
  joined.append(header + '\n');
  const auto labels = method_labels(folder);
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    const Run& run = folder.runs[i];
    if (!run.has_tables()) {
      continue;
    }
    const std::string fields = run_fields(folder, run, labels[i]);
    read_iterations(
        run.folder / "iterations.csv",
        run.id,
        [&](const IterationRecord& /*record*/) { ++rows; },
        [&](std::string_view line) {
          line.remove_suffix(1);
          joined.append(line);
          joined.append(fields + '\n');
        });
  }
  joined.commit();
  write_json_atomically(package_beside(file), joined_package(folder, file.filename().string()));
  return rows;
}

}  // namespace residuum::reports
