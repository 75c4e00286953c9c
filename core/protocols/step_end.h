#pragma once
// A StepEnd says how an iteration ends; the processes agree on it once per iteration.

#include <cstdint>

#include "core/cluster/world.h"

namespace residuum {

/// Ends are ordered by priority: the first of those that the processes demand holds for all.
struct StepEnd {
  enum class Reason : std::uint8_t {
    lost_model,     // the model has an entry that is not usable; other findings follow from it
    broken_worker,  // a gradient or an accumulator is not finite
    bad_loss,       // the loss that was evaluated is not finite, or above its bound
    stop,           // a signal asks to stop after this iteration
    save,           // a checkpoint is due after it
    none,           // the run goes on
  };

  Reason reason = Reason::none;
  int worker = 0;  // the broken one, 0 for other reasons
  /// False if a run that is not in lockstep was halted before the version was made.
  bool made = true;

  /// True if the iteration cannot be done.
  bool diverged() const { return reason < Reason::stop; }
  bool operator<(const StepEnd& other) const {
    return reason != other.reason ? reason < other.reason : worker < other.worker;
  }
};

/// Returns the first, in order, of the ends that the processes demand. The call is collective.
inline StepEnd agree(World& world, const StepEnd& mine) {
  constexpr unsigned kWorkerBits = 32;
  const auto first = world.minimum((static_cast<std::int64_t>(mine.reason) << kWorkerBits) |
                                   static_cast<std::int64_t>(mine.worker));
  return {.reason = static_cast<StepEnd::Reason>(first >> kWorkerBits),
          .worker = static_cast<int>(first & 0xffffffff)};
}

}  // namespace residuum
