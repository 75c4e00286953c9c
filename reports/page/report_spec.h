#pragma once
// This file writes a table for papers as a part of the report, and links to the files of all.

#include <string>
#include <string_view>
#include <vector>

#include "reports/typeset/table_spec.h"

namespace residuum::reports {

/// Returns the tables whose names begin so, each with its caption above it; empty where there is
/// none.
std::string spec_tables(const std::vector<TableSpec>& specs, std::string_view name);

/// Returns links to the files of all tables; empty where there are none.
std::string table_links(const std::vector<TableSpec>& specs);

}  // namespace residuum::reports
