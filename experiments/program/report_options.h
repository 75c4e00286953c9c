#pragma once
// The options of `residuum report` and of `residuum-report`, which are the same.

#include "experiments/program/console/options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls itself so
class App;
}

namespace residuum {

void add_report(CLI::App& command, Options& options);

}  // namespace residuum
