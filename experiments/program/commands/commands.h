#pragma once
// The commands of the program. All return the exit code of the process.

#include <string>
#include <vector>

#include "core/cluster/world.h"
#include "core/error.h"
#include "experiments/program/console/options.h"

namespace residuum {

// A reference is the list of columns, keys, commands and components that `residuum list` prints: as
// text, as JSON, or as the pages of experiments/reference. A test compares these pages with its
// output.

struct ReferencePart {
  std::string head;  // as a word: "Law"
  std::vector<std::string> points;
  bool in_one_line = false;  // on a page: symbols; else a list
};

struct ReferenceLine {
  std::string name;
  std::string summary;
  std::string source;  // or unit, default, and so on, by the reference
  /// More of it, each with a head: a law, the columns of a probe, the preconditions of a theorem.
  std::vector<ReferencePart> parts = {};
};

/// Lines that belong together: a table of columns, a section of keys, a command.
struct ReferenceGroup {
  std::string prefix;  // before each name where lines of all groups stand together
  std::string title;   // on a page; empty where there is one group
  std::string text;    // below the title
  std::vector<ReferenceLine> lines;
};

struct Reference {
  std::string name;                // residuum list NAME
  std::string title;               // of the page
  std::vector<std::string> heads;  // of the columns of its tables: name, source, summary
  std::string text = {};           // below the title of the page
  std::vector<ReferenceGroup> groups;
};

/// Returns the reference as a page of Markdown, which says how it is made.
std::string as_markdown(const Reference& reference);

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
