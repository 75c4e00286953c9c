#include "reports/results/table_prints.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "core/error.h"
#include "core/fnv1a.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {
namespace {

struct Print {
  std::uint64_t bytes = 0;
  std::string hash;
};

Print print_of(const std::filesystem::path& path) {
  require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    resource_error("cannot read '{}': {}", path.string(), std::generic_category().message(errno));
  }
  std::vector<char> chunk(std::size_t{1} << 16U);
  Fnv1a hash;
  Print print;
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    const auto size = static_cast<std::size_t>(file.gcount());
    hash.add(std::string_view(chunk.data(), size));
    print.bytes += size;
  }
  if (file.bad()) {
    resource_error("cannot read '{}'", path.string());
  }
  print.hash = hash.short_text();
  return print;
}

/// Returns the reason why one table does not match its print; nothing when it does.
std::optional<std::string> damage(const std::filesystem::path& path, const Json& expected) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return fmt::format("'{}' is missing", path.string());
  }
  const Print found = print_of(path);
  const Json& bytes = value_at(expected, "bytes");
  if (bytes != found.bytes) {
    return fmt::format("'{}' has {} bytes, it had {} when the run finished",
                       path.string(),
                       found.bytes,
                       bytes.dump());
  }
  if (value_at(expected, "hash") != found.hash) {
    return fmt::format("'{}' was changed since the run finished", path.string());
  }
  return std::nullopt;
}

std::string own_print(const Json& json) {
  Json rest = json;
  rest.erase("print");
  return short_hash(rest.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Json prints_of(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  Json prints = Json::object();
  for (const auto& name : names) {
    const Print print = print_of(folder / name);
    prints[name] = {{"bytes", print.bytes}, {"hash", print.hash}};
  }
  return prints;
}

Json with_print(Json json) {
  json["print"] = own_print(json);
  return json;
}

void require_own_print(const Json& json, const std::filesystem::path& file) {
  require(json.is_object() && value_at(json, "print") == own_print(json),
          "'{}' was changed since it was written",
          file.string());
}

std::optional<std::string> damage_of(const std::filesystem::path& folder, const Json& status) {
  const auto file = folder / "status.json";
  require_own_print(status, file);
  if (!status.contains("files")) {
    return std::nullopt;
  }
  const Json& prints = status["files"];
  require(prints.is_object(), "'files' in '{}' is not an object", file.string());
  for (const char* always : {"iterations.csv", "checks.csv"}) {
    if (!prints.contains(always)) {
      return fmt::format("'files' in '{}' does not list {}", file.string(), always);
    }
  }
  for (const auto& [name, expected] : prints.items()) {
    require(std::filesystem::path(name).filename() == name,
            "'{}' names a table outside of its folder: '{}'",
            file.string(),
            name);
    if (auto found = damage(folder / name, expected)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace residuum::reports
