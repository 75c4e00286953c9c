#pragma once
// The tables are written into a folder, each as NAME.csv, NAME.md and NAME.tex.

#include <filesystem>
#include <vector>

#include "reports/typeset/table_spec.h"

namespace residuum::reports {

/// Writes the tables, and removes those of an earlier report that are none of them.
void write_tables(const std::vector<TableSpec>& specs, const std::filesystem::path& folder);

}  // namespace residuum::reports
