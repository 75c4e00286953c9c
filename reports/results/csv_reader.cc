#include "reports/results/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16U;
// No record of ours comes near this length; a quote that is never closed must not read a whole file
// into memory.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20U;

/// Reads the whole of `text` as a number, or returns nothing.
template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ptr != end) {
    return std::nullopt;
  }
  if (result.ec != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

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
  const auto value = parse<double>(field);
  if (!value) {
    fail(fmt::format("'{}' in column '{}' is not a number", field, header_.at(column)));
  }
  return value;
}

std::uint64_t CsvReader::integer(std::size_t column) const {
  const auto value = parse<std::uint64_t>(text(column));
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

}  // namespace residuum::reports
