// The simulation gives the same events every time, goes on from a saved state, knows which models
// are still needed, and charges bytes and time as it says.

#include "core/protocols/actors/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/protocols/actors/inhad.h"
#include "core/protocols/actors/parameter_server.h"
#include "tests/core/protocols/actors/witness.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using test::Witness;

Cast small_inhad(std::uint64_t versions = 40) {
  return make_inhad(
      {.nodes = 2, .workers = 6, .quota = 4, .staleness = 2, .cap = 3, .versions = versions});
}

Cast small_ssp(std::uint64_t versions = 40) {
  return make_parameter_server({.workers = 5, .staleness = 1, .versions = versions});
}

/// Returns a machine on which nothing is regular.
MachineOptions rough_machine(std::uint64_t seed = 1) {
  return {.seed = seed,
          .compute = TimeLaw::log_normal(0, 1),
          .stragglers = {.factor = 5, .normal_seconds = 3, .slow_seconds = 2},
          .delay = linear_delay(0.01, 1e-4),
          .jitter = TimeLaw::exponential(0.5)};
}

std::vector<SimulatedVersion> remaining_versions(Simulation& simulation) {
  std::vector<SimulatedVersion> all;
  while (auto notes = simulation.advance()) {
    all.push_back(*std::move(notes));
  }
  return all;
}

TEST(Simulation, RepeatsItselfToTheBit) {
  for (Cast (*make)(std::uint64_t) : {&small_inhad, &small_ssp}) {
    Witness first_witness(100);
    Witness second_witness(100);
    Simulation first(make(40), rough_machine(), first_witness);
    Simulation second(make(40), rough_machine(), second_witness);

    const auto notes = remaining_versions(first);

    EXPECT_EQ(notes.size(), 40U);
    EXPECT_TRUE(notes == remaining_versions(second));
    EXPECT_EQ(first_witness.calls(), second_witness.calls());
    EXPECT_EQ(first.time(), second.time());
  }
}

TEST(Simulation, DependsOnItsSeed) {
  Witness witness;
  Witness other_witness;
  Simulation simulation(small_inhad(), rough_machine(1), witness);
  Simulation other(small_inhad(), rough_machine(2), other_witness);

  EXPECT_FALSE(remaining_versions(simulation) == remaining_versions(other));
}

TEST(Simulation, GoesOnFromASavedStateWithTheSameEvents) {
  for (Cast (*make)(std::uint64_t) : {&small_inhad, &small_ssp}) {
    for (const int versions_before : {0, 1, 7, 20, 39, 40}) {
      Witness witness(100);
      Witness resumed_witness(100);
      Simulation original(make(40), rough_machine(), witness);
      Simulation twin(make(40), rough_machine(), resumed_witness);
      for (int i = 0; i < versions_before; ++i) {
        original.advance();
        twin.advance();
      }
      const auto saved = original.save();
      Simulation resumed(make(40), rough_machine(), resumed_witness);

      resumed.load(saved);

      EXPECT_EQ(resumed.save(), saved);
      EXPECT_EQ(resumed.made(), original.made());
      EXPECT_EQ(resumed.needed_versions(), original.needed_versions());
      EXPECT_TRUE(remaining_versions(resumed) == remaining_versions(original));
      EXPECT_EQ(resumed_witness.calls(), witness.calls());
    }
  }
}

TEST(Simulation, RefusesADamagedState) {
  Witness witness;
  Simulation simulation(small_inhad(), rough_machine(), witness);
  simulation.advance();
  auto saved = simulation.save();
  Simulation other(small_ssp(), rough_machine(), witness);
  EXPECT_NE(error_of([&] { other.load(saved); }), "");
  saved.push_back({});
  EXPECT_EQ(error_of([&] { simulation.load(saved); }),
            "the saved state is not one of this protocol: it is too long");
  for (std::size_t size = 0; size + 1 < saved.size(); ++size) {
    EXPECT_NE(error_of([&] { simulation.load(std::span(saved).first(size)); }), "");
  }
}

/// Frees every model that a simulation no longer needs, and expects the others to suffice.
class ModelStore final : public Effects {
 public:
  void compute(const GradientId& gradient) override {
    EXPECT_TRUE(models.contains(gradient.base)) << gradient.base;
  }
  void make_version(std::uint64_t version, std::span<const GradientId> /*gradients*/) override {
    models.insert(version);
  }
  void hand_in(const GradientId& /*gradient*/, int /*node*/) override {}
  void collect(int /*node*/, std::span<const GradientId> /*gradients*/) override {}
  void discard(const GradientId& /*gradient*/) override {}
  void waited(Wait /*cause*/, double /*seconds*/) override {}
  std::uint64_t payload_bytes(const ActorMessage& /*message*/) override { return 0; }

