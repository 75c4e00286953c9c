// `residuum bench protocols` times protocols with late gradients: events of the simulation alone,
// and trainings of 1024 workers per gradient against bsp, which takes as many.

#include <fmt/format.h>

#include <array>
#include <memory>
#include <span>

#include "core/protocols/actors/inhad.h"
#include "core/protocols/actors/simulation.h"
#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_training.h"

namespace residuum {
namespace {

/// Does nothing of what the actors decide, so that the events alone are timed.
class NoEffects final : public Effects {
 public:
  void compute(const GradientId& /*gradient*/) override {}
  void hand_in(const GradientId& /*gradient*/, int /*node*/) override {}
  void collect(int /*node*/, std::span<const GradientId> /*gradients*/) override {}
  void make_version(std::uint64_t /*version*/, std::span<const GradientId> /*list*/) override {}
  void discard(const GradientId& /*gradient*/) override {}
  void waited(Wait /*cause*/, double /*seconds*/) override {}
  std::uint64_t payload_bytes(const ActorMessage& /*message*/) override { return 0; }
};

/// Simulates InHAD on 16 nodes of 4 workers with times of every kind, for a million events.
void simulate_events() {
  NoEffects effects;
  Simulation simulation(make_inhad({.nodes = 16,
                                    .workers = 64,
                                    .quota = 64,
                                    .staleness = 4,
                                    .cap = 4,
                                    .versions = kMillion}),
                        {.compute = TimeLaw::log_normal(0, 0.5),
                         .stragglers = {.factor = 4, .normal_seconds = 50, .slow_seconds = 5},
                         .delay = linear_delay(1e-3, 1e-9),
                         .jitter = TimeLaw::exponential(1e-3)},
                        effects);
  for (std::uint64_t events = 0; events < kMillion;) {
    events += simulation.advance().value().events;
  }
}

constexpr int kGradients = 1 << 16;
constexpr int kManyWorkers = 1024;

constexpr std::string_view kStudy = R"(schema = 1
name = "bench-protocols"
seeds = 1
[objective]
kind = "logistic"
{}
[workers]
count = {}
batch = 32
[sparsifier]
kind = "top-k"
density = 0.1
[aggregator]
kind = "allgather"
[protocol]
{}
[step]
value = 0.1
[budget]
iterations = {}
[probes]
names = []
)";

struct ProtocolCase {
  const char* name;
  const char* section;
  int versions;  // of so many gradients together
};

void add_training(const ProtocolCase& one, const Options& options) {
  const char* data = has_a9a(options)
                         ? "data = \"a9a\""
                         : "data = \"synthetic-logistic\"\nrows = 32561\nfeatures = 123";
  const auto training = std::make_shared<TimedTraining>(
      fmt::format(fmt::runtime(kStudy), data, kManyWorkers, one.section, one.versions),
      options,
      Output::nothing);
  add_benchmark(one.name, [training] { (*training)(); });
}

}  // namespace

void bench_protocols(std::vector<Measure>& measures, const Options& options) {
  constexpr double kMostNanoseconds = 5000;  // a million events in 5 s
  add_benchmark("protocols/events", simulate_events);
  measures.push_back({.id = "P9",
                      .name = "an event of the simulation, InHAD of 64 workers",
                      .benchmark = "protocols/events",
                      .baseline = "",
                      .faster_than = false,
                      .target = kMostNanoseconds,
                      .entries = kMillion,
                      .of_value = true});
  const ProtocolCase lockstep{
      .name = "protocols/bsp", .section = "kind = \"bsp\"", .versions = kGradients / kManyWorkers};
  const auto late = std::to_array<ProtocolCase>(
      {{"protocols/asp", "kind = \"asp\"\ncompute = \"exponential:1\"", kGradients},
       {"protocols/ssp", "kind = \"ssp\"\nstaleness = 2\ncompute = \"exponential:1\"", kGradients},
       {"protocols/inhad",
        "kind = \"inhad\"\nnodes = 256\nquota = 1024\nstaleness = 0",
        kGradients / kManyWorkers}});
  add_training(lockstep, options);
  measures.push_back(
      {.id = "",
       .name = fmt::format(
           "a gradient of {} under bsp, P = {}", logistic_data_name(options), kManyWorkers),
       .benchmark = lockstep.name,
       .baseline = "",
       .faster_than = false,
       .target = std::nullopt,
       .entries = kGradients});
  for (const ProtocolCase& one : late) {
    add_training(one, options);
    measures.push_back({.id = "P10",
                        .name = fmt::format("the same under {}", one.name + sizeof("protocols")),
                        .benchmark = one.name,
                        .baseline = lockstep.name,
                        .faster_than = false,
                        .target = 1.5,
                        .entries = kGradients,
                        .of_baseline = kGradients});
  }
}

}  // namespace residuum
