#pragma once
// The runs of a study as all processes plan them. Collective.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/cluster/world.h"
#include "experiments/study/prepare_all.h"

namespace residuum {

/// The text that the root makes, on all processes.
std::string text_of_root(World& world, const std::function<std::string()>& make);

/// All runs of the study. One that a process could not prepare is unprepared on all of them, and
/// has the id that it had if it was begun in the folder before, so that what is known of it stays
/// its own.
std::vector<PreparedRun> plan_together(World& world,
                                       const Study& study,
                                       ObjectiveCache& objectives,
                                       const std::filesystem::path& result_dir);

}  // namespace residuum
