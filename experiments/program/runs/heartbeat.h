#pragma once
// A heartbeat says in runs/<run_id>/heartbeat.json where a run is, for `residuum watch`: rows of
// tables come in blocks, and pilot runs and evaluations write none. A thread of its own writes it,
// so that an iteration costs one store.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "core/output_file.h"

namespace residuum {

class Heartbeat {
 public:
  /// Between two beats lies at least a period, and so many times what the last one took: beats take
  /// at most 0.1 % of the time.
  struct Pace {
    std::chrono::milliseconds period{1000};
    int times = 1000;
  };

  Heartbeat() : Heartbeat(Pace{}) {}
  explicit Heartbeat(Pace pace) : pace_(pace) {}
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  Heartbeat(Heartbeat&&) = delete;
  Heartbeat& operator=(Heartbeat&&) = delete;
  ~Heartbeat() = default;

  /// Beats for a run from one period on, and removes what an earlier start has left. A file that
  /// cannot be written ends the beats of the run, not the run.
  void begin(const OutputPath& run_folder, std::uint64_t done);
  /// Ends the beats and removes the file.
  void end();

  /// Notes how many iterations the training has done. It may be called by any thread.
  void iteration(std::uint64_t done) { done_.store(done, std::memory_order_relaxed); }
  /// Notes how many iterations a pilot run has done, the first being 1; 0 for the training itself.
  void pilot(int number, std::uint64_t done) {
    pilot_.store(number, std::memory_order_relaxed);
    iteration(done);
  }

 private:
  void beat(const std::stop_token& stop);
  void write(double every_s);

  Pace pace_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<int> pilot_{0};
  std::mutex mutex_;  // guards what follows
  std::optional<OutputPath> file_;
  std::uint64_t begun_ = 0;  // counts the runs, so that a pause does not outlast its run
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last member: it ends before the others go
};

}  // namespace residuum
