#include "reports/results/csv.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <system_error>

namespace residuum::reports {
namespace {

std::string make_iterations_header() {
  std::string header = "run_id,iteration";
  for (const auto& column : kColumns) {
    header += ',';
    header += column.name;
  }
  return header + '\n';
}

// Rows are formatted in place, because a string for each number costs as much as its digits.
using Line = fmt::memory_buffer;

void append(std::string_view text, Line& line) { line.append(text); }

void append_number(double value, Line& line) {
  if (std::isnan(value)) {
    append("nan", line);  // without the sign that some NaN carry
    return;
  }
  fmt::format_to(std::back_inserter(line), FMT_COMPILE("{}"), value);
}

void append_integer(double value, Line& line) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: above it not every integer is a double
  if (std::abs(value) <= kExact && value == std::trunc(value)) {
    fmt::format_to(std::back_inserter(line), FMT_COMPILE("{}"), static_cast<std::int64_t>(value));
    return;
  }
  append_number(value, line);
}

/// Appends nothing for a value that was not measured.
void append_value(const std::optional<double>& value, ColumnType type, Line& line) {
  if (value && type == ColumnType::integer) {
    append_integer(*value, line);
  } else if (value) {
    append_number(*value, line);
  }
}

void append_ratio(double lhs, double rhs, Line& line) {
  if (rhs == 0 && lhs == 0) {
    return;
  }
  if (rhs == 0) {
    append_number(std::isnan(lhs) ? lhs : std::numeric_limits<double>::infinity(), line);
    return;
  }
  append_number(lhs / rhs, line);
}

bool is_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end;
}

std::string_view text_of(const Line& line) { return {line.data(), line.size()}; }

}  // namespace

std::string format_number(double value) {
  Line line;
  append_number(value, line);
  return fmt::to_string(line);
}

std::string format_number(const std::optional<double>& value) {
  return value ? format_number(*value) : std::string();
}

std::string format_integer(double value) {
  Line line;
  append_integer(value, line);
  return fmt::to_string(line);
}

bool looks_like_formula(std::string_view text) {
  constexpr std::string_view kBegins = "=+-@\t\r";
  const auto first = text.find_first_not_of('\'');
  return first != std::string_view::npos && kBegins.find(text[first]) != std::string_view::npos;
}

std::string csv_field(std::string_view text) {
  const bool is_formula = looks_like_formula(text) && !is_number(text);
  if (!is_formula && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = is_formula ? "\"'" : "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + '"';
}

const std::string& iterations_header() {
  static const std::string header = make_iterations_header();
  return header;
}

const std::string& checks_header() {
  static const std::string header = "run_id,iteration,check,worker,lhs,rhs,ratio,holds\n";
  return header;
}

RunTableWriter::RunTableWriter(const OutputPath& file,
                               std::string_view run_id,
                               std::string_view header)
    : file_(file), key_(csv_field(run_id)) {
  file_.append(header);
}

RunTableWriter::RunTableWriter(const OutputPath& file, std::string_view run_id, std::uint64_t kept)
    : file_(file, kept), key_(csv_field(run_id)) {}

void IterationsWriter::write(const Row& row) {
  Line line;
  fmt::format_to(std::back_inserter(line), FMT_COMPILE("{},{}"), key(), row.iteration());
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    append(",", line);
    append_value(row.get(static_cast<Column>(i)), kColumns.at(i).type, line);
  }
  append("\n", line);
  append_line(text_of(line));
}

void ChecksWriter::write(const Check& check) {
  Line line;
  fmt::format_to(std::back_inserter(line),
                 FMT_COMPILE("{},{},{},"),
                 key(),
                 check.iteration,
                 csv_field(check.name));
  if (check.worker) {
    fmt::format_to(std::back_inserter(line), FMT_COMPILE("{}"), *check.worker);
  }
  append(",", line);
  append_number(check.lhs, line);
  append(",", line);
  append_number(check.rhs, line);
  append(",", line);
  append_ratio(check.lhs, check.rhs, line);
  append(check.holds ? ",1\n" : ",0\n", line);
  append_line(text_of(line));
}

std::string detail_header(const TableInfo& table) {
  std::string header = fmt::format("run_id,iteration,{}", table.key);
  for (const auto& column : table.columns) {
    header += ',';
    header += column.name;
  }
  return header + '\n';
}

void DetailWriter::write(const DetailRow& row) {
  Line line;
  fmt::format_to(std::back_inserter(line),
                 FMT_COMPILE("{},{},{}"),
                 key(),
                 row.iteration(),
                 csv_field(row.part()));
  for (std::size_t i = 0; i < table_->columns.size(); ++i) {
    append(",", line);
    append_value(row.get(i), table_->columns[i].type, line);
  }
  append("\n", line);
  append_line(text_of(line));
}

}  // namespace residuum::reports
