#pragma once
// A TableChoice says what of a study's tables a paper shows, and how. It is about Markdown and
// LaTeX: CSV has all columns and all digits.

#include <optional>
#include <string>
#include <vector>

#include "reports/typeset/table_spec.h"

namespace residuum::reports {

struct TableChoice {
  std::vector<double> budgets;       // in bytes, of the table at-bytes
  std::vector<std::string> columns;  // keys of number columns, in their order; empty: all
  std::optional<int> digits;         // significant ones; absent: as many as intervals leave
  std::vector<std::string> wide;     // names of tables that span both columns of a page
};

/// Returns the tables as they are printed. A table has its columns of texts and those of the chosen
/// ones that it has; one that has none of them keeps all. A column or a table that is not there is
/// a usage error with a suggestion.
std::vector<TableSpec> printed_tables(std::vector<TableSpec> specs, const TableChoice& choice);

}  // namespace residuum::reports
