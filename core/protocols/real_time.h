#pragma once
// Real time of a run in lockstep with `execution = "real"`: the wall clock takes the place of
// virtual time, and gradients last as long as the study says.
//
//   wall clock    |begin ----------------------------- ready|select, exchange, update ---|
//   worker 0      |gradient|......... waits ..........       |
//   worker 1      |gradient|................ waits .........|
//
// Workers of one process compute one after the other, but wait together: the process goes on when
// the last of them is ready, as if each had a core.

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/cluster/run_state.h"
#include "core/protocols/pace.h"
#include "core/training/worker.h"

namespace residuum {

/// A wall clock has the seconds of a run, with those before an interruption.
class WallClock {
 public:
  double now() const {
    return before_ + std::chrono::duration<double>(Clock::now() - started_).count();
  }
  /// Sets what the clock shows now.
  void set(double seconds) {
    before_ = seconds;
    started_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double before_ = 0;
  Clock::time_point started_ = Clock::now();
};

class RealTime {
 public:
  RealTime(const Training& training, const SimulatedMachine& machine);

  /// Records that the workers' gradients begin.
  void begin() { began_ = clock_.now(); }
  /// Waits until those workers of this process that take part may have their gradients, `count` of
  /// each from number `first` on; not where the run is asked to stop.
  void await_gradients(const Participants& participants, std::uint64_t first, std::uint64_t count);
  /// Returns the wall seconds from the start of the run.
  double now() const { return clock_.now(); }

  void save_or_load(RunState& state);

 private:
  bool is_asked_to_stop() const;

  const Training& training_;
  WallClock clock_;
  std::optional<Pace> pace_;  // none where gradients take the time that they take here
  double began_ = 0;
};

/// Returns the real time of a run in lockstep; none where its time is virtual.
std::optional<RealTime> real_time_of(const Training& training, const SimulatedMachine& machine);

}  // namespace residuum
