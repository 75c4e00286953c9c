#pragma once
// The number of gradients that workers make in given seconds of virtual time, computed before a run
// by the machine that the run has. Messages take no time here: how large they are is not known yet.

#include <cstdint>
#include <optional>

#include "core/protocols/actors/actor.h"
#include "core/protocols/simulated_machine.h"
#include "core/training/training.h"

namespace residuum {

/// Returns the gradients that P workers in lockstep make together up to the first version at which
/// `seconds` are over; nothing where gradients take no virtual time. Each takes `local_steps`
/// gradients for a version and waits for the slowest. Beyond 20000 gradients it goes by the mean
/// pace up to there.
std::optional<double> gradients_in_lockstep(double seconds,
                                            const Training& training,
                                            const SimulatedMachine& simulated,
                                            int workers,
                                            std::uint64_t local_steps);

/// Returns the gradients that all workers of `cast` make up to the first version at which `seconds`
/// are over, where gradients may be late; nothing where gradients take no virtual time.
std::optional<double> gradients_of_actors(double seconds,
                                          const Training& training,
                                          const SimulatedMachine& machine,
                                          Cast cast);

}  // namespace residuum
