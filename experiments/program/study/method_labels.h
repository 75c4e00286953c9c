#pragma once
// A study may name its methods: a [[point]] by `label`, and values that it sweeps by [labels]. The
// terminal, pages, figures and tables show these names; nothing depends on them.

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/program/study/study_toml.h"

namespace residuum {

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
