#pragma once
// Options of commands that are too many for program.cc, or shared by several of them.

#include "experiments/program/console/options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls itself so
class App;
}

namespace residuum {

/// A flag is given or not; CLI11 reads the bare one as "true", and would take any other value too.
void add_flag(CLI::App& command, const char* name, bool& value, const char* description);

// These commands look at vectors of the user's, or at a compressor of them.
void add_inspect(CLI::App& command, Options& options);
void add_rate(CLI::App& command, Options& options);
void add_advise(CLI::App& command, Options& options);
void add_falsify(CLI::App& command, Options& options);
void add_check(CLI::App& command, Options& options);

/// Adds the options of `plan` for the jobs of a cluster. Values are checked here, because they
/// become lines of a script.
void add_job(CLI::App& command, JobOptions& job);

}  // namespace residuum
