#pragma once
// The tables are written into a folder, each as NAME.csv, NAME.md, NAME.tex and NAME.caption.tex.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/output_file.h"
#include "reports/latex/table_spec.h"

namespace residuum::reports {

/// A TableChoice says what of a study's tables a paper shows, and how. It is about Markdown and
/// LaTeX: CSV has all columns and all digits.
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

/// Writes the tables, and removes those of an earlier report that are none of them. `printed` are
/// the same tables as Markdown and LaTeX have them (printed_tables).
void write_tables(const std::vector<TableSpec>& specs,
                  const std::vector<TableSpec>& printed,
                  const OutputPath& folder);

}  // namespace residuum::reports
