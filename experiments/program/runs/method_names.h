#pragma once
// The names of a study's methods in the terminal, reports and figures, before their runs begin.

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"

namespace residuum {

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
