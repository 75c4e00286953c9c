#pragma once
// All processes plan the runs of a study together. Collective.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/cluster/world.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"

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

// The names of a study's methods in the terminal, reports and figures, before their runs begin.

/// Returns the name of the method of each run, as the report of all of them has it. `runs` are
/// those of the study, in its order.
std::vector<std::string> method_names(const Study& study, const std::vector<PreparedRun>& runs);

/// Returns the keys of feedback that the name of a run leaves out, because it leaves nothing out of
/// its messages that feedback could put back.
std::set<std::string> unnamed_keys(const PreparedRun& run);

/// Returns the default kinds of the components that some runs of the study vary and others leave
/// out. A run that leaves one out has no record of it.
nlohmann::json default_kinds(const Study& study);

}  // namespace residuum
