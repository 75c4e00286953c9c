#include "reports/results/comparable_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "core/record/tables.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

bool is_wall_time(const std::string& column) {
  constexpr auto kWallTimes = std::to_array<std::string_view>(
      {"compute_s", "select_s", "aggregate_s", "measure_s", "wall_s"});
  return std::find(kWallTimes.begin(), kWallTimes.end(), column) != kWallTimes.end();
}

bool have_same_fields(const CsvReader& a, const CsvReader& b) {
  for (std::size_t column = 0; column < a.header().size(); ++column) {
    if (!is_wall_time(a.header()[column]) && a.text(column) != b.text(column)) {
      return false;
    }
  }
  return true;
}

/// Returns the number of rows: `read` were read before, and one more if the reader `has_row`.
std::size_t count_rows(CsvReader& reader, std::size_t read, bool has_row) {
  for (; has_row; has_row = reader.next()) {
    ++read;
  }
  return read;
}

}  // namespace

std::string difference_of_tables(const std::filesystem::path& a, const std::filesystem::path& b) {
  CsvReader one(a);
  CsvReader other(b);
  if (one.header() != other.header()) {
    return "other columns";
  }
  for (std::size_t rows = 0;; ++rows) {
    const bool has_one = one.next();
    const bool has_other = other.next();
    if (has_one != has_other) {
      return fmt::format(
          "{} rows against {}", count_rows(other, rows, has_other), count_rows(one, rows, has_one));
    }
    if (!has_one) {
      return {};
    }
    if (!have_same_fields(one, other)) {
      return fmt::format("first difference in row {}", rows + 1);
    }
  }
}

std::string first_difference(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::vector<std::string> names{"iterations.csv", "checks.csv", "tuning.csv"};
  for (const TableInfo* table : kDetailTables) {
    names.push_back(std::string(table->name) + ".csv");
  }
  for (const auto& name : names) {
    std::error_code ignored;
    const bool has_one = std::filesystem::exists(a / name, ignored);
    const bool has_other = std::filesystem::exists(b / name, ignored);
    if (has_one != has_other) {
      return fmt::format("{}: is missing", name);
    }
    const std::string differs = has_one ? difference_of_tables(a / name, b / name) : std::string();
    if (!differs.empty()) {
      return fmt::format("{}: {}", name, differs);
    }
  }
  return {};
}

}  // namespace residuum::reports
