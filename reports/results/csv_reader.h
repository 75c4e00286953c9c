#pragma once
// CsvReader reads CSV (RFC 4180) record by record in constant memory. A file that is not what its
// header says is a usage error that names file and line; nothing is guessed. The apostrophe of a
// quoted field that begins as a formula does is not part of the text (csv_field).

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residuum::reports {

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

}  // namespace residuum::reports
