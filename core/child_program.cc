#include "core/child_program.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/output_file.h"

namespace residuum {
namespace {

/// The streams, command line and parent of a child before it becomes the program.
struct Becoming {
  const ProgramStart& start;
  std::array<int, 3> streams{};
  char* const* argv = nullptr;
  pid_t parent = -1;
};

/// No handler of ours may run in the child; what is ignored stays so, unless it is apart.
void take_signals(bool is_apart) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN && !is_apart) {
      std::signal(signal, SIG_IGN);
    }
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Becomes the program, or leaves in `failure` why not. The child shares the memory of its parent
/// until then, which waits.
[[noreturn]] void become_program(const Becoming& becoming, volatile int& failure) {
  constexpr int kCannotStart = 127;
  const auto& start = becoming.start;
  prctl(PR_SET_PDEATHSIG, start.signal_at_our_end);
  if (start.is_apart) {
    setpgid(0, 0);
  }
  for (int stream = 0; stream < static_cast<int>(becoming.streams.size()); ++stream) {
    dup2(becoming.streams.at(static_cast<std::size_t>(stream)), stream);
  }
  take_signals(start.is_apart);
  if (getppid() == becoming.parent) {
    if (start.folder.empty() || chdir(start.folder.c_str()) == 0) {
      execvp(becoming.argv[0], becoming.argv);
    }
    failure = errno;
  }
  _exit(kCannotStart);
}

/// Copies no page of a large program, and runs no handlers of libraries for forks.
pid_t start_child(const Becoming& becoming, volatile int& failure) {
  const pid_t child = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (child == 0) {
    become_program(becoming, failure);
  }
  return child;
}

/// /dev/null, under a number that is no standard stream's.
Descriptor nowhere() {
  const Descriptor any(open("/dev/null", O_RDWR | O_CLOEXEC));
  return Descriptor(fcntl(any.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

pid_t start_program(const ProgramStart& start, std::error_code& failure) {
  failure.clear();
  std::vector<std::string> copies = start.words;
  std::vector<char*> argv;
  argv.reserve(copies.size() + 1);
  for (auto& word : copies) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const Descriptor nothing = nowhere();
  Becoming becoming{
      .start = start, .streams = start.streams, .argv = argv.data(), .parent = getpid()};
  for (int& stream : becoming.streams) {
    stream = stream == ProgramStart::kNowhere ? nothing.get() : stream;
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int cause = 0;
  const pid_t child = start_child(becoming, cause);
  const int fork_failure = child < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (cause != 0) {
    waitpid(child, nullptr, 0);
  }
  if (const int code = cause != 0 ? cause : fork_failure; code != 0) {
    failure.assign(code, std::generic_category());
  }
  return child;
}

int exit_code_of(int wait_status) {
  constexpr int kOfSignals = 128;
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kOfSignals + WTERMSIG(wait_status);
}

std::optional<ProgramEnd> run_program_to_end(const ProgramStart& start, std::error_code& failure) {
  const pid_t child = start_program(start, failure);
  int status = 0;
  rusage used{};
  while (!failure && wait4(child, &status, 0, &used) < 0) {
    if (errno != EINTR) {
      failure.assign(errno, std::generic_category());
    }
  }
  if (failure) {
    return std::nullopt;
  }
  return ProgramEnd{.code = exit_code_of(status),
                    .cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime)};
}

}  // namespace residuum
