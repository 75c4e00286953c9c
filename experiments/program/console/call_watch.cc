#include "experiments/program/console/call_watch.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <utility>

#include "core/error.h"
#include "experiments/program/console/streams.h"

namespace residuum {
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
