// A training that was stopped and goes on from its state ends where one that was not stopped ends,
// to the bit, also at another number of processes.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "core/protocols/protocol.h"
#include "core/vectors/stand_in_device.h"
#include "tests/core/thread_world.h"
#include "tests/core/trainer/counting.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

/// A state in memory, as the root would write it to a disk.
struct Stored {
  std::uint64_t iterations = 0;
  Bytes bytes;
};

/// Of one process. Every save replaces the one before.
class MemoryCheckpoints final : public Checkpoints {
 public:
  MemoryCheckpoints(World& world, int workers, Stored& stored)
      : cluster_(world, workers), stored_(stored) {}

  std::uint64_t load(const SaveOrLoad& save_or_load) override {
    if (stored_.iterations == 0) {
      return 0;
    }
    expect_measured(save_or_load);
    StateReader reader(stored_.bytes);
    RunState state(cluster_, stream(reader), RunState::Direction::load);
    save_or_load(state);
    EXPECT_TRUE(!state.is_root() || reader.is_at_end());
    EXPECT_FALSE(state.damage());
    return stored_.iterations;
  }
  bool due() override { return false; }
  void save(std::uint64_t iterations, const SaveOrLoad& save_or_load) override {
    Bytes bytes;
    StateWriter writer(bytes);
    RunState state(cluster_, stream(writer), RunState::Direction::save);
    save_or_load(state);
    if (state.is_root()) {
      stored_ = {.iterations = iterations, .bytes = std::move(bytes)};
    }
  }

 private:
  StateStream* stream(StateStream& on_root) const {
    return cluster_.world().is_root() ? &on_root : nullptr;
  }

  /// Measuring a state must read all of its bytes, as loading it does.
  void expect_measured(const SaveOrLoad& save_or_load) const {
    if (cluster_.world().is_root()) {
      StateReader reader(stored_.bytes);
      RunState state(cluster_, &reader, RunState::Direction::measure);
      save_or_load(state);
      EXPECT_TRUE(reader.is_at_end());
    }
  }

  Cluster cluster_;
  Stored& stored_;
};

/// Asks for a stop after some iterations.
class Stopper final : public StepObserver {
 public:
  Stopper(std::uint64_t after, std::atomic<bool>& stop) : after_(after), stop_(stop) {}
  void observe(const StepView& /*view*/) override {}
  void progress(std::uint64_t done, std::uint64_t /*total*/) override {
    if (done + 1 == after_) {
      stop_.store(true);
    }
  }

 private:
  std::uint64_t after_;
  std::atomic<bool>& stop_;
};

constexpr std::uint64_t kStopAfter = 7;

/// Stops on `before` processes and goes on with `after`; the frames that are measured then. Each
/// process has a device of its own, if the recipe has one.
std::vector<test::Frame> stopped_and_resumed(const Objective& objective,
                                             Recipe recipe,
                                             int before,
                                             int after) {
  Stored stored;
  std::atomic<bool> stop = false;
  test::on_processes(before, [&](World& world) {
    MemoryCheckpoints checkpoints(world, recipe.workers, stored);
    const StandInDevice device;
    Recipe first = recipe;
    first.device = recipe.device != nullptr ? &device : nullptr;
    first.checkpoints = &checkpoints;
    first.stop = &stop;
    Stopper stopper(kStopAfter, stop);
    const auto outcome = test::train(world, objective, first, stopper);
    EXPECT_EQ(outcome.state, Outcome::State::stopped);
  });
  EXPECT_EQ(stored.iterations, kStopAfter);
  std::vector<test::Frame> frames;
  test::on_processes(after, [&](World& world) {
    MemoryCheckpoints checkpoints(world, recipe.workers, stored);
    const StandInDevice device;
    Recipe second = recipe;
    second.device = recipe.device != nullptr ? &device : nullptr;
    second.checkpoints = &checkpoints;
    test::FrameKeeper keeper;
    const auto outcome = test::train(world, objective, second, keeper);
    EXPECT_EQ(outcome.state, Outcome::State::finished);
    EXPECT_EQ(outcome.iterations, recipe.iterations);
    if (world.is_root()) {
      frames = std::move(keeper.frames);
    }
  });
  return frames;
}

Recipe watched(Recipe recipe) {
  recipe.workers = 5;
  recipe.iterations = 20;
  recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
  recipe.evaluated = Json(1);
  recipe.virtual_points = Json(3);
  recipe.compares_points = true;
  recipe.unperturbed = true;
  recipe.averages_iterates = true;
  return recipe;
}

void expect_resumes(const Objective& objective, const Recipe& recipe) {
  auto whole = test::train(objective, recipe).frames;
  std::erase_if(whole, [](const test::Frame& frame) { return frame.iteration < kStopAfter; });
  for (const auto& [before, after] : {std::pair(1, 1), std::pair(2, 3), std::pair(5, 1)}) {
    SCOPED_TRACE(test::name_of(recipe) + " " + std::to_string(before) + " then " +
                 std::to_string(after));
    test::expect_same_frames(stopped_and_resumed(objective, recipe, before, after), whole);
  }
}

