#pragma once
// A small study is kept as a few numbers of each finished run, from which the tables of pages are
// made. They are picked from the tables that `residuum report` has collected.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/results/csv.h"

namespace residuum::reports {

/// The rows of a run's iterations.csv that make its number. Rows without a finite number in the
/// column are passed over.
enum class RowChoice {
  last,    // the number of runs.csv where that has the column, else of the last row
  max,     // the largest of all rows
  mean,    // over all rows
  at,      // the row of one iteration
  until,   // the first row in which another column is at most a limit
  within,  // the last such row
};

struct RunNumber {
  std::string word;  // as it was asked for
  std::string column;
  RowChoice choice = RowChoice::last;
  std::uint64_t iteration = 0;  // of `at`
  std::string other = {};       // of `until` and `within`: the column that has the limit
  double limit = 0;
};

/// Reads COLUMN, COLUMN:max, COLUMN:mean, COLUMN:at:ITERATION, COLUMN:until:OTHER=LIMIT or
/// COLUMN:within:OTHER=LIMIT. Any other word is a usage error.
RunNumber run_number(const std::string& word);

/// Returns run_id, seed, the varied keys (p_*) and the numbers of each finished run, in the order
/// of runs.csv; a run without the number has an empty field. Means have 17 digits, other numbers
/// are the texts that the tables have. A column that neither table has is a usage error.
TextTable numbers_of_runs(const std::filesystem::path& results,
                          const std::vector<RunNumber>& numbers);

/// Returns a further table of the finished runs, with the name of its file:
///   TABLE.COLUMN  run_id, iteration, the table's key and the column of a table of details, such as
///                 networks.iteration_s: the rows of each run's last iteration;
///   late          run_id and by how many versions its gradients were late: mean and largest.
/// Any other word is a usage error.
TextTable further_table(const std::filesystem::path& results, const std::string& word);

}  // namespace residuum::reports
