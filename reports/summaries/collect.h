#pragma once
// Collecting gathers what the runs of a study left into one set of tables: runs.csv,
// iterations.csv, checks.csv, tables of details where a run has one, their schema datapackage.json,
// and summary.json. Every file is replaced whole or left as it was; the tables of the runs are
// streamed, never held in memory.

#include <filesystem>

#include "core/record/tables.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Writes the collected files of a folder, or of folders that were read as one, into its `path` and
/// returns their summary. A damaged or foreign file is a usage error, a full disk a resource error;
/// either names the file.
Summary collect(ResultFolder folder);
Summary collect(const std::filesystem::path& result_dir);

/// Returns datapackage.json (Frictionless data package) for the tables of this study.
Json data_package(const ResultFolder& folder);

/// Returns the data package of a study that has every table and no run.
Json data_package_of_all_tables();

/// Returns the data package of a joined table that is in such a file: each column with its type,
/// unit and meaning.
Json joined_package(const ResultFolder& folder, const std::string& file);

/// Returns where a run has such a table; the next tells whether the run was asked for it and has
/// it.
std::filesystem::path details_path(const Run& run, const TableInfo& table);
bool has_details(const Run& run, const TableInfo& table);
/// Returns whether any run of the study has the table.
bool has_details(const ResultFolder& folder, const TableInfo& table);

/// One column of runs.csv.
struct RunColumn {
  std::string name;
  std::string type;  // of Frictionless: string, integer, number, boolean
  std::string meaning;
};

/// The columns of runs.csv: fixed ones and one `p_<key>` for each key that varies.
std::vector<RunColumn> run_columns(const ResultFolder& folder);

/// "sparsifier.density" -> "p_sparsifier_density".
std::string parameter_column(std::string_view key);

/// Returns the value of a key that varies: what the study gave to this run, or the default that the
/// run used. It is null where the run has no such key, and where it said nothing of itself.
const Json& parameter_of(const Run& run, std::string_view key);

}  // namespace residuum::reports