TEST(Resumed, EveryMethodGoesOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (Recipe recipe : test::methods()) {
    for (const char* units : {"step", "gradient"}) {
      recipe.feedback["units"] = units;
      recipe.momentum = units[0] == 's' ? 0 : 0.9;
      expect_resumes(objective, watched(recipe));
    }
  }
}

TEST(Resumed, MemoriesOnADeviceGoOnToTheSameBits) {
  auto objective = test::noisy_quadratic(12, 0.5);
  const StandInDevice device;
  for (const char* feedback : {"ef14", "ef21", "none"}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                  .aggregator = {{"kind", "gtopk-tree"}},
                  .feedback = {{"kind", feedback}}};
    recipe.precision = Precision::float32;
    recipe.device = &device;
    expect_resumes(objective, watched(recipe));
    objective.compute_there();
    expect_resumes(objective, watched(recipe));
  }
}

TEST(Resumed, QuantisedMethodsGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const Recipe& recipe : test::quantised_methods()) {
    expect_resumes(objective, watched(recipe));
  }
}

TEST(Resumed, VersionsOfSomeWorkersGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (Recipe recipe : test::methods()) {
    recipe.participants = 2;
    expect_resumes(objective, watched(recipe));
    recipe.measured = 3;
    expect_resumes(objective, watched(recipe));
  }
  for (const char* feedback : {"ef21", "ef21-sgdm"}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                  .aggregator = {{"kind", "gtopk-tree"}},
                  .feedback = {{"kind", feedback}}};
    recipe.participants = 2;
    expect_resumes(objective, watched(recipe));
  }
  for (const char* optimiser : {"momentum", "adamw", "lion", "muon"}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}}};
    recipe.participants = 3;
    recipe.local = {{"optimiser", optimiser}};
    expect_resumes(objective, watched(recipe));
  }
}

TEST(Resumed, GradientEstimatesGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const char* kind : {"ef21", "ef21-sgdm"}) {
    for (const auto precision : {Precision::float32, Precision::float64}) {
      Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                    .aggregator = {{"kind", "gtopk-tree"}},
                    .feedback = {{"kind", kind}}};
      recipe.precision = precision;
      recipe.momentum = 0.5;
      recipe.weight_decay = 0.1;
      expect_resumes(objective, watched(recipe));
    }
  }
}

TEST(Resumed, LowRankApproximationsGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const bool warm_start : {true, false}) {
    for (const auto precision : {Precision::float32, Precision::float64}) {
      for (const char* feedback : {"ef14", "ef21"}) {
        Recipe recipe{.aggregator = {{"kind", "powersgd"}, {"rank", 2}, {"warm_start", warm_start}},
                      .feedback = {{"kind", feedback}}};
        recipe.precision = precision;
        expect_resumes(objective, watched(recipe));
      }
    }
  }
  for (const char* feedback : {"ef14", "ef21"}) {
    expect_resumes(objective,
                   watched({.aggregator = {{"kind", "arc-top-k"}, {"rank", 1}, {"density", 0.34}},
                            .feedback = {{"kind", feedback}}}));
  }
}

TEST(Resumed, LocalStepsWithAnOuterMomentumGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 3}}));
  for (const bool looks_ahead : {false, true}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                  .aggregator = {{"kind", "gtopk-tree"}}};
    recipe.protocol = local.get();
    recipe.momentum = 0.6;
    recipe.looks_ahead = looks_ahead;
    recipe.outer_step = 0.7;
    expect_resumes(objective, watched(recipe));
  }
}

TEST(Resumed, SignsOfUpdatesGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                .aggregator = {{"kind", "allgather"}, {"weighting", "senders"}},
                .feedback = {{"kind", "ef14"}, {"decay", 0.75}}};
  recipe.update_rule = UpdateRule::signs;
  recipe.weight_decay = 0.1;
  expect_resumes(objective, watched(recipe));
}

TEST(Resumed, OptimisersOfWorkersGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 3}}));
  for (const char* optimiser : {"momentum", "adamw", "lion", "muon"}) {
    for (const bool exchanges_often : {true, false}) {
      Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                    .aggregator = {{"kind", "allgather"}}};
      recipe.protocol = exchanges_often ? nullptr : local.get();
      recipe.local = {{"optimiser", optimiser}};
      expect_resumes(objective, watched(recipe));
    }
  }
  Recipe averaged{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                  .aggregator = {{"kind", "allgather"}}};
  averaged.local = {{"optimiser", "adamw"}, {"average_every", {2, 3}}};
  expect_resumes(objective, watched(averaged));
}

