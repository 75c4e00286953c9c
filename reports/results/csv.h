#pragma once
// The program writes tables as UTF-8 with comma, line feed, a header row, RFC 4180 quoting, and the
// shortest numbers that read back the same. An empty field was not measured; nan, inf and -inf were
// measured so.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/record/record.h"
#include "reports/results/files.h"

namespace residuum::reports {

/// Returns the shortest text that reads back as the same number: "0.1", "3", "1e-300", "nan",
/// "-inf".
std::string format_number(double value);

/// Returns the same, and nothing for a value that was not measured.
std::string format_number(const std::optional<double>& value);

/// Returns "1000000" where `format_number` would say "1e+06"; a value that is no integer as above.
std::string format_integer(double value);

/// Returns the text as one CSV field, quoted where it holds a comma, a quote or a line end. A
/// spreadsheet takes a cell that begins with = + - @ or a tab for a formula, so such a text, unless
/// it is a number, is quoted with an apostrophe in front: "'=x". CsvReader takes the apostrophe
/// away.
std::string csv_field(std::string_view text);

/// True if the text, after any apostrophes, begins as a formula does.
bool looks_like_formula(std::string_view text);

/// The header row, line end included: run_id, iteration and the measured columns.
const std::string& iterations_header();

/// The header row of checks.csv.
const std::string& checks_header();

/// RunTableWriter has what the writers of one run's tables share.
class RunTableWriter {
 public:
  void flush() { file_.flush(); }
  /// Waits until the disk has all rows; returns their bytes, the header's included.
  std::uint64_t synchronise() { return file_.synchronise(); }
  void close() { file_.close(); }

 protected:
  RunTableWriter(const OutputPath& file, std::string_view run_id, std::string_view header);
  /// Goes on with a table after its first `kept` bytes.
  RunTableWriter(const OutputPath& file, std::string_view run_id, std::uint64_t kept);

  const std::string& key() const { return key_; }  // the field run_id
  void append_line(std::string_view line) { file_.append(line); }

 private:
  OutputFile file_;
  std::string key_;
};

/// Writes iterations.csv of one run.
class IterationsWriter : public RunTableWriter {
 public:
  IterationsWriter(const OutputPath& file, std::string_view run_id)
      : RunTableWriter(file, run_id, iterations_header()) {}
  IterationsWriter(const OutputPath& file, std::string_view run_id, std::uint64_t kept)
      : RunTableWriter(file, run_id, kept) {}

  void write(const Row& row);
};

/// Writes checks.csv of one run. The ratio is lhs / rhs: empty for 0 / 0, inf for more than 0 / 0.
class ChecksWriter : public RunTableWriter {
 public:
  ChecksWriter(const OutputPath& file, std::string_view run_id)
      : RunTableWriter(file, run_id, checks_header()) {}
  ChecksWriter(const OutputPath& file, std::string_view run_id, std::uint64_t kept)
      : RunTableWriter(file, run_id, kept) {}

  void write(const Check& check);
};

/// The header row of a table of details.
std::string detail_header(const TableInfo& table);

/// Writes a table of details of one run, such as workers.csv.
class DetailWriter : public RunTableWriter {
 public:
  DetailWriter(const OutputPath& file, std::string_view run_id, const TableInfo& table)
      : RunTableWriter(file, run_id, detail_header(table)), table_(&table) {}
  DetailWriter(const OutputPath& file,
               std::string_view run_id,
               const TableInfo& table,
               std::uint64_t kept)
      : RunTableWriter(file, run_id, kept), table_(&table) {}

  void write(const DetailRow& row);
  const TableInfo& table() const { return *table_; }

 private:
  const TableInfo* table_;
};

}  // namespace residuum::reports
