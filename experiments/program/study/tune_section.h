#pragma once
// This file reads [tune]. The runs of a tuned study are, for every method, those at each value on
// the tuning seeds and those at each value on the study's own: the latter are made at the best
// value alone.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/program/study/study_points.h"
#include "experiments/program/study/study_toml.h"
#include "experiments/program/study/study_tune.h"

namespace residuum {

/// Reads [tune]; nothing without it. `seeds` are those of the study. A mistake is a usage error
/// with its place; so are [search] beside it and a seed of both.
std::optional<StudyTune> read_tune(const toml::table& root,
                                   const std::vector<std::uint64_t>& seeds);

/// Throws a usage error where a method or an override has a value of its own for a tuned key that
/// [sweep], a [[point]] or --set gives it.
void refuse_fixed_keys(const StudyTune& tune,
                       const toml::table& root,
                       const std::vector<std::string>& overrides);

/// Returns the settings of a method at a level.
Settings settings_at(const Settings& method, const StudyTune& tune, std::size_t level);

/// Shortens the budget of a run to a share of it, and the schedule of its step with it; returns the
/// key of the budget with its value. Throws a usage error where no budget is given.
nlohmann::json take_share_of_budget(const StudyTune& tune, double share, Settings& settings);

/// Returns the tuned keys with their values at a level.
nlohmann::json tuned_values(const StudyTune& tune, std::size_t level);

/// True for a level beyond the grid.
bool is_extension(const reports::TuningPlan& plan, std::size_t level);

}  // namespace residuum
