#pragma once
// A study is kept as tables, without the folders of its runs. So its seeds can be run one after the
// other, on several days or machines:
//
//   runs.csv        the rows of runs.csv
//   iterations.csv  the rows where f was evaluated, or some of them, and the columns that tell how
//                   the run went
//   networks.csv    the same rows of that table, if there is one
//   epochs.csv      the table by pass over the data (epoch_table.h), of all iterations
//   quarters.csv    the same by quarter of a run
//   tuning.csv      the runs by which keys were tuned, if there are any
//   made.json       by which program, command and machine the runs were made
//
// Rows are in the order of their runs' names. Columns in which no run has a value are left out,
// but for the two tables by epoch.
//
// A small study is kept as numbers of its runs instead, made anew as a whole:
//
//   runs.csv       run_id, seed, varied keys and some numbers of each finished run
//   TABLE.csv      further tables that are asked for, such as late.csv (kept_numbers.h) or
//                  rates.csv (summary_tables.h)
//   FIGURE.*       figures of the report that are asked for, with their numbers
//   search.*       beside figures: what the study searched, if it did
//   made.json      by which programs, command and machine the study was made

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residuum::reports {

struct KeepRequest {
  std::filesystem::path results;     // a folder of results with its report
  std::filesystem::path kept;        // the folder of what is kept; it is made where it is not there
  std::optional<std::int64_t> rows;  // of a run in iterations.csv, at most, from 2 on; else all
};

/// Adds the runs of `results` that have finished or diverged to the kept ones. Rows of a run that
/// is there must be the same: runs of one id are. With `rows` a run has its first row, its last
/// one, and rows as even between them as they lie. Returns how many runs were left out because they
/// have not ended: their last f is no end. A folder with other content is a usage error that names
/// the file; then nothing is written.
std::size_t keep_study(const KeepRequest& request);

struct KeepNumbersRequest {
  std::filesystem::path results;     // a folder of results with its report
  std::filesystem::path kept;        // the folder of what is kept; its tables are replaced
  std::vector<std::string> numbers;  // of a run (run_number)
  std::vector<std::string> tables;   // further ones (further_table, summary_table)
  std::vector<std::string> figures;  // of the report
};

/// Keeps numbers of the finished runs, tables and figures; runs.csv is of numbers and of tables
/// that name runs. Returns how many runs were left out because they have not finished. A usage
/// error leaves the kept files as they are.
std::size_t keep_numbers(const KeepNumbersRequest& request);

}  // namespace residuum::reports
