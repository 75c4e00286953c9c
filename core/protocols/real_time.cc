#include "core/protocols/real_time.h"

#include <algorithm>
#include <thread>

namespace residuum {

RealTime::RealTime(const Training& training, const SimulatedMachine& machine)
    : training_(training) {
  if (takes_time(machine)) {
    pace_.emplace(training, machine);
  }
}

void RealTime::await_gradients(const Participants& participants,
                               std::uint64_t first,
                               std::uint64_t count) {
  if (!pace_) {
    return;
  }
  const Cluster& cluster = *training_.cluster;
  double longest = 0;
  for (int slot = 0; slot < cluster.count(); ++slot) {
    const int worker = cluster.first() + slot;
    if (participants.has(worker)) {
      longest = std::max(longest, pace_->seconds(worker, first, count, began_));
    }
  }
  constexpr double kLook = 0.05;  // seconds until a request to stop is seen
  for (double left = began_ + longest - clock_.now(); left > 0 && !is_asked_to_stop();
       left = began_ + longest - clock_.now()) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, kLook)));
  }
}

bool RealTime::is_asked_to_stop() const {
  return training_.stop != nullptr && training_.stop->load();
}

void RealTime::save_or_load(RunState& state) {
  double seconds = clock_.now();
  state.shared(seconds);
  if (state.loads()) {
    clock_.set(seconds);
  }
}

std::optional<RealTime> real_time_of(const Training& training, const SimulatedMachine& machine) {
  return machine.is_real ? std::optional<RealTime>(std::in_place, training, machine) : std::nullopt;
}

}  // namespace residuum
