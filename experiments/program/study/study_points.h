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

// A study may name its methods: a [[point]] by `label`, and values that it sweeps by [labels]. The
// terminal, pages, figures and tables show these names; nothing depends on them.

/// Takes `label` out of the settings of a [[point]]; empty if it has none. A value that is no text
/// of 1 to 40 printable characters is a usage error.
std::string take_label(Settings& point);

/// Reads [labels]: for keys that are swept, names of their values as these are written,
///   {"aggregator.kind": {"gtopk-tree": "gTop-k"}, "sparsifier.density": {"0.01": "1 %"}}.
/// `varying` are the values that runs have of the keys in which they differ, `of_points` the labels
/// of points. A value that no run has, two equal names of a key's values and a name that a point
/// has are usage errors.
nlohmann::json value_labels(const toml::table& root,
                            const std::vector<nlohmann::json>& varying,
                            const std::set<std::string>& of_points);

}  // namespace residuum
