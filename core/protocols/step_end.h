#pragma once
// How an iteration ends, as the processes agree on it once per iteration.

#include <cstdint>

#include "core/cluster/world.h"

namespace residuum {

/// Compared by which end overrides another: the first in order is the one of them all.
struct StepEnd {
  enum class Reason : std::uint8_t {
    lost_model,     // it has an entry that is not usable; what else is seen is of its making
    broken_worker,  // a gradient or an accumulator is not finite
    bad_loss,       // the loss that was evaluated is not finite, or above its bound
    stop,           // somebody asks to stop after this iteration
    save,           // somebody asks to save after it
    none,           // the run goes on
  };

  Reason reason = Reason::none;
  int worker = 0;  // the broken one, 0 for other reasons

  /// Whether the iteration cannot be done.
  bool diverged() const { return reason < Reason::stop; }
  bool operator<(const StepEnd& other) const {
    return reason != other.reason ? reason < other.reason : worker < other.worker;
  }
};

/// The first in order of what the processes have to say. Collective.
inline StepEnd agree(World& world, const StepEnd& mine) {
  constexpr unsigned kWorkerBits = 32;
  const auto first = world.minimum((static_cast<std::int64_t>(mine.reason) << kWorkerBits) |
                                   static_cast<std::int64_t>(mine.worker));
  return {.reason = static_cast<StepEnd::Reason>(first >> kWorkerBits),
          .worker = static_cast<int>(first & 0xffffffff)};
}

}  // namespace residuum
