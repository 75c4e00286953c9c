#pragma once
// The report says of each of its numbers what it is, how to read it, and where it comes from.

#include <string>

namespace residuum::reports {

/// Returns a definition list of the quantities in the tables and figures, as HTML.
std::string explanations();

/// Returns every column of iterations.csv with its meaning, as a table.
std::string column_reference();

}  // namespace residuum::reports
