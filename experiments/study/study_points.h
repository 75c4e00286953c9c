#pragma once
// A point of a study is its own settings with what [sweep] and [[point]] change and overrides
// force.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/study/study_toml.h"

namespace residuum {

/// Grids larger than this are a mistake in the file, not an experiment.
inline constexpr std::size_t kMaxRuns = 100000;

/// Returns all points, in order. `overrides` are "key=value" and win over the file.
std::vector<Settings> points_of(const toml::table& root, const std::vector<std::string>& overrides);

/// Returns the keys that take different values over the points.
std::set<std::string> varying_keys(const std::vector<Settings>& points);

/// Returns the keys that the point has, each with its value there.
nlohmann::json varying_of(const Settings& point, const std::set<std::string>& keys);

}  // namespace residuum
