#include "experiments/program/console/streams.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <unistd.h>

#include "core/text.h"

namespace residuum {
namespace {

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

/// open() takes the lowest free number, so those below must be open.
void open_null(int flags) {
  // Without /dev/null the stream stays closed, as it was.
  (void)::open("/dev/null", flags);
}

}  // namespace

void hold_standard_streams() {
  // A file that may not grow is an error of its writer, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  if (!is_open(STDIN_FILENO)) {
    open_null(O_RDONLY);
  }
  if (!is_open(STDOUT_FILENO)) {
    open_null(O_RDONLY);
  }
  if (!is_open(STDERR_FILENO)) {
    open_null(O_WRONLY);
  }
}

void say(std::string_view text) {
  constexpr std::size_t kLongestLine = 1000;
  say_raw(shortened(harmless(text), kLongestLine) + '\n');
}

void say_raw(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

void print_path(const std::filesystem::path& path) {
  const std::string text = path.string();
  fmt::print("{}\n", ::isatty(STDOUT_FILENO) != 0 ? harmless(text) : text);
}

ExitCode say_what_was_caught() {
  try {
    throw;
  } catch (const Error& error) {
    say(fmt::format("error: {}", error.what()));
    return error.code();
  } catch (const std::bad_alloc&) {
    say("error: out of memory");
    return ExitCode::resource;
  } catch (const std::filesystem::filesystem_error& error) {
    say(fmt::format("error: cannot use '{}': {}", error.path1().string(), error.code().message()));
    return ExitCode::resource;
  } catch (const std::system_error& error) {  // of streams
    say(fmt::format("error: {}", error.what()));
    return ExitCode::resource;
  } catch (const std::exception& error) {
    say(fmt::format("internal error: {}", error.what()));
    return ExitCode::internal;
  }
}

ExitCode flush_output(ExitCode code) {
  errno = 0;
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (arrived || code == ExitCode::resource) {  // a print that failed has said so
    return code;
  }
  say(fmt::format("error: cannot write to standard output: {}",
                  errno == 0 ? "not all of it arrived" : std::generic_category().message(errno)));
  return code == ExitCode::done ? ExitCode::resource : code;
}

}  // namespace residuum
