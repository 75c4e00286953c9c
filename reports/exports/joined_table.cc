#include "reports/exports/joined_table.h"

#include <fmt/format.h>

#include "reports/analysis/measures.h"
#include "reports/collection/collect.h"
#include "reports/tables/csv.h"

namespace residuum::reports {
namespace {

/// Returns the columns of the run, each after a comma.
std::string run_fields(const ResultFolder& folder, const Run& run) {
  std::string fields =
      fmt::format(",{},{},{}", csv_field(study_of(folder, run)), run.seed, run.state);
  for (const auto& key : folder.varying_keys) {
    fields += ',' + json_field(parameter_of(run, key));
  }
  return fields;
}

}  // namespace

std::uint64_t write_joined_table(const ResultFolder& folder, const std::filesystem::path& file) {
  remove_leftovers_beside(file);
  AtomicFile joined(file);
  std::string header = iterations_header();
  header.pop_back();  // the line end
  header += ",study,seed,state";
  for (const auto& key : folder.varying_keys) {
    header += ',' + csv_field(parameter_column(key));
  }
  joined.append(header + '\n');
  std::uint64_t rows = 0;
  for (const auto& run : folder.runs) {
    if (!run.has_tables()) {
      continue;
    }
    const std::string fields = run_fields(folder, run);
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
  return rows;
}

}  // namespace residuum::reports
