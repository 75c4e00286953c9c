#pragma once
// The keys of a study, for `residuum list keys` and the page that is made of it. A component reads
// its own keys; a test compares what all of them read, and their defaults, with this list.

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

namespace residuum {

struct StudyKey {
  std::string_view section;  // empty: a key of the study itself
  std::string_view name;
  std::string_view fallback;  // as it is written in a study; empty where the key has none
  std::string_view meaning;
  bool decides_data = false;  // it says which data are loaded
};

/// In the order of the sections of a study.
std::span<const StudyKey> study_keys();

/// Returns those values of a run's configuration, by section, that say which data it loads. With
/// the same values and files the data have the same fingerprint.
nlohmann::json data_settings(const nlohmann::json& config);

/// Returns a JSON Schema (draft 7) of a study, for editors of TOML: its sections with the keys of
/// study_keys() and what they mean, and what a `kind` can be. It knows which keys there are, not
/// which values go together; `residuum plan` does.
nlohmann::json study_schema();

}  // namespace residuum
