#include "experiments/program/console/options.h"

#include <cstdlib>

#include "core/error.h"

namespace residuum {
namespace {

std::optional<std::filesystem::path> from_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread writes it
  if (value == nullptr || *value == '\0') {
    return std::nullopt;
  }
  return std::filesystem::path(value);
}

}  // namespace

std::filesystem::path output_folder(const Options& options, const std::string& study_name) {
  require(!options.out || !options.out->empty(), "--out is empty; give a folder");
  return options.out ? *options.out : std::filesystem::path("results") / study_name;
}

std::filesystem::path cache_folder() {
  if (const auto own = from_environment("RESIDUUM_CACHE")) {
    return *own;
  }
  if (const auto shared = from_environment("XDG_CACHE_HOME")) {
    return *shared / "residuum";
  }
  if (const auto home = from_environment("HOME")) {
    return *home / ".cache" / "residuum";
  }
  return {};
}

}  // namespace residuum
