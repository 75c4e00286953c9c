#pragma once
// The last thing a study says on stdout: a line per method, or the same as JSON.

#include <cstddef>
#include <string>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

inline constexpr std::size_t kTableLines = 12;

/// At most `lines` lines, the header and a last one that counts what is left out included.
std::string study_table(const Summary& summary, std::size_t lines = kTableLines);

/// Rows as lines, their columns aligned: the first to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

inline constexpr std::size_t kTerminalWidth = 120;

/// The same where lines would be longer than `most` characters: as many columns as fit, then below
/// them the next ones, each block with the first column.
std::string aligned_within(const std::vector<std::vector<std::string>>& rows,
                           std::size_t most = kTerminalWidth);

/// A name fit for a terminal: no control characters, and no longer than a column.
std::string printable(std::string_view text);

/// One object per method, all methods.
Json study_table_json(const Summary& summary);

}  // namespace residuum::reports
