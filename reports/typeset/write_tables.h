#pragma once
// The tables are written into a folder, each as NAME.csv, NAME.md and NAME.tex.

#include <filesystem>
#include <vector>

#include "core/output_file.h"
#include "reports/typeset/table_spec.h"

namespace residuum::reports {

/// Writes the tables, and removes those of an earlier report that are none of them.
void write_tables(const std::vector<TableSpec>& specs, const OutputPath& folder);

}  // namespace residuum::reports
