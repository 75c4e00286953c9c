#pragma once
// The program writes tables as UTF-8 with comma, line feed, a header row, RFC 4180 quoting, and the
// shortest numbers that read back the same. An empty field was not measured; nan, inf and -inf were
// measured so.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/record.h"
#include "core/text.h"
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
  /// Flushes, and has the system begin to write to the disk.
  void start_writing() { file_.start_writing(); }
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

// CsvReader reads CSV (RFC 4180) record by record in constant memory. A file that is not what its
// header says is a usage error that names file and line; nothing is guessed. The apostrophe of a
// quoted field that begins as a formula does is not part of the text (csv_field).

class CsvReader {
 public:
  /// Opens the file and reads its header.
  explicit CsvReader(const std::filesystem::path& path);

  const std::vector<std::string>& header() const { return header_; }
  /// The position of a column; `column` demands that there is one.
  std::optional<std::size_t> find(std::string_view name) const;
  std::size_t column(std::string_view name) const;

  /// Moves to the next record; false at the end of the file.
  bool next();

  /// The fields of the current record, quotes resolved.
  const std::string& text(std::size_t column) const { return fields_.at(column); }
  /// All of them, one for each column of the header.
  std::vector<std::string> texts() const;
  /// An empty field is nullopt; nan, inf and -inf are numbers; anything else is an error.
  std::optional<double> number(std::size_t column) const;
  std::uint64_t integer(std::size_t column) const;

  /// The current record as it stands in the file, without its line end.
  std::string_view record() const { return record_; }
  /// The line the current record begins at, from 1.
  std::size_t line() const { return line_; }

  /// Throws a usage error that opens with file and line of the current record.
  [[noreturn]] void fail(std::string_view message) const;

 private:
  enum class State { field_start, plain, quoted, quote_in_quoted, line_end };

  bool read_record();
  /// Takes a record without quotes that lies in the buffer as a whole, as nearly all do; the
  /// grammar below means the same, letter by letter.
  bool take_plain_line();
  bool refill();
  State step(State state, char c);
  void end_field();
  void end_record(State state);

  std::string path_;
  std::ifstream file_;
  std::string buffer_;
  std::size_t position_ = 0;
  std::vector<std::string> header_;
  std::vector<std::string> fields_;
  std::size_t field_count_ = 0;
  std::string field_;
  bool field_is_quoted_ = false;
  std::string record_;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
};

/// Throws a usage error unless the columns of the table are those of this header line.
void require_own_header(const CsvReader& reader, std::string_view header);

// A TextTable is a CSV file in memory whose fields stay the texts that they are, so that a number
// is written as it was read.

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
