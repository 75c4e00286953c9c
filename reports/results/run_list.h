#pragma once
// The varied keys of a run are its columns p_* of runs.csv. Those of runs that differ in the seed
// alone are the same: they are one method. Tables without run ids name it, as in
// "aggregator_kind=dense workers_count=4".

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/results/csv.h"

namespace residuum::reports {

class CsvReader;

/// The varied keys of a run with their values, "aggregator_kind" = "dense", without those that it
/// leaves out.
using RunKeys = std::map<std::string, std::string>;

/// Returns the varied keys that a row of runs.csv has. There is a field for each column.
RunKeys keys_in_row(std::span<const std::string> header, std::span<const std::string> fields);
/// Does so for the current record.
RunKeys keys_in_row(const CsvReader& runs);

/// Returns the name of a method, "all" where nothing varies.
std::string method_name(const RunKeys& keys);

/// Reads the name of a method. A word that is no KEY=VALUE belongs to the value before it, as in
/// "command=[a, b]". A name without that form was written for people, and has no keys.
RunKeys keys_in_name(const std::string& method);

// The runs that runs.csv lists.

struct ListedRun {
  std::string id;
  std::string seed;                  // as the table has it
  std::string method;                // its varied keys (method_name)
  std::string label;                 // what the study calls the method; empty where it names none
  std::string state = "finished";    // of the column `status`, where the table has one
  std::optional<double> iterations;  // that it made; finite

  /// True if what the run had last is its end.
  bool has_ended() const { return state == "finished" || state == "diverged"; }
};

/// Throws a usage error for a folder of results of another schema, and for one whose runs are on
/// different data, as its summary.json says: no number is taken over such runs. Other folders may
/// have no summary.json.
void require_tables_of_one_data(const std::filesystem::path& folder);

/// Returns the runs in the order of the table, which needs the columns run_id and seed.
std::vector<ListedRun> listed_runs(const TextTable& runs);

/// Throws a usage error if a run is there twice, or two runs of one method and seed.
void require_distinct(const std::vector<ListedRun>& runs, const std::string& file);

}  // namespace residuum::reports
