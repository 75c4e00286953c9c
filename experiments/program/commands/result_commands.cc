// The commands that read folders of results: keep, epochs, compare, export, watch.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <sys/ioctl.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "reports/exports/epoch_table.h"
#include "reports/exports/export_forms.h"
#include "reports/exports/kept_study.h"
#include "reports/terminal/changes.h"
#include "reports/terminal/watch.h"

namespace residuum {

// `residuum keep` adds the runs of a result folder to the tables that are kept of their study.
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

// `residuum epochs` prints loss, delta, contraction and accuracy of every run by epoch, as CSV.

ExitCode epochs_command(const Options& options) {
  const KeepOptions& given = options.keep;
  require(!given.parts || *given.parts >= 1,
          "--parts is {}, but must be 1 or more",
          given.parts.value_or(0));
  const auto table = reports::epoch_table_of(given.results, given.parts);
  fmt::print("{}", harmless_lines(reports::csv_text(table)));
  return ExitCode::done;
}

// `residuum compare` takes two results of the same study and tells which of its numbers changed.

namespace {

using Folders = std::vector<std::filesystem::path>;

/// Returns the folders of either side: DIR_A DIR_B, or lists of them, A... --with B...
std::pair<Folders, Folders> sides_of(const Options& options) {
  const Folders& dirs = options.result_dirs;
  if (!options.other_dirs.empty()) {
    return {dirs, options.other_dirs};
  }
  require(dirs.size() == 2,
          "compare takes two folders of results, or lists of them: compare A1 A2 --with B1 B2");
  return {{dirs.front()}, {dirs.back()}};
}

}  // namespace

ExitCode compare_command(const Options& options) {
  const auto [one, other] = sides_of(options);
  const auto changes = reports::compare_folders(
      reports::summarise(reports::read_result_folders(one)),
      reports::summarise(reports::read_result_folders(other)),
      options.tolerance,
      options.anyway ? reports::OtherProblem::noted : reports::OtherProblem::refused);
  if (options.json) {
    print_json(reports::to_json(changes));
  } else {
    fmt::print("{}", reports::changes_table(changes));
  }
  return options.fail_on_regression && changes.has_regression() ? ExitCode::regression
                                                                : ExitCode::done;
}

// `residuum export` writes the measurements of a result folder in the forms of other programs.

namespace {

/// A file or folder that --out names, else one in the folder of results.
OutputPath export_target(const Options& options) {
  if (options.out) {
    return options.join ? OutputPath(*options.out) : OutputPath::named(*options.out);
  }
  require(options.result_dirs.size() == 1,
          "several folders: name the file or folder of what is exported with --out");
  return OutputPath::named(options.result_dirs.front()) /
         (options.join ? "joined.csv" : "tensorboard");
}

}  // namespace

ExitCode export_command(const Options& options) {
  require(options.join != options.tensorboard,
          "name one form: --join (a flat table) or --tensorboard (event files)");
  const auto target = export_target(options);
  const auto folder = reports::read_result_folders(options.result_dirs);
  const bool has_any = std::any_of(
      folder.runs.begin(), folder.runs.end(), [](const auto& run) { return run.has_tables(); });
  require(has_any,
          "{} has no finished run yet; 'residuum watch' shows how far it is",
          options.result_dirs.front().string());
  if (!folder.mixed_data.empty()) {
    say(fmt::format("note: {}", folder.mixed_data));
  }
  if (options.join) {
    require_replaceable(target);
    reports::write_joined_table(folder, target);
  } else {
    const auto written = reports::write_event_files(folder, target);
    if (written.left_out > 0) {
      say(
          fmt::format("{} values are beyond float32, which event files hold, and were left out; "
                      "--join has them",
                      written.left_out));
    }
  }
  print_path(target);
  return ExitCode::done;
}

// `residuum watch` shows how far a running study is, from its files alone: on the machine that it
// runs on, or on any that sees the folder.

namespace {

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Returns the lines of the terminal; a file or pipe gets all runs.
std::size_t lines_of_output() {
  constexpr std::size_t kAll = 1'000'000;
  constexpr std::size_t kUsual = 24;
  if (::isatty(STDOUT_FILENO) == 0) {
    return kAll;
  }
  winsize window{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 1;
  return is_known ? static_cast<std::size_t>(window.ws_row) - 1 : kUsual;
}

}  // namespace

ExitCode watch_command(const Options& options) {
  reports::StudyWatch watch(options.result_dirs);
  const bool repeats = !options.once && ::isatty(STDOUT_FILENO) != 0;
  for (;;) {
    watch.look(seconds_since_1970());
    constexpr const char* kClear = "\x1b[H\x1b[J";
    const std::size_t lines = lines_of_output();
    const std::string curves = options.plot ? watch.curves(lines / 2) : std::string();
    const auto taken = static_cast<std::size_t>(std::count(curves.begin(), curves.end(), '\n'));
    fmt::print("{}{}{}", repeats ? kClear : "", watch.table(lines - taken), curves);
    std::fflush(stdout);
    if (!repeats || watch.is_over()) {
      return ExitCode::done;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(options.every_s));
  }
}

}  // namespace residuum
