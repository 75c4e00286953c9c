#include "core/protocols/expected_gradients.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/protocols/actors/simulation.h"
#include "core/protocols/pace.h"
#include "core/training/budget.h"

namespace residuum {
namespace {

constexpr double kMostGradients = 20'000;  // some milliseconds

/// Goes on version by version; `next` makes one and returns its gradients, `now` is its time.
template <class Next, class Now>
double gradients_until(double seconds, const Next& next, const Now& now) {
  const OpenBudget budget{.gradients = {}, .virtual_s = seconds};
  double gradients = 0;
  while (!budget.is_spent({.gradients = 0, .virtual_s = now()})) {
    if (gradients >= kMostGradients && now() > 0) {
      return gradients * (seconds / now());
    }
    gradients += next();
  }
  return gradients;
}

/// Gradients that nobody computes.
class NoEffects final : public Effects {
 public:
  void compute(const GradientId& /*gradient*/) override {}
  void hand_in(const GradientId& /*gradient*/, int /*node*/) override {}
  void collect(int /*node*/, std::span<const GradientId> /*gradients*/) override {}
  void make_version(std::uint64_t /*version*/, std::span<const GradientId> /*of*/) override {}
  void discard(const GradientId& /*gradient*/) override {}
  void waited(Wait /*cause*/, double /*seconds*/) override {}
  std::uint64_t payload_bytes(const ActorMessage& /*message*/) override { return 0; }
};

}  // namespace

std::optional<double> gradients_in_lockstep(double seconds,
                                            const Training& training,
                                            const SimulatedMachine& simulated,
                                            int workers,
                                            std::uint64_t local_steps) {
  if (simulated.measures || !has_virtual_time(simulated)) {
    return std::nullopt;
  }
  Machine machine(machine_options(training, simulated),
                  {.workers = static_cast<std::uint32_t>(workers)});
  double now = 0;
  std::uint64_t first = 0;
  const auto next = [&] {
    double last = now;
    for (std::uint32_t worker = 0; worker < static_cast<std::uint32_t>(workers); ++worker) {
      double clock = now;
      for (std::uint64_t i = 0; i < local_steps; ++i) {
        clock = machine.compute_end(worker, first + i, clock);
      }
      last = std::max(last, clock);
    }
    now = last;
    first += local_steps;
    return static_cast<double>(local_steps) * workers;
  };
  return gradients_until(seconds, next, [&] { return now; });
}

std::optional<double> gradients_of_actors(double seconds,
                                          const Training& training,
                                          const SimulatedMachine& machine,
                                          Cast cast) {
  if (!has_virtual_time(machine)) {
    return std::nullopt;
  }
  NoEffects nobody;
  Simulation simulation(std::move(cast), machine_options(training, machine), nobody);
  const auto next = [&] {
    const auto made = simulation.advance();
    return made ? static_cast<double>(made->gradients.size()) : kMostGradients;
  };
  return gradients_until(seconds, next, [&] { return simulation.time(); });
}

}  // namespace residuum
