#pragma once

#include <nlohmann/json.hpp>

namespace residuum {

/// Returns a JSON Schema (draft 7) of a study, for editors of TOML: its sections with the keys of
/// study_keys() and what they mean, and what a `kind` can be. It knows which keys there are, not
/// which values go together; `residuum plan` does.
nlohmann::json study_schema();

}  // namespace residuum
