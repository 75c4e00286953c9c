// `residuum watch` shows how far a running study is, from its files alone: on the machine that it
// runs on, or on any that sees the folder.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

#include "experiments/program/commands/commands.h"
#include "reports/terminal/watch.h"

namespace residuum {
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
