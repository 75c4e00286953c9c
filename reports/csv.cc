#include "reports/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

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

std::string format_ratio(double lhs, double rhs) {
  if (rhs == 0 && lhs == 0) {
    return {};
  }
  if (rhs == 0) {
    return format_number(std::isnan(lhs) ? lhs : std::numeric_limits<double>::infinity());
  }
  return format_number(lhs / rhs);
}

}  // namespace

std::string format_number(double value) {
  if (std::isnan(value)) {
    return "nan";  // without the sign that some NaN carry
  }
  return fmt::format("{}", value);
}

std::string format_number(const std::optional<double>& value) {
  return value ? format_number(*value) : std::string();
}

std::string format_integer(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: above it not every integer is a double
  if (std::abs(value) <= kExact && value == std::trunc(value)) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return format_number(value);
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
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

IterationsWriter::IterationsWriter(const std::filesystem::path& path, std::string_view run_id)
    : file_(path), key_(csv_field(run_id)) {
  file_.append(iterations_header());
}

IterationsWriter::IterationsWriter(const std::filesystem::path& path,
                                   std::string_view run_id,
                                   std::uint64_t kept)
    : file_(path, kept), key_(csv_field(run_id)) {}

void IterationsWriter::write(const Row& row) {
  std::string line = fmt::format("{},{}", key_, row.iteration());
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const auto& value = row.get(static_cast<Column>(i));
    line += ',';
    if (value) {
      line += kColumns.at(i).type == ColumnType::integer ? format_integer(*value)
                                                         : format_number(*value);
    }
  }
  line += '\n';
  file_.append(line);
}

ChecksWriter::ChecksWriter(const std::filesystem::path& path, std::string_view run_id)
    : file_(path), key_(csv_field(run_id)) {
  file_.append(checks_header());
}

ChecksWriter::ChecksWriter(const std::filesystem::path& path,
                           std::string_view run_id,
                           std::uint64_t kept)
    : file_(path, kept), key_(csv_field(run_id)) {}

void ChecksWriter::write(const Check& check) {
  file_.append(fmt::format("{},{},{},{},{},{},{},{}\n",
                           key_,
                           check.iteration,
                           csv_field(check.name),
                           check.worker ? fmt::format("{}", *check.worker) : std::string(),
                           format_number(check.lhs),
                           format_number(check.rhs),
                           format_ratio(check.lhs, check.rhs),
                           check.holds ? 1 : 0));
}

}  // namespace residuum::reports
