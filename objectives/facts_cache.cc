#include "objectives/facts_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/fnv1a.h"
#include "core/notes.h"
#include "objectives/data/byte_stream.h"

namespace residuum {
namespace {

nlohmann::json to_json(const FactsKey& key) {
  return {{"fingerprint", key.fingerprint},
          {"l2", key.l2},
          {"intercept", key.intercept},
          {"solver", key.solver},
          {"scale", key.scale}};
}

}  // namespace

std::filesystem::path facts_file(const std::filesystem::path& cache_dir, const FactsKey& key) {
  Fnv1a hash;
  hash.add(to_json(key).dump());
  return cache_dir / fmt::format("facts-{}-{:016x}.json", key.fingerprint, hash.value());
}

std::optional<std::vector<double>> load_minimizer(const std::filesystem::path& cache_dir,
                                                  const FactsKey& key,
                                                  std::size_t dimension) {
  if (cache_dir.empty()) {
    return std::nullopt;
  }
  const auto path = facts_file(cache_dir, key);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;  // a pipe would never answer
  }
  std::ifstream file(path, std::ios::binary);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("key", nlohmann::json()) != to_json(key)) {
    return std::nullopt;
  }
  const auto stored = json.value("minimizer", nlohmann::json());
  const auto is_finite_number = [](const nlohmann::json& entry) {
    return entry.is_number() && std::isfinite(entry.get<double>());
  };
  if (!stored.is_array() || stored.size() != dimension ||
      !std::all_of(stored.begin(), stored.end(), is_finite_number)) {
    return std::nullopt;
  }
  return stored.get<std::vector<double>>();
}

void store_minimizer(const std::filesystem::path& cache_dir,
                     const FactsKey& key,
                     const std::vector<double>& minimizer,
                     double gradient_norm) {
  if (cache_dir.empty()) {
    return;
  }
  const nlohmann::json json = {
      {"key", to_json(key)}, {"gradient_norm", gradient_norm}, {"minimizer", minimizer}};
  const auto path = facts_file(cache_dir, key);
  if (!replace_file(path, json.dump() + '\n')) {
    tell(NoteKind::warning, "f* is not kept for later runs: cannot write " + path.string());
  }
}

}  // namespace residuum
