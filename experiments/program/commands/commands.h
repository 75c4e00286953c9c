#pragma once
// The commands of the program have one file each. All return the exit code of the process.

#include <string>
#include <vector>

#include "core/cluster/world.h"
#include "core/error.h"
#include "experiments/program/commands/reference.h"
#include "experiments/program/console/options.h"

namespace residuum {

/// Collective over the world's processes; the root writes and speaks.
ExitCode run_command(const Options& options,
                     const std::vector<std::string>& command_line,
                     World& world);

ExitCode plan_command(const Options& options);
ExitCode report_command(const Options& options);
ExitCode figure_command(const Options& options);
ExitCode export_command(const Options& options);
ExitCode watch_command(const Options& options);
ExitCode compare_command(const Options& options);
ExitCode inspect_command(const Options& options);
ExitCode falsify_command(const Options& options);
ExitCode rate_command(const Options& options);
ExitCode advise_command(const Options& options);
ExitCode check_command(const Options& options);
ExitCode page_command(const Options& options);
ExitCode table_command(const Options& options);
ExitCode keep_command(const Options& options);
ExitCode epochs_command(const Options& options);
/// `program` is this program's own path, to start it under mpirun.
ExitCode verify_command(const Options& options, const std::string& program);
/// `commands` are the program's own, for `residuum list commands`.
ExitCode list_command(const Options& options, const std::vector<ReferenceGroup>& commands);
/// Collective over the world's processes; the root speaks.
ExitCode info_command(const Options& options, World& world);

}  // namespace residuum
