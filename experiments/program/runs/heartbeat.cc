#include <algorithm>
#include <system_error>

#include "core/error.h"
#include "experiments/program/runs/run_maker.h"
#include "reports/results/files.h"

namespace residuum {

void Heartbeat::begin(const OutputPath& run_folder, std::uint64_t done) {
  const std::lock_guard lock(mutex_);
  file_ = run_folder / "heartbeat.json";
  remove_file(*file_);
  pilot(0, done);
  ++begun_;
  wake_.notify_all();
  if (thread_.joinable()) {
    return;
  }
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
  } catch (const std::system_error&) {
    file_.reset();  // no memory for a thread is no reason to end the run
  }
}

void Heartbeat::end() {
  const std::lock_guard lock(mutex_);
  if (file_) {
    remove_file(*file_);
    file_.reset();
  }
}

void Heartbeat::beat(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Clock::duration pause = pace_.period;
  while (!stop.stop_requested()) {
    const std::uint64_t run = begun_;
    if (wake_.wait_for(lock, stop, pause, [&] { return begun_ != run; })) {
      pause = pace_.period;  // another run has begun
      continue;
    }
    if (!file_ || stop.stop_requested()) {
      continue;
    }
    const auto start = Clock::now();
    write(std::chrono::duration<double>(pause).count());
    pause = std::max<Clock::duration>(pace_.period, pace_.times * (Clock::now() - start));
  }
}

/// Writes the file whole or not at all, and through no link.
void Heartbeat::write(double every_s) {
  try {
    const Clock::time_point since{Clock::duration(since_.load(std::memory_order_relaxed))};
    reports::write_json_atomically(
        *file_,
        {{"iteration", done_.load(std::memory_order_relaxed)},
         {"pilot", pilot_.load(std::memory_order_relaxed)},
         {"every_s", every_s},
         {"resumed_at", resumed_at_.load(std::memory_order_relaxed)},
         {"trained_s", std::chrono::duration<double>(Clock::now() - since).count()}});
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // Only `watch` needs it, and the next beat may find room on the disk.
  }
}

}  // namespace residuum
