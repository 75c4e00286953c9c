#include "reports/latex/write_tables.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "reports/latex/table_spec.h"
#include "reports/results/files.h"

namespace residuum::reports {
namespace {

/// Throws a usage error where a word is none of those that are known.
void require_known(const std::vector<std::string>& words,
                   const std::set<std::string>& known,
                   std::string_view option,
                   std::string_view what) {
  const std::vector<std::string> all(known.begin(), known.end());
  for (const auto& word : words) {
    require(
        known.contains(word), "{}: unknown {} '{}'{}", option, what, word, suggestion(word, all));
  }
}

/// Returns the places of the columns that are printed, in their order.
std::vector<std::size_t> printed_columns(const TableSpec& spec,
                                         const std::vector<std::string>& chosen) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < spec.columns.size(); ++i) {
    if (!spec.columns[i].is_number) {
      places.push_back(i);
    }
  }
  const auto is_chosen = [&](const TableColumn& column) {
    return std::find(chosen.begin(), chosen.end(), column.key) != chosen.end();
  };
  for (std::size_t i = 0; i < spec.columns.size(); ++i) {
    if (spec.columns[i].is_quantity && !is_chosen(spec.columns[i])) {
      places.push_back(i);
    }
  }
  const std::size_t always = places.size();
  for (const auto& key : chosen) {
    for (std::size_t i = 0; i < spec.columns.size(); ++i) {
      if (spec.columns[i].is_number && spec.columns[i].key == key) {
        places.push_back(i);
      }
    }
  }
  return places.size() > always ? places : std::vector<std::size_t>();
}

void keep_columns(TableSpec& spec, const std::vector<std::size_t>& places) {
  std::vector<TableColumn> columns;
  columns.reserve(places.size());
  for (const std::size_t place : places) {
    columns.push_back(spec.columns[place]);
  }
  for (auto& row : spec.rows) {
    std::vector<TableCell> cells;
    cells.reserve(places.size());
    for (const std::size_t place : places) {
      cells.push_back(row[place]);
    }
    row = std::move(cells);
  }
  spec.columns = std::move(columns);
  spec.spread.reset();  // the columns are those that were chosen
}

}  // namespace

std::vector<TableSpec> printed_tables(std::vector<TableSpec> specs, const TableChoice& choice) {
  std::set<std::string> names;
  std::set<std::string> keys;
  for (const auto& spec : specs) {
    names.insert(spec.name);
    for (const auto& column : spec.columns) {
      if (column.is_number) {
        keys.insert(column.key);
      }
    }
  }
  require_known(choice.columns, keys, "--columns", "column");
  require_known(choice.wide, names, "--wide", "table");
  for (auto& spec : specs) {
    spec.digits = choice.digits;
    spec.is_wide =
        std::find(choice.wide.begin(), choice.wide.end(), spec.name) != choice.wide.end();
    if (const auto places = printed_columns(spec, choice.columns); !places.empty()) {
      keep_columns(spec, places);
    }
  }
  return specs;
}

namespace {

/// Returns whether a file is a table as this program names them.
bool is_table(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 3> kEndings{".csv", ".md", ".tex"};
  constexpr std::array<std::string_view, 9> kNames{"results",
                                                   "equal-",
                                                   "at-bytes",
                                                   "time-to-target-",
                                                   "network-times",
                                                   "predicted-times",
                                                   "rates",
                                                   "expected",
                                                   "tuning"};
  const std::string stem = file.stem().string();
  return std::find(kEndings.begin(), kEndings.end(), file.extension().string()) != kEndings.end() &&
         std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
           return stem.starts_with(name);
         });
}

/// Removes tables that must not pass for today's.
void remove_old(const OutputPath& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(), ignored)) {
    if (is_table(entry.path())) {
      old.push_back(entry.path().filename());
    }
  }
  for (const auto& file : old) {
    remove_file(folder / file);
  }
}

}  // namespace

void write_tables(const std::vector<TableSpec>& specs,
                  const std::vector<TableSpec>& printed,
                  const OutputPath& folder) {
  make_folder(folder);
  remove_old(folder);
  for (const auto& spec : specs) {
    write_file_atomically(folder / (spec.name + ".csv"), table_csv(spec));
  }
  for (const auto& spec : printed) {
    write_file_atomically(folder / (spec.name + ".md"), table_markdown(spec));
    write_file_atomically(folder / (spec.name + ".tex"), table_latex(spec));
    write_file_atomically(folder / (spec.name + ".caption.tex"), table_caption_latex(spec));
  }
}

}  // namespace residuum::reports
