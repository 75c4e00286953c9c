#pragma once
// JSON files, files that others have written, and the names of runs.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/output_file.h"

namespace residuum::reports {

/// JSON whose objects keep the order they were written in.
using Json = nlohmann::ordered_json;

/// Returns indented JSON. Bytes that are no UTF-8 (a host's name, a message) are replaced, because
/// they must not cost the file.
std::string indented_text(const Json& value);

/// Writes indented JSON with a line end.
void write_json_atomically(const OutputPath& file, const Json& value);

/// Throws a usage error that names `path` unless it is a file with an end: no folder, no pipe, no
/// device.
void require_regular_file(const std::filesystem::path& path);

/// Reads the whole file. A file that is missing, unreadable, not regular or longer than `most`
/// bytes is a usage error that names it.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Reads a JSON object. A file that holds none, or one nested too deep, is a usage error that names
/// file and place.
Json read_json(const std::filesystem::path& path);

/// Reads a list of JSON objects in the same way.
Json read_json_list(const std::filesystem::path& path);

/// Returns whether `text` is a slug, a separator and 12 hexadecimal digits, of [a-z0-9._-] alone
/// and not opening with a dot. A run_id is safe as a folder's name.
bool is_run_id(std::string_view text);

/// Returns the seconds since 1970 of "2026-01-31T23:59:59Z"; absent for any other text.
std::optional<double> seconds_of_utc(const std::string& text);

/// Returns the time as "2026-01-31T23:59:59Z".
std::string utc_text(std::chrono::system_clock::time_point time);

}  // namespace residuum::reports
