#include "reports/results/files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>
#include <vector>

#include "core/error.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16U;

std::string system_text() { return std::generic_category().message(errno); }

/// Reads one JSON value of any kind.
Json read_any_json(const std::filesystem::path& path) {
  constexpr int kDeepest = 64;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28U;
  const std::string content = read_file(path, kMostBytes);
  // The library writes JSON by a function that calls itself for each level, so deep nesting would
  // exhaust the stack.
  const auto bound = [&](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    require(depth <= kDeepest, "'{}' is nested more than {} deep", path.string(), kDeepest);
    return true;
  };
  try {
    return Json::parse(content, bound);
  } catch (const Json::parse_error& error) {
    usage_error(
        "'{}' is not valid JSON at byte {}; was it written to the end?", path.string(), error.byte);
  } catch (const Json::out_of_range&) {
    usage_error("'{}' holds a number that float64 does not have", path.string());
  }
}

}  // namespace

std::string indented_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

void write_json_atomically(const OutputPath& file, const Json& value) {
  write_file_atomically(file, indented_text(value) + "\n");
}

void require_regular_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  require(status.type() != std::filesystem::file_type::not_found,
          "cannot read '{}': there is no such file",
          path.string());
  require(!error, "cannot read '{}': {}", path.string(), error.message());
  require(
      !std::filesystem::is_directory(status), "cannot read '{}': it is a folder", path.string());
  require(std::filesystem::is_regular_file(status),
          "cannot read '{}': it is a device or a pipe, not a file",
          path.string());
}

std::string read_file(const std::filesystem::path& path, std::uint64_t most) {
  require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    resource_error("cannot read '{}': {}", path.string(), system_text());
  }
  std::string content;
  std::vector<char> chunk(kBufferBytes);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    content.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    require(content.size() <= most,
            "cannot read '{}': it has more than {} bytes, the most such a file may have",
            path.string(),
            most);
  }
  if (file.bad()) {
    resource_error("cannot read '{}': {}", path.string(), system_text());
  }
  return content;
}

Json read_json(const std::filesystem::path& path) {
  Json value = read_any_json(path);
  require(value.is_object(), "'{}' does not hold a JSON object", path.string());
  return value;
}

Json read_json_list(const std::filesystem::path& path) {
  Json value = read_any_json(path);
  const bool is_list =
      value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_object(); });
  require(is_list, "'{}' does not hold a JSON list of objects", path.string());
  return value;
}

bool is_run_id(std::string_view text) {
  constexpr std::size_t kHashDigits = 12;
  constexpr std::size_t kLongest = 200;  // file systems end at 255
  if (text.size() < kHashDigits + 2 || text.size() > kLongest) {
    return false;
  }
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto is_separator = [](char c) { return c == '.' || c == '-' || c == '_'; };
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const std::string_view hash = text.substr(text.size() - kHashDigits);
  return is_plain(text.front()) && is_separator(text[text.size() - kHashDigits - 1]) &&
         std::all_of(hash.begin(), hash.end(), is_hex) &&
         std::all_of(
             text.begin(), text.end(), [&](char c) { return is_plain(c) || is_separator(c); });
}

std::optional<double> seconds_of_utc(const std::string& text) {
  std::tm time{};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') {
    return std::nullopt;
  }
  return static_cast<double>(::timegm(&time));
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace residuum::reports
