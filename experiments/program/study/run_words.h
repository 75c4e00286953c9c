#pragma once
// These words name a run in progress and messages, and say how it ended.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/trainer/trainer.h"
#include "experiments/program/console/progress.h"
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

}  // namespace residuum
