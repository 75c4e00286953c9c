#pragma once
// A simulated machine has the durations of gradients from [protocol] of a study, in virtual time
// or, for real workers, on the wall clock. The links between workers are those of [network].

#include <string>
#include <vector>

#include "core/config/section.h"
#include "core/protocols/actors/machine.h"

namespace residuum {

struct SimulatedMachine {
  TimeLaw compute = TimeLaw::constant(1);
  bool measures = false;  // gradients take what they took on this machine
  bool is_real = false;   // workers wait until so much time has passed on the wall clock
  std::vector<double> speeds = {};
  std::string speeds_place = {};  // where they were given, for messages
  Stragglers stragglers = {};
};

/// Reads `compute` (seconds of one gradient: a number, "exponential:MEAN", "lognormal:MEDIAN,SIGMA"
/// or "pareto:LEAST,ALPHA"; 1 if it is missing), `speeds` (a list, one number for each worker), and
/// `straggler_factor` with `straggler_every_s` and `straggler_lasts_s`. A value that is out of
/// range is a usage error.
SimulatedMachine read_machine(const Section& section);

/// Reads `execution`, which is "simulated" where it is missing; true for "real".
bool read_is_real(const Section& section);

/// Reads the same for real workers, whose gradients take the time that they take where `compute` is
/// missing.
SimulatedMachine read_real_machine(const Section& section);

/// Reads the same for a protocol in lockstep, with its `execution`. Virtual clocks show times and
/// decide nothing: `compute` may also be "measured", and where it is missing gradients take no
/// time.
SimulatedMachine read_lockstep_machine(const Section& section);

/// True if the study gives the time of gradients, or has it measured.
inline bool takes_time(const SimulatedMachine& machine) {
  return machine.measures || !machine.compute.is_zero();
}

/// True if these times are virtual.
inline bool has_virtual_time(const SimulatedMachine& machine) {
  return takes_time(machine) && !machine.is_real;
}

/// Reports a usage error unless there is one speed for each of `workers` workers.
void check_speeds(const SimulatedMachine& machine, int workers);

}  // namespace residuum
