#pragma once
// A study may say what a paper has ([[expected]]), for the table of published values and ours. It
// changes no run.

#include "experiments/program/study/study_toml.h"

namespace residuum {

/// Returns the list for study.resolved.json, each entry complete and checked; an empty list where
/// the study expects nothing. Errors are usage errors with their place.
nlohmann::json expected_values(const toml::table& root);

}  // namespace residuum
