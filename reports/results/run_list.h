#pragma once
// The runs that runs.csv lists.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/results/text_table.h"

namespace residuum::reports {

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
