#include "experiments/console/call_watch.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

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

}  // namespace residuum
