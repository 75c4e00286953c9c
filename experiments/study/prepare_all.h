#pragma once
// All runs of a study as they are planned: told from each other, and those that the machine cannot
// prepare told from the others.

#include <string>
#include <vector>

#include "experiments/study/run_config.h"

namespace residuum {

/// A hash of the run's settings as they were written, which needs no objective.
std::string settings_hash(const RunSpec& spec);

/// A run that the machine could not prepare: its workers, and an id by `settings_hash`, since
/// defaults that the objective knows are not to be had.
PreparedRun unprepared(const RunSpec& spec, const std::string& failure);

/// All runs of the study, in order, without their objectives' data kept. Equal runs are an error. A
/// run for which memory runs out, or another resource error arises, comes back `unprepared`, so
/// that the others can be made; a mistake in the study or in its data is a usage error.
std::vector<PreparedRun> prepare_all(const Study& study, ObjectiveCache& objectives);

/// Throws a resource error that says why the first unprepared run is one, if there is one.
void require_prepared(const std::vector<PreparedRun>& runs);

}  // namespace residuum
