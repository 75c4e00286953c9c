#pragma once
// What the report says about each of its numbers: what it is, how to read it, where it comes from.

#include <string>

namespace residuum::reports {

/// A definition list of the quantities in the tables and figures, as HTML.
std::string explanations();

/// Every column of iterations.csv with its meaning, as a table.
std::string column_reference();

/// The style sheet: light and dark by the reader's setting, black on white on paper.
std::string style_sheet();

}  // namespace residuum::reports
