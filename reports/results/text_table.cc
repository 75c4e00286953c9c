#include "reports/results/text_table.h"

#include <algorithm>

#include "core/error.h"
#include "reports/results/csv.h"
#include "reports/results/csv_reader.h"

namespace residuum::reports {
namespace {

void append_line(const std::vector<std::string>& fields, std::string& text) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    text += i == 0 ? "" : ",";
    text += csv_field(fields[i]);
  }
  text += '\n';
}

}  // namespace

std::optional<std::size_t> TextTable::find(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? std::nullopt : std::optional<std::size_t>(found - header.begin());
}

std::size_t TextTable::column(std::string_view name) const {
  const auto found = find(name);
  require(found.has_value(), "'{}' has no column '{}'", file, name);
  return *found;
}

TextTable read_text_table(const std::filesystem::path& path) {
  CsvReader reader(path);
  TextTable table{.file = path.string(), .header = reader.header(), .rows = {}};
  while (reader.next()) {
    table.rows.push_back(reader.texts());
  }
  return table;
}

std::string csv_text(const TextTable& table) {
  std::string text;
  append_line(table.header, text);
  for (const auto& row : table.rows) {
    append_line(row, text);
  }
  return text;
}

}  // namespace residuum::reports
