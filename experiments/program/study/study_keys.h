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

// The values that the keys of a study take, for the JSON Schema by which editors check them. A test
// compares the list with study_keys.

/// KeyValues says what may stand at a key, as alternatives parted by " | ":
///   integer, integer>=1, number, number>0, number>=0, number>0<=1, true/false, text, table, any,
///   "word" (this text alone), list of TYPE; a name of a registry is `name`.
struct KeyValues {
  std::string_view key;  // "sparsifier.k"
  std::string_view values;
};

/// In the order of study_keys, without the keys of the study itself.
std::span<const KeyValues> study_values();

/// Returns the JSON Schema of such alternatives. `names` are those of the registry that the key
/// takes its values from; null where there is none.
nlohmann::json schema_of_values(std::string_view values, const nlohmann::json& names);

/// Returns the alternatives that a key takes: "any" for one that is not in the list.
std::string_view values_of_key(std::string_view section, std::string_view name);

}  // namespace residuum
