#pragma once
// A study ends with a table on stdout: a line per method, or the same as JSON.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

inline constexpr std::size_t kTableLines = 12;

/// Returns at most `lines` lines, including the header and a last one that counts the omitted
/// methods.
std::string study_table(const Summary& summary, std::size_t lines = kTableLines);

/// Returns rows as lines with aligned columns: the first to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

inline constexpr std::size_t kTerminalWidth = 120;
inline constexpr std::size_t kLongestName = 48;

/// Returns the same, split where lines would be longer than `most` characters: as many columns as
/// fit, then below them the next ones, each block with the first column.
std::string aligned_within(const std::vector<std::vector<std::string>>& rows,
                           std::size_t most = kTerminalWidth);

/// Returns a name fit for a terminal: no control characters, and no longer than a column.
std::string printable(std::string_view text);

/// Returns one object per method, for all methods.
Json study_table_json(const Summary& summary);

// Names of methods are cut to a column of a terminal, and names that differ stay different.

/// Returns each name fit for a terminal. Those that are longer than a column are cut in their
/// middle, or, where this does not tell them apart, elsewhere, or numbered.
std::map<std::string, std::string> printable_names(const std::vector<std::string>& names);

/// Returns the printable labels of all methods of a study.
std::map<std::string, std::string> printable_labels(const Summary& summary);

}  // namespace residuum::reports
