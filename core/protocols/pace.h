#pragma once
// A pace makes gradients of real workers last as long as a study says, by the law and the draws
// that virtual time has for the same gradients.

#include <cstdint>

#include "core/protocols/actors/machine.h"
#include "core/protocols/simulated_machine.h"
#include "core/training/training.h"

namespace residuum {

/// Returns what the machine says of gradients, for the random draws of this training.
MachineOptions machine_options(const Training& training, const SimulatedMachine& machine);

class Pace {
 public:
  /// The training's sleeper, if it has one, must outlive the pace.
  Pace(const Training& training, const SimulatedMachine& machine);

  /// Returns for how many seconds the gradients first .. first + count - 1 of a worker are to last,
  /// one after the other, if it begins at `start` seconds of the run. Starts of one worker must not
  /// decrease.
  double seconds(int worker, std::uint64_t first, std::uint64_t count, double start);

 private:
  Machine machine_;
  Sleeper* sleeper_;
};

}  // namespace residuum
