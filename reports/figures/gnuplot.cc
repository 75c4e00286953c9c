#include "reports/figures/gnuplot.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace residuum::reports {
namespace {

/// SpawnActions is what the child does before it becomes gnuplot.
class SpawnActions {
 public:
  explicit SpawnActions(const std::filesystem::path& folder) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0);
    }
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  SpawnActions(SpawnActions&&) = delete;
  SpawnActions& operator=(SpawnActions&&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

std::string run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  std::string program = "gnuplot";
  std::string defaults = "-d";
  std::string file = script;
  std::array<char*, 4> arguments{program.data(), defaults.data(), file.data(), nullptr};
  const SpawnActions actions(folder);

  pid_t child = 0;
  const int error =
      posix_spawnp(&child, program.c_str(), actions.get(), nullptr, arguments.data(), environ);
  if (error == ENOENT) {
    return "gnuplot is not installed: install the Debian package gnuplot-nox";
  }
  if (error != 0) {
    return fmt::format("gnuplot cannot be started: {}", std::generic_category().message(error));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fmt::format("gnuplot got lost: {}", std::generic_category().message(errno));
    }
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fmt::format("gnuplot failed; run 'gnuplot {}' in its folder to see why", script);
  }
  return {};
}

}  // namespace residuum::reports
