#pragma once
// A simulated machine is what a study says in [protocol] of how long gradients take in virtual
// time. The links between workers are those of [network].

#include <string>
#include <vector>

#include "core/config/section.h"
#include "core/protocols/actors/machine.h"

namespace residuum {

struct SimulatedMachine {
  TimeLaw compute = TimeLaw::constant(1);
  bool measures = false;  // gradients take what they took on this machine
  std::vector<double> speeds = {};
  std::string speeds_place = {};  // where they were given, for messages
  Stragglers stragglers = {};
};

/// Reads `compute` (seconds of one gradient: a number, "exponential:MEAN", "lognormal:MEDIAN,SIGMA"
/// or "pareto:LEAST,ALPHA"; 1 if it is missing), `speeds` (a list, one number for each worker), and
/// `straggler_factor` with `straggler_every_s` and `straggler_lasts_s`. A value that is out of
/// range is a usage error.
SimulatedMachine read_machine(const Section& section);

/// Reads the same for a protocol in lockstep, whose virtual clocks show times and decide nothing:
/// `compute` may also be "measured", and where it is missing gradients take no time.
SimulatedMachine read_lockstep_machine(const Section& section);

/// True if gradients of a protocol in lockstep take time.
inline bool takes_time(const SimulatedMachine& machine) {
  return machine.measures || !machine.compute.is_zero();
}

/// Accepts the same keys without reading them.
void know_machine(const Section& section);

/// Reports a usage error if the speeds are not those of so many workers.
void check_speeds(const SimulatedMachine& machine, int workers);

}  // namespace residuum
