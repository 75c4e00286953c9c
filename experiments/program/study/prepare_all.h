#pragma once
// These words name a run in progress and messages, and say how it ended.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/trainer/trainer.h"
#include "experiments/program/console/progress.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"

namespace residuum {

/// Returns what varies, and the seed.
std::string label_of(const nlohmann::json& varying, std::uint64_t seed);
/// Returns what the study calls the run's method, or what varies with the study's names of values,
/// and the seed.
std::string label_of(const RunSpec& run, const Study& study);

std::string describe(const Outcome& outcome);

/// Returns the severity for the console: trouble if the run diverged, quiet if it was cut short.
Notice notice_of(const Outcome& outcome);

// Planning prepares all runs of a study, tells equal ones, and marks those that the machine cannot
// prepare.

/// Returns a hash of the run's settings as they were written, which needs no objective.
std::string settings_hash(const RunSpec& spec);

/// Returns a run that the machine could not prepare, with its workers and an id by `settings_hash`,
/// since defaults that the objective knows are not available.
PreparedRun unprepared(const RunSpec& spec, const std::string& failure);

/// Prepares all runs of the study, in order, without keeping their objectives' data. Equal runs are
/// an error. A run for which memory runs out, or another resource error arises, comes back
/// `unprepared`, so that the others can be made; a mistake in the study or in its data is a usage
/// error. Values beyond the grid of a tuning that cannot be are no mistake: the run is refused.
std::vector<PreparedRun> prepare_all(const Study& study, ObjectiveCache& objectives);

/// Throws a resource error with the reason of the first unprepared run, if there is one.
void require_prepared(const Study& study, const std::vector<PreparedRun>& runs);

}  // namespace residuum
