// `residuum keep` adds the runs of a result folder to the tables that are kept of their study.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "core/error.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "reports/exports/kept_study.h"

namespace residuum {

ExitCode keep_command(const Options& options) {
  constexpr std::int64_t kMostRows = 999'999;
  const KeepOptions& given = options.keep;
  require(!given.rows || (*given.rows >= 2 && *given.rows <= kMostRows),
          "--rows is {}, but must be from 2 to {}",
          given.rows.value_or(0),
          kMostRows);
  const bool keeps_numbers =
      !given.numbers.empty() || !given.tables.empty() || !given.figures.empty();
  const std::size_t left_out =
      keeps_numbers
          ? reports::keep_numbers({.results = given.results,
                                   .kept = given.kept,
                                   .numbers = given.numbers,
                                   .tables = given.tables,
                                   .figures = given.figures})
          : reports::keep_study({.results = given.results, .kept = given.kept, .rows = given.rows});
  if (left_out > 0) {
    say(fmt::format("{} of {} {} not {} and {} left out",
                    left_out == 1 ? "1 run" : fmt::format("{} runs", left_out),
                    given.results.string(),
                    left_out == 1 ? "has" : "have",
                    keeps_numbers ? "finished" : "ended",
                    left_out == 1 ? "is" : "are"));
  }
  print_path(given.kept);
  return ExitCode::done;
}

}  // namespace residuum
