#pragma once
// A TextTable is a CSV file in memory whose fields stay the texts that they are, so that a number
// is written as it was read.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residuum::reports {

struct TextTable {
  std::string file;  // for messages
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // a field for each column

  /// The position of a column; `column` demands that there is one.
  std::optional<std::size_t> find(std::string_view name) const;
  std::size_t column(std::string_view name) const;
};

/// Reads a whole table. One that is not what its header says, or whose last line has no end, is a
/// usage error that names file and line.
TextTable read_text_table(const std::filesystem::path& path);

/// Returns the table as CSV.
std::string csv_text(const TextTable& table);

}  // namespace residuum::reports