  void keep_only(const std::vector<std::uint64_t>& needed) {
    for (const std::uint64_t version : needed) {
      EXPECT_TRUE(models.contains(version)) << version;
    }
    models = {needed.begin(), needed.end()};
  }

  std::set<std::uint64_t> models = {0};
};

TEST(Simulation, NeedsNoModelThatItDoesNotName) {
  for (Cast (*make)(std::uint64_t) : {&small_inhad, &small_ssp}) {
    ModelStore store;
    Simulation simulation(make(200), rough_machine(), store);
    std::size_t most = 0;

    while (simulation.advance()) {
      store.keep_only(simulation.needed_versions());
      most = std::max(most, store.models.size());
    }

    EXPECT_GT(most, 1U);
    EXPECT_LE(most, 20U);
    EXPECT_EQ(simulation.needed_versions(), std::vector<std::uint64_t>{200});
  }
}

TEST(Simulation, ChargesTheBytesOfInhadAsTheTheoryCountsThem) {
  // Lockstep with N = 2, M = 4. A version has 4 IN of 24 bytes (and, but for the first, 4 START), 2
  // PULL of 16, 2 AGG of 16 + 2 * 16, 2 MODEL of 16; up and down N payloads each (theory 10.4).
  Witness witness(1000);
  Simulation simulation(
      make_inhad({.nodes = 2, .workers = 4, .quota = 4, .staleness = 0, .cap = 1, .versions = 3}),
      {},
      witness);

  constexpr std::uint64_t kWithoutStarts = 4 * 24 + 2 * 16 + 2 * 48 + 2 * 16;
  for (const std::uint64_t starts : {0, 4}) {
    const auto notes = simulation.advance();
    EXPECT_EQ(notes->control_bytes, kWithoutStarts + starts * 24);
    EXPECT_EQ(notes->bytes_up, 2000U);
    EXPECT_EQ(notes->bytes_down, 2000U);
  }
}

TEST(Simulation, ChargesEachLinkByItsBytes) {
  // READ 16 bytes up, MODEL 16 + 100 down, 1 s of work, push 24 + 100 up.
  Witness witness(100);
  Simulation simulation(make_parameter_server({.workers = 1, .versions = 2}),
                        {.delay = linear_delay(0.5, 0.25)},
                        witness);

  const auto first = simulation.advance();

  EXPECT_EQ(first->time, (0.5 + 4) + (0.5 + 29) + 1 + (0.5 + 31));
  EXPECT_EQ(first->waited(Wait::idle), (0.5 + 4) + (0.5 + 29));
}

TEST(Simulation, ReportsWhatTheServerWaitsFor) {
  // Worker 1 takes 10 s. With C = 1 and s = 1 the server makes versions 1 and 2 of worker 0 alone
  // at 1 s and 2 s, then waits for worker 1 until 10 s.
  Witness witness;
  Simulation simulation(
      make_inhad({.nodes = 2, .workers = 2, .quota = 1, .staleness = 1, .versions = 4}),
      {.speeds = {1, 0.1}},
      witness);

  EXPECT_EQ(simulation.advance()->waited(Wait::quota), 1);
  const auto second = simulation.advance();

  EXPECT_EQ(second->time, 10);
  EXPECT_EQ(second->waited(Wait::quota), 1);
  EXPECT_EQ(second->waited(Wait::staleness), 8);
}

TEST(Simulation, RefusesAMachineThatDoesNotFit) {
  Witness witness;
  const auto error = [&](const MachineOptions& machine) {
    return error_of([&] { const Simulation simulation(small_ssp(), machine, witness); });
  };
  EXPECT_EQ(error({.speeds = {1, 2}}), "2 speeds are given for 5 workers; give one for each");
  EXPECT_EQ(error({.speeds = {1, 2, 0, 1, 1}}), "a worker has a speed of 0; set it > 0");
  EXPECT_EQ(error({.compute = TimeLaw::pareto(1, 0)}),
            "the compute time has Pareto parameters scale = 1 and alpha = 0; set both > 0");
  EXPECT_EQ(error({.jitter = TimeLaw::constant(-1)}),
            "the jitter of links takes a constant of -1 seconds; set a finite number >= 0");
  EXPECT_EQ(error({.stragglers = {.factor = 0.5}}),
            "stragglers are slowed by a factor of 0.5; set it >= 1");
}

}  // namespace
}  // namespace residuum
