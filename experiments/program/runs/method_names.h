#pragma once
// What terminal, reports and figures call a method of a study, before its runs have begun.

#include <string>

#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"

namespace residuum {

/// Returns the label of the run's method, made of [labels] and of what varies, as reports have it.
std::string method_name(const Study& study, const RunSpec& spec, const PreparedRun& run);

}  // namespace residuum
