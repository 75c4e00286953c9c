#pragma once
// The options of `plan` for the jobs of a cluster.

#include "experiments/program/console/options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls itself so
class App;
}

namespace residuum {

/// Values are checked here, because they become lines of a script.
void add_job(CLI::App& command, JobOptions& job);

}  // namespace residuum