TEST(Resumed, LateGradientsGoOnToTheSameBitsWithWhatIsUnderWay) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const Json& section : {Json{{"kind", "asp"}, {"compute", "exponential:1"}},
                              Json{{"kind", "ssp"}, {"staleness", 1}, {"speeds", {1, 2, 3, 4, 5}}},
                              Json{{"kind", "inhad"},
                                   {"nodes", 5},
                                   {"quota", 3},
                                   {"cap", "unlimited"},
                                   {"staleness", 2},
                                   {"weights", "per-worker"},
                                   {"compute", "pareto:1,1.2"},
                                   {"straggler_factor", 3},
                                   {"straggler_every_s", 2},
                                   {"straggler_lasts_s", 1}}}) {
    const auto protocol = make_protocol(Section("protocol", section));
    for (const Json& sparsifier : {Json{{"kind", "none"}}, Json{{"kind", "top-k"}, {"k", 2}}}) {
      Recipe recipe{.sparsifier = sparsifier, .aggregator = {{"kind", "allgather"}}};
      recipe.protocol = protocol.get();
      recipe.networks = {{.links = {.alpha_s = 0.7, .beta_s_per_byte = 0.001}}};
      recipe.momentum = 0.6;
      recipe.split = Json(2);
      expect_resumes(objective, watched(recipe));
    }
  }
}

TEST(Resumed, RoundsThatWaitForTheirExchangeGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const int lag : {1, 3}) {
    const auto protocol = make_protocol(
        Section("protocol", Json{{"kind", "bsp"}, {"lag", lag}, {"compute", "exponential:1"}}));
    for (const Json& sparsifier : {Json{{"kind", "none"}}, Json{{"kind", "top-k"}, {"k", 2}}}) {
      Recipe recipe{.sparsifier = sparsifier, .aggregator = {{"kind", "allgather"}}};
      recipe.protocol = protocol.get();
      recipe.networks = {{.links = {.alpha_s = 0.7, .beta_s_per_byte = 0.001}}};
      recipe.momentum = 0.6;
      recipe.split = Json(2);
      expect_resumes(objective, watched(recipe));
    }
  }
}

TEST(Resumed, ModelsOfNeighboursGoOnToTheSameBits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const char* mixing : {"plain", "choco"}) {
    const bool compresses = mixing[0] == 'c';
    Json keys{{"kind", "gossip"}, {"graph", "ring"}, {"mixing", mixing}};
    if (compresses) {
      keys["consensus_step"] = 0.4;
    }
    const auto gossip = make_protocol(Section("protocol", keys));
    for (const auto precision : {Precision::float32, Precision::float64}) {
      Recipe recipe{.feedback = {{"kind", "none"}}};
      recipe.sparsifier = compresses ? Json{{"kind", "top-k"}, {"k", 2}} : Json{{"kind", "none"}};
      recipe.protocol = gossip.get();
      recipe.precision = precision;
      expect_resumes(objective, watched(recipe));
    }
  }
}

// All losses are averages of what each worker has counted in its statistics so far.
TEST(Resumed, RunningStatisticsGoOnToTheSameBits) {
  const test::Counting objective;
  expect_resumes(objective, watched({}));
}

// The last step before the stop takes the model beyond the floats; in gradient units nothing else.
void expect_stays_lost(double gradient_of_last, double step, const std::string& message) {
  const test::TinyObjective objective(
      {1.0}, [=](const Draw& draw, std::span<const double>, std::span<double> gradient) {
        gradient[0] = draw.iteration + 1 == kStopAfter ? gradient_of_last : 0;
      });
  Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", "gradient"}}, .step = {{"value", step}}};
  recipe.workers = 2;  // whose sum can overflow where none does
  recipe.iterations = 20;
  recipe.precision = Precision::float32;
  const auto whole = test::train(objective, recipe).outcome;
  ASSERT_EQ(whole.message, message);

  const auto world = make_single_process();
  Stored stored;
  MemoryCheckpoints checkpoints(*world, recipe.workers, stored);
  recipe.checkpoints = &checkpoints;
  std::atomic<bool> stop = false;
  recipe.stop = &stop;
  Stopper stopper(kStopAfter, stop);
  ASSERT_EQ(test::train(*world, objective, recipe, stopper).state, Outcome::State::stopped);
  stop = false;
  test::FrameKeeper keeper;
  EXPECT_EQ(test::train(*world, objective, recipe, keeper).message, whole.message);
}

TEST(Resumed, AModelThatIsLostStaysLost) {
  expect_stays_lost(1e10, 1e30, "model is not finite at iteration 7: entry 0 is -inf");
  expect_stays_lost(2e38,
                    1,
                    "sum of the workers' messages overflows objective.precision at iteration 6: "
                    "entry 0 is inf");
}

TEST(Resumed, AFinishedTrainingHasNothingLeftToDo) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const auto world = make_single_process();
  Stored stored;
  Recipe recipe = watched({});
  MemoryCheckpoints checkpoints(*world, recipe.workers, stored);
  recipe.checkpoints = &checkpoints;
  test::FrameKeeper first;
  const auto before = test::train(*world, objective, recipe, first);
  test::FrameKeeper again;
  const auto after = test::train(*world, objective, recipe, again);

  EXPECT_EQ(stored.iterations, 20U);
  EXPECT_TRUE(again.frames.empty());
  EXPECT_EQ(after.evaluation->loss, before.evaluation->loss);
}

}  // namespace
}  // namespace residuum
