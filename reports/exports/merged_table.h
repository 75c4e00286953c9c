#pragma once
// Tables of parts of a study are merged: the seeds that a later part has made again replace those
// that are there.

#include <string_view>
#include <vector>

#include "reports/tables/text_table.h"

namespace residuum::reports {

/// The columns that tell rows apart.
struct RowNames {
  std::vector<std::string_view> run;  // of a run
  std::vector<std::string_view> row;  // and, with these, of a row
};

/// Returns the rows of both tables, which may differ in their columns: those of `old` come first. A
/// table without a header has no rows. A run that `added` has replaces that of `old`, in its place.
/// Rows are in the order of the first column, and rows that are the same there stay in the order of
/// their runs. A row that a table has twice is a usage error.
TextTable merged(const TextTable& old, const TextTable& added, const RowNames& names);

/// Returns the table without the columns in which no row has a text. One without rows stays as it
/// is.
TextTable without_empty_columns(const TextTable& table);

}  // namespace residuum::reports
