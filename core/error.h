#pragma once
// Error is the one exception type for what a user, a file or a machine can get wrong. A broken
// invariant of our own is an assert, not an Error. The exit codes of the program are here too.

#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace residuum {

/// The program returns these codes to the shell; their meanings are part of its interface.
enum class ExitCode : int {
  done = 0,
  internal = 1,
  usage = 2,
  runs_failed = 3,
  check_failed = 4,
  regression = 5,
  resource = 6,
  stopped = 75,
  time_limit = 124,
};

/// An Error carries one line for the user, which names the place and the cure, and an exit code.
/// The constructor replaces control characters that the message quotes (core/text.h) and shortens a
/// message that is far too long in its middle.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, std::string_view message);
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Reports a mistake in a command line, a study or a data file: exit code 2.
template <typename... Args>
[[noreturn]] void usage_error(fmt::format_string<Args...> message, Args&&... args) {
  throw Error(ExitCode::usage, fmt::format(message, std::forward<Args>(args)...));
}

/// Reports that memory, disk space or a device is missing: exit code 6.
template <typename... Args>
[[noreturn]] void resource_error(fmt::format_string<Args...> message, Args&&... args) {
  throw Error(ExitCode::resource, fmt::format(message, std::forward<Args>(args)...));
}

/// Throws a usage error with the formatted message unless `condition` holds.
template <typename... Args>
void require(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) {
    usage_error(message, std::forward<Args>(args)...);
  }
}

/// Returns the known word closest to `word` in edit distance. The result is empty if no word is
/// near enough to be the intended one (more than a third of the letters differ).
std::string nearest(std::string_view word, std::span<const std::string> known);

/// Returns "; did you mean 'x'?" when a known word is near, else "; known: a, b, c".
std::string suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace residuum
