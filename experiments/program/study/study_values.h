#pragma once
// The values that the keys of a study take, for the JSON Schema by which editors check them. A test
// compares the list with study_keys.

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

namespace residuum {

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
