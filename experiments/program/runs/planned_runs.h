#pragma once
// All processes plan the runs of a study together. Collective.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/cluster/world.h"
#include "experiments/program/study/prepare_all.h"

namespace residuum {

/// Returns on all processes the text that the root makes.
std::string text_of_root(World& world, const std::function<std::string()>& make);

/// Returns all runs of the study. Processes that find other data or values for a run are a usage
/// error. A run that a process could not prepare is unprepared on all of them; if it was begun in
/// the folder before, it has the id that it had then, so that its earlier results stay its own.
std::vector<PreparedRun> plan_together(World& world,
                                       const Study& study,
                                       ObjectiveCache& objectives,
                                       const std::filesystem::path& result_dir);

}  // namespace residuum
