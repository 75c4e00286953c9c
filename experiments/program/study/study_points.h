#pragma once
// A point of a study is its own settings with what [sweep] and [[point]] change and overrides
// force.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/program/study/study_search.h"
#include "experiments/program/study/study_toml.h"

namespace residuum {

/// Grids larger than this are a mistake in the file, not an experiment.
inline constexpr std::size_t kMaxRuns = 100000;

struct StudyPoint {
  Settings settings;
  std::string label;  // what the study calls the method; empty where it does not
};

/// Returns all points, in order: of the sweep, or of a search. `overrides` are "key=value" and win
/// over the file, but for the key of a search, which they must not name.
std::vector<StudyPoint> points_of(const toml::table& root,
                                  const std::vector<std::string>& overrides,
                                  const std::optional<StudySearch>& search);

/// Returns the keys that take different values over the points.
std::set<std::string> varying_keys(const std::vector<StudyPoint>& points);

/// Returns the keys that the point has, each with its value there.
nlohmann::json varying_of(const Settings& point, const std::set<std::string>& keys);

}  // namespace residuum
