#pragma once
// This file reads [search]. The runs of a search are those of dense training and of every
// compression, each with all seeds; which of them are made is decided as they end.

#include <optional>
#include <vector>

#include "experiments/program/study/study_search.h"
#include "experiments/program/study/study_toml.h"

namespace residuum {

/// Reads [search]; nothing without it. A mistake is a usage error with its place; so are [sweep]
/// and [[point]] beside it.
std::optional<StudySearch> read_search(const toml::table& root, std::size_t seeds);

/// Returns the points of a search made of the study's own settings: dense training, whose sections
/// are those of `dense`, then every compression.
std::vector<Settings> search_points(const Settings& base, const StudySearch& search);

/// Returns the search as study.resolved.json holds it, without its runs.
nlohmann::json plan_of(const StudySearch& search);

}  // namespace residuum
