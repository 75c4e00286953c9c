#include "experiments/program/runs/study_end.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/file_lock.h"
#include "experiments/program/runs/provenance.h"
#include "reports/results/result_folder.h"
#include "reports/summaries/collect.h"
#include "reports/terminal/table.h"
#include "reports/terminal/verdict_lines.h"

namespace residuum {
namespace {

/// Says which invariants do not hold although they must; true if there is one.
bool tell_failed_checks(const reports::Run& run) {
  bool any = false;
  for (const auto& [name, check] : reports::value_at(run.status, "checks").items()) {
    const bool matters =
        reports::flag_at(check, "hard", false) && reports::flag_at(check, "expected", true);
    if (!reports::flag_at(check, "holds", true) && matters) {
      say(fmt::format("{}: check '{}' failed at {} of {} iterations",
                      run.id,
                      name,
                      reports::plain_text(reports::value_at(check, "failures")),
                      reports::plain_text(reports::value_at(check, "n"))));
      any = true;
    }
  }
  return any;
}

/// Says which runs other builds of the program have made: their bits may differ from this one's.
void tell_other_builds(const reports::ResultFolder& folder) {
  std::size_t others = 0;
  std::string one;
  for (const auto& run : folder.runs) {
    const auto build = program_version(reports::value_at(run.status, "provenance"));
    if (run.has_tables() && !build.empty() && build != program_version()) {
      ++others;
      one = build;
    }
  }
  if (others > 0) {
    say(
        fmt::format("note: {} of {} runs were made by another build, such as {}; this one is {}; "
                    "bits may differ; each status.json names its build",
                    others,
                    folder.runs.size(),
                    one,
                    program_version()));
  }
}

/// Returns lines with the tuned values and the choices that are open.
std::string tuning_lines(const reports::TunedStudy& study) {
  std::string lines;
  for (const auto& method : study.methods) {
    lines += harmless(reports::sentence_of(study, method)) + '\n';
  }
  return lines;
}

/// Warns of best values at an edge, and says what a tuning that is not over waits for.
void tell_of_tuning(const reports::TunedStudy& study, const Share& share) {
  for (const auto& method : study.methods) {
    const std::string warning = reports::edge_warning(study, method);
    if (!warning.empty()) {
      say(fmt::format("warning: {}", warning));
    }
  }
  if (share.of > 1 && !study.is_over()) {
    say("the tuning is not over: it needs runs of other shares; when these have ended, the same "
        "command goes on");
  }
}

/// Returns whether a run is no success. A tuning run may diverge: it was made to find that out.
bool is_unfinished(const reports::Run& run, bool is_tuning) {
  return run.state != "finished" && !(is_tuning && run.state == "diverged");
}

ExitCode exit_code_of(const reports::Summary& summary,
                      const std::vector<std::string>& ids,
                      bool strict) {
  bool check_failed = false;
  if (strict) {
    for (const auto& line : reports::failed_assumptions(summary)) {
      say(line);
      check_failed = true;
    }
  }
  bool run_failed = false;
  const auto look_at = [&](const std::vector<reports::Run>& runs, bool is_tuning) {
    for (const auto& run : runs) {
      if (std::find(ids.begin(), ids.end(), run.id) == ids.end()) {
        continue;
      }
      run_failed = run_failed || is_unfinished(run, is_tuning);
      check_failed = tell_failed_checks(run) || check_failed;
    }
  };
  look_at(summary.folder.runs, false);
  look_at(summary.folder.tuning_runs, true);
  if (check_failed) {
    return ExitCode::check_failed;
  }
  return run_failed ? ExitCode::runs_failed : ExitCode::done;
}

}  // namespace

ExitCode end_study(const std::filesystem::path& result_dir,
                   const std::vector<std::string>& ids,
                   const Options& options) {
  const auto alone = FileLock::wait(result_dir / kTablesLock);
  const auto summary = reports::collect(result_dir);
  if (options.json) {
    print_json(reports::study_table_json(summary));
  } else {
    fmt::print("{}", reports::study_table(summary));
    fmt::print("{}", reports::verdict_lines(summary, reports::kTableLines - 2));
    if (summary.search) {
      fmt::print("{}\n", reports::sentence_of(*summary.search));
    }
    if (summary.tuning) {
      fmt::print("{}", tuning_lines(*summary.tuning));
    }
  }
  if (!summary.folder.mixed_data.empty()) {
    say(fmt::format("note: {}", summary.folder.mixed_data));
  }
  tell_other_builds(summary.folder);
  if (summary.tuning) {
    tell_of_tuning(*summary.tuning, options.share);
  }
  say(fmt::format(
      "results in {}; report: residuum report {}", result_dir.string(), result_dir.string()));
  if (!options.json) {
    std::fflush(stdout);
    fmt::print("{}", reports::undecided_line(summary));
  }
  return exit_code_of(summary, ids, options.strict);
}

}  // namespace residuum
