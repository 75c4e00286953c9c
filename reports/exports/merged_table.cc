#include "reports/exports/merged_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"

namespace residuum::reports {
namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const Texts& row, const std::vector<std::size_t>& columns) {
  Texts texts;
  texts.reserve(columns.size());
  for (const std::size_t column : columns) {
    texts.push_back(row[column]);
  }
  return texts;
}

std::vector<std::size_t> columns_of(const TextTable& table,
                                    const std::vector<std::string_view>& names) {
  std::vector<std::size_t> columns;
  columns.reserve(names.size());
  for (const auto& name : names) {
    columns.push_back(table.column(name));
  }
  return columns;
}

/// Returns the names of the runs, one for each row.
std::vector<Texts> runs_of(const TextTable& table, const RowNames& names) {
  const auto columns = columns_of(table, names.run);
  std::vector<Texts> runs;
  runs.reserve(table.rows.size());
  for (const auto& row : table.rows) {
    runs.push_back(texts_of(row, columns));
  }
  return runs;
}

void require_rows_once(const TextTable& table, const RowNames& names) {
  auto columns = columns_of(table, names.run);
  const auto more = columns_of(table, names.row);
  columns.insert(columns.end(), more.begin(), more.end());
  std::set<Texts> seen;
  for (const auto& row : table.rows) {
    const auto [name, is_new] = seen.insert(texts_of(row, columns));
    require(is_new, "'{}' has the row {} twice", table.file, fmt::join(*name, ", "));
  }
}

/// Returns the row with its fields at the places that the header gives them.
Texts placed(const Texts& row, const TextTable& table, const Texts& header) {
  Texts fields;
  fields.reserve(header.size());
  for (const auto& name : header) {
    const auto column = table.find(name);
    fields.push_back(column ? row[*column] : std::string());
  }
  return fields;
}

/// A Merger puts the rows of tables in their order.
class Merger {
 public:
  Merger(std::vector<std::string> header, const RowNames& names)
      : header_(std::move(header)), names_(&names) {}

  /// Adds the rows of runs that are not in `replaced`; these keep their places.
  void add(const TextTable& table, const std::set<Texts>& replaced) {
    require_rows_once(table, *names_);
    const auto runs = runs_of(table, *names_);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t position = positions_.emplace(runs[i], positions_.size()).first->second;
      if (!replaced.contains(runs[i])) {
        rows_.push_back({.run = position, .fields = placed(table.rows[i], table, header_)});
      }
    }
  }

  TextTable finish(const std::string& file) {
    std::stable_sort(rows_.begin(), rows_.end(), [](const PlacedRow& a, const PlacedRow& b) {
      const int order = a.fields.front().compare(b.fields.front());
      return order != 0 ? order < 0 : a.run < b.run;
    });
    TextTable table{.file = file, .header = header_, .rows = {}};
    for (auto& row : rows_) {
      table.rows.push_back(std::move(row.fields));
    }
    return table;
  }

 private:
  /// A row with what decides its place.
  struct PlacedRow {
    std::size_t run = 0;  // the position of its run among all
    Texts fields;
  };

  Texts header_;
  const RowNames* names_;
  std::map<Texts, std::size_t> positions_;  // of runs, by first appearance
  std::vector<PlacedRow> rows_;
};

}  // namespace

TextTable merged(const TextTable& old, const TextTable& added, const RowNames& names) {
  std::vector<std::string> header = old.header;
  for (const auto& name : added.header) {
    if (!old.find(name)) {
      header.push_back(name);
    }
  }
  Merger merger(std::move(header), names);
  if (!old.header.empty()) {
    const auto replacing = runs_of(added, names);
    merger.add(old, {replacing.begin(), replacing.end()});
  }
  merger.add(added, {});
  return merger.finish(added.file);
}

TextTable without_empty_columns(const TextTable& table) {
  if (table.rows.empty()) {
    return table;
  }
  TextTable kept{.file = table.file, .header = {}, .rows = {}};
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const bool has_text = std::any_of(
        table.rows.begin(), table.rows.end(), [&](const Texts& row) { return !row[i].empty(); });
    if (has_text) {
      columns.push_back(i);
      kept.header.push_back(table.header[i]);
    }
  }
  for (const auto& row : table.rows) {
    kept.rows.push_back(texts_of(row, columns));
  }
  return kept;
}

}  // namespace residuum::reports
