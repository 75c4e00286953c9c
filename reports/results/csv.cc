#include "reports/results/csv.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "reports/results/files.h"

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
  const bool is_formula = looks_like_formula(text) && !parsed<double>(text);
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

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16U;
// No record of ours comes near this length; a quote that is never closed must not read a whole file
// into memory.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20U;

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& path) : path_(path.string()) {
  require_regular_file(path);
  file_.open(path, std::ios::binary);
  if (!file_.is_open()) {
    resource_error("cannot read '{}': {}", path_, std::generic_category().message(errno));
  }
  require(read_record(), "'{}' is empty: it has no header row", path_);
  header_.assign(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(field_count_));
  for (auto name = header_.begin(); name != header_.end(); ++name) {
    if (std::find(header_.begin(), name, *name) != name) {
      fail(fmt::format("the column '{}' is there twice", *name));
    }
  }
}

void CsvReader::fail(std::string_view message) const {
  usage_error("{}:{}: {}", path_, line_, message);
}

std::optional<std::size_t> CsvReader::find(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - header_.begin());
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = find(name);
  require(found.has_value(), "'{}' has no column '{}'", path_, name);
  return *found;
}

bool CsvReader::next() {
  if (!read_record()) {
    return false;
  }
  if (field_count_ != header_.size()) {
    fail(fmt::format("{} fields where the header has {}", field_count_, header_.size()));
  }
  return true;
}

std::vector<std::string> CsvReader::texts() const {
  return {fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(header_.size())};
}

bool CsvReader::refill() {
  buffer_.resize(kChunkBytes);
  file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.resize(static_cast<std::size_t>(file_.gcount()));
  position_ = 0;
  if (file_.bad()) {
    resource_error("cannot read '{}' after line {}", path_, next_line_);
  }
  return !buffer_.empty();
}

bool CsvReader::read_record() {
  line_ = next_line_;
  field_count_ = 0;
  field_.clear();
  field_is_quoted_ = false;
  record_.clear();
  if (take_plain_line()) {
    return true;
  }
  State state = State::field_start;
  while (position_ < buffer_.size() || refill()) {
    const char c = buffer_[position_++];
    next_line_ += c == '\n' ? 1 : 0;
    if (c == '\n' && state != State::quoted) {
      end_record(state);
      return true;
    }
    if (record_.size() == kLongestRecord) {
      fail("the record is longer than 1 MiB; is a quote not closed?");
    }
    record_ += c;
    state = step(state, c);
  }
  if (state == State::quoted) {
    fail("a quote is not closed");
  }
  if (!record_.empty()) {
    fail("the last line has no end: the file was cut off");
  }
  return false;
}

bool CsvReader::take_plain_line() {
  const std::string_view rest = std::string_view(buffer_).substr(position_);
  const std::size_t length = rest.find('\n');
  if (length == std::string_view::npos) {
    return false;
  }
  std::string_view line = rest.substr(0, length);
  if (line.find('"') != std::string_view::npos) {
    return false;
  }
  position_ += length + 1;
  ++next_line_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  record_ = line;
  for (std::size_t comma = line.find(','); comma != std::string_view::npos;
       comma = line.find(',')) {
    field_ = line.substr(0, comma);
    end_field();
    line.remove_prefix(comma + 1);
  }
  field_ = line;
  end_field();
  return true;
}

CsvReader::State CsvReader::step(State state, char c) {
  switch (state) {
    case State::field_start:
    case State::plain:
      if (c == ',') {
        end_field();
        return State::field_start;
      }
      if (c == '"') {
        if (state == State::plain) {
          fail("a quote inside a field that does not begin with one");
        }
        field_is_quoted_ = true;
        return State::quoted;
      }
      field_ += c;
      return State::plain;
    case State::quoted:
      if (c == '"') {
        return State::quote_in_quoted;
      }
      field_ += c;
      return State::quoted;
    case State::line_end:
      fail("text after a closing quote");
    case State::quote_in_quoted:
      break;
  }
  if (c == '"') {
    field_ += c;
    return State::quoted;
  }
  if (c == ',') {
    end_field();
    return State::field_start;
  }
  if (c == '\r') {
    return State::line_end;
  }
  fail("text after a closing quote");
}

void CsvReader::end_field() {
  if (std::exchange(field_is_quoted_, false) && field_.starts_with('\'') &&
      looks_like_formula(field_)) {
    field_.erase(0, 1);
  }
  if (field_count_ == fields_.size()) {
    fields_.emplace_back();
  }
  fields_[field_count_++].swap(field_);
  field_.clear();
}

void CsvReader::end_record(State state) {
  if (!record_.empty() && record_.back() == '\r') {
    record_.pop_back();
    if (state == State::plain) {
      field_.pop_back();
    }
  }
  end_field();
}

std::optional<double> CsvReader::number(std::size_t column) const {
  const std::string& field = text(column);
  if (field.empty()) {
    return std::nullopt;
  }
  const auto value = parsed<double>(field);
  if (!value) {
    fail(fmt::format("'{}' in column '{}' is not a number", field, header_.at(column)));
  }
  return value;
}

std::uint64_t CsvReader::integer(std::size_t column) const {
  const auto value = parsed<std::uint64_t>(text(column));
  if (!value) {
    fail(
        fmt::format("'{}' in column '{}' is not a whole number", text(column), header_.at(column)));
  }
  return *value;
}

void require_own_header(const CsvReader& reader, std::string_view header) {
  std::string found;
  for (const auto& name : reader.header()) {
    found += (found.empty() ? "" : ",") + name;
  }
  if (found + '\n' != header) {
    reader.fail(
        "its columns are not those that this program writes; read it with the version of Residuum "
        "that wrote it, or run the study again");
  }
}

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
