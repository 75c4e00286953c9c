#include "experiments/program/console/signals.h"

#include <array>
#include <csignal>
#include <ctime>

#include "core/stop.h"

namespace residuum {
namespace {

// A signal handler can reach nothing but a global.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// The second at which the first INT came; 0 before.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<std::time_t> interrupted{0};
static_assert(std::atomic<std::time_t>::is_always_lock_free);

/// A launcher or a terminal can deliver one request twice, so only an INT of a later second counts
/// as one more.
extern "C" void on_signal(int signal) {
  stop.store(true);
  if (signal != SIGINT) {
    return;
  }
  const std::time_t now = std::time(nullptr);
  std::time_t first = 0;
  if (!interrupted.compare_exchange_strong(first, now) && now > first + 1) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
}

}  // namespace

const std::atomic<bool>& stop_requested() { return stop; }

void request_stop() { stop.store(true); }

void catch_stop_signals() {
  set_stop_flag(&stop);
  for (const int signal : std::array{SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) {  // NOLINT(cppcoreguidelines-pro-type-union-access): POSIX
      continue;                          // nohup, and shells for what they start in the background
    }
    struct sigaction action {};
    action.sa_handler = on_signal;  // NOLINT(cppcoreguidelines-pro-type-union-access): POSIX
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  // The runs go on when nobody reads their progress any more.
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace residuum
