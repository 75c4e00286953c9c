#include "core/protocols/pace.h"

namespace residuum {

MachineOptions machine_options(const Training& training, const SimulatedMachine& machine) {
  return {.seed = training.seed,
          .compute = machine.compute,
          .speeds = machine.speeds,
          .stragglers = machine.stragglers};
}

Pace::Pace(const Training& training, const SimulatedMachine& machine)
    : machine_(machine_options(training, machine),
               {.workers = static_cast<std::uint32_t>(training.cluster->workers())}),
      sleeper_(training.sleeper) {}

double Pace::seconds(int worker, std::uint64_t first, std::uint64_t count, double start) {
  double lasts = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double begin = start + lasts;
    const double drawn =
        machine_.compute_end(static_cast<std::uint32_t>(worker), first + i, begin) - begin;
    lasts += sleeper_ != nullptr ? sleeper_->asked(worker, first + i, drawn) : drawn;
  }
  return lasts;
}

}  // namespace residuum
