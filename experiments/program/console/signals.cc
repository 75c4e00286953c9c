#include "experiments/program/console/signals.h"

#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <stop_token>
#include <utility>

#include "core/error.h"
#include "core/stop.h"
#include "experiments/program/console/streams.h"

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

namespace {

/// The clock runs on while this process is stopped, so the time is counted in short waits.
constexpr int kWaits = 16;

/// Returns true if the watch was destroyed within the time.
bool is_over_within(std::chrono::milliseconds time, const std::stop_token& over) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, over, time, [] { return false; });
  return over.stop_requested();
}

}  // namespace

CallWatch::CallWatch(std::chrono::milliseconds patience, std::function<void()> late)
    : thread_([patience, late = std::move(late)](const std::stop_token& over) {
        for (int waits = 0; waits < kWaits; ++waits) {
          if (is_over_within(patience / kWaits, over)) {
            return;
          }
        }
        late();
      }) {}

CallWatch watch_call(std::string_view call,
                     std::chrono::seconds patience,
                     std::string_view consequence) {
  return {patience, [call, patience, consequence] {
            say(
                fmt::format("{} has not returned for {} s: another process of the job is stopped, "
                            "lost or cut off. {}",
                            call,
                            patience.count(),
                            consequence));
            std::_Exit(static_cast<int>(ExitCode::resource));
          }};
}

CallWatch watch_start(std::string_view call) {
  constexpr std::chrono::minutes kPatience{5};
  return watch_call(call, kPatience, "Nothing was begun");
}

}  // namespace residuum
