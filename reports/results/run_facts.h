#pragma once
// status.json holds the record of a run (core/record/run_facts.h) field by field, each at its path.

#include "core/record/run_facts.h"
#include "reports/results/files.h"

namespace residuum::reports {

/// Adds every known field to `status`, but the names and the number of workers, which config.json
/// has.
void write_run_facts(const RunFacts& facts, Json& status);

/// Returns the path of the first field of the record that the status of a finished run lacks, or
/// that has a value which no run writes; empty if there is none.
std::string damaged_fact(const Json& status);

/// Reads the record from the values of config.json and from status.json, which anybody may have
/// written. An absent claim is false, an absent reservation is made, an absent constant is not
/// known.
RunFacts read_run_facts(const Json& config, const Json& status);

}  // namespace residuum::reports
