#pragma once
// The tables are written into a folder, each as NAME.csv, NAME.md, NAME.tex and NAME.caption.tex.

#include <filesystem>
#include <vector>

#include "core/output_file.h"
#include "reports/typeset/table_spec.h"

namespace residuum::reports {

/// Writes the tables, and removes those of an earlier report that are none of them. `printed` are
/// the same tables as Markdown and LaTeX have them (table_choice.h).
void write_tables(const std::vector<TableSpec>& specs,
                  const std::vector<TableSpec>& printed,
                  const OutputPath& folder);

}  // namespace residuum::reports
