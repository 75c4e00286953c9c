// Memories on a device have the bits of memories on the host, and k pairs cross. The device is the
// stand-in, whose copies are counted.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/training/device_placement.h"
#include "core/vectors/stand_in_device.h"
#include "tests/core/tiny_training.h"

namespace residuum::test {
namespace {

constexpr std::size_t kDimension = 400;
constexpr int kWorkers = 3;
constexpr std::uint64_t kIterations = 12;
constexpr std::size_t kPairBytes = 8;

/// A case of the table: what a method is made of.
struct Case {
  std::string name;
  Json sparsifier;
  Json feedback = {{"kind", "ef14"}};
  Json aggregator = {{"kind", "gtopk-tree"}};
  Json quantiser = {{"kind", "none"}};
};

Recipe recipe_of(const Case& of) {
  Recipe recipe;
  recipe.sparsifier = of.sparsifier;
  recipe.feedback = of.feedback;
  recipe.aggregator = of.aggregator;
  recipe.quantiser = of.quantiser;
  recipe.workers = kWorkers;
  recipe.iterations = kIterations;
  recipe.precision = Precision::float32;
  recipe.evaluated = 1;
  recipe.virtual_points = 1;
  return recipe;
}

Json top_k() { return {{"kind", "top-k"}, {"k", 10}}; }

std::vector<Case> cases() {
  const Json ef21 = {{"kind", "ef21"}};
  const auto ef14 = [](const char* rule) { return Json{{"kind", "ef14"}, {"putback", rule}}; };
  return {
      {.name = "top_k_captured", .sparsifier = top_k(), .feedback = ef14("captured")},
      {.name = "top_k_published", .sparsifier = top_k(), .feedback = ef14("published")},
      {.name = "top_k_discard", .sparsifier = top_k(), .feedback = ef14("discard")},
      {.name = "top_k_of_all",
       .sparsifier = {{"kind", "top-k"}, {"k", kDimension}},
       .aggregator = {{"kind", "gtopk-exact"}}},
      {.name = "gradient_units",
       .sparsifier = top_k(),
       .feedback = {{"kind", "ef14"}, {"units", "gradient"}},
       .aggregator = {{"kind", "gtopk-doubling"}}},
      {.name = "decay", .sparsifier = top_k(), .feedback = {{"kind", "ef14"}, {"decay", 0.9}}},
      {.name = "chunk_top_k",
       .sparsifier = {{"kind", "chunk-top-k"}, {"k", 12}, {"block", 64}},
       .aggregator = {{"kind", "allgather"}}},
      {.name = "hard_threshold",
       .sparsifier = {{"kind", "hard-threshold"}, {"threshold", 0.05}},
       .aggregator = {{"kind", "allgather"}}},
      {.name = "gaussian_k",
       .sparsifier = {{"kind", "gaussian-k"}, {"k", 10}},
       .aggregator = {{"kind", "allgather"}}},
      {.name = "gamma_k_in_stages",
       .sparsifier = {{"kind", "gamma-k"}, {"k", 10}, {"stages", 2}},
       .aggregator = {{"kind", "allgather"}}},
      {.name = "everything", .sparsifier = {{"kind", "none"}}, .aggregator = {{"kind", "dense"}}},
      {.name = "everything_ef21",
       .sparsifier = {{"kind", "none"}},
       .feedback = ef21,
       .aggregator = {{"kind", "dense"}}},
      {.name = "ef21", .sparsifier = top_k(), .feedback = ef21},
      {.name = "ef21_allgather",
       .sparsifier = top_k(),
       .feedback = ef21,
       .aggregator = {{"kind", "allgather"}}},
      {.name = "no_feedback", .sparsifier = top_k(), .feedback = {{"kind", "none"}}},
      {.name = "signs_of_top_k",
       .sparsifier = top_k(),
       .aggregator = {{"kind", "allgather"}},
       .quantiser = {{"kind", "sign"}}},
      {.name = "qsgd_clears_selected",
       .sparsifier = top_k(),
       .feedback = {{"kind", "ef14"}, {"clears", "selected"}},
       .aggregator = {{"kind", "allgather"}},
       .quantiser = {{"kind", "qsgd"}, {"bits", 4}}},
      {.name = "server", .sparsifier = top_k(), .aggregator = {{"kind", "parameter-server"}}},
  };
}

class MemoryOnDevice : public testing::TestWithParam<Case> {};

TEST_P(MemoryOnDevice, TrainsToTheBitsOfTheHost) {
  const TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  Recipe recipe = recipe_of(GetParam());
  const auto on_host = train(objective, recipe);
  const StandInDevice device;
  recipe.device = &device;
  const auto there = train(objective, recipe);

  expect_same_frames(there.frames, on_host.frames);
  EXPECT_GT(device.crossed().to_host, 0U);
}

INSTANTIATE_TEST_SUITE_P(, MemoryOnDevice, testing::ValuesIn(cases()), [](const auto& tested) {
  return tested.param.name;
});

TEST(DeviceMemories, SelectsByLayersToTheBitsOfTheHost) {
  const TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  Recipe recipe =
      recipe_of({.name = "",
                 .sparsifier = {{"kind", "top-k"}, {"density", 0.05}, {"scope", "layer"}},
                 .aggregator = {{"kind", "allgather"}}});
  recipe.layers = {
      {.begin = 0, .size = 100}, {.begin = 100, .size = 260}, {.begin = 360, .size = 40}};
  const auto on_host = train(objective, recipe);
  const StandInDevice device;
  recipe.device = &device;
  expect_same_frames(train(objective, recipe).frames, on_host.frames);
}

/// Returns what crosses in a run that measures nothing.
Crossed crossed_in(Recipe recipe) {
  const TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  const StandInDevice device;
  recipe.device = &device;
  recipe.measure = false;
  const auto run = train(objective, recipe);
  EXPECT_EQ(run.outcome.state, Outcome::State::finished);
  return device.crossed();
}

TEST(DeviceMemories, SendsKPairsAndThreeNormsToTheHost) {
  const Crossed crossed = crossed_in(recipe_of({.name = "", .sparsifier = top_k()}));
  const std::uint64_t steps = kWorkers * kIterations;
  EXPECT_EQ(crossed.to_host, steps * (10 * kPairBytes + 3 * sizeof(double)));
  // The gradients are the host's here; beside them, a list is removed and one returned.
  const std::uint64_t gradients = steps * kDimension * sizeof(float);
  EXPECT_GT(crossed.to_device, gradients);
  EXPECT_LE(crossed.to_device, gradients + steps * 4 * 10 * kPairBytes);
}

TEST(DeviceMemories, SendsTheAccumulatorWhereTheMessageIsAllOfIt) {
  const Crossed crossed = crossed_in(
      recipe_of({.name = "", .sparsifier = {{"kind", "none"}}, .aggregator = {{"kind", "dense"}}}));
  const std::uint64_t steps = kWorkers * kIterations;
  EXPECT_EQ(crossed.to_host, steps * (kDimension * sizeof(float) + 3 * sizeof(double)));
}

TEST(DeviceMemories, SaysTheSizesWhereThereIsNoRoom) {
  const TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  Recipe recipe = recipe_of({.name = "", .sparsifier = top_k()});
  const StandInDevice device(kDimension * sizeof(float));  // for one of three workers
  recipe.device = &device;
  const std::string error = error_of([&] { train(objective, recipe); });
  EXPECT_NE(error.find("no room for 1600 bytes, 0 are free"), std::string::npos) << error;
}

// --- Gradients that are there, too ---------------------------------------------------------------

class GradientsOnDevice : public testing::TestWithParam<Case> {};

TEST_P(GradientsOnDevice, TrainToTheBitsOfTheHost) {
  TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  Recipe recipe = recipe_of(GetParam());
  const auto on_host = train(objective, recipe);
  objective.compute_there();
  const StandInDevice device;
  recipe.device = &device;

  expect_same_frames(train(objective, recipe).frames, on_host.frames);
}

INSTANTIATE_TEST_SUITE_P(, GradientsOnDevice, testing::ValuesIn(cases()), [](const auto& tested) {
  return tested.param.name;
});

TEST(DeviceMemories, TakeNoGradientFromTheHostWhereItIsThere) {
  TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  objective.compute_there();
  Recipe recipe = recipe_of({.name = "", .sparsifier = top_k()});
  const StandInDevice device;
  recipe.device = &device;
  recipe.measure = false;
  train(objective, recipe);

  const std::uint64_t steps = kWorkers * kIterations;
  const std::uint64_t model_once = kDimension * sizeof(float);
  const std::uint64_t moved = kIterations * 10 * kPairBytes;  // entries of the model, k a version
  const std::uint64_t lists = steps * 2 * 10 * kPairBytes;    // removed and returned
  EXPECT_EQ(device.crossed().to_host, steps * (10 * kPairBytes + 3 * sizeof(double)));
  EXPECT_GE(device.crossed().to_device, model_once + moved / 2);
  EXPECT_LE(device.crossed().to_device, model_once + moved + 2 * lists);
}

TEST(DeviceMemories, FollowAModelThatMovesEverywhere) {
  TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  Recipe recipe = recipe_of({.name = "", .sparsifier = top_k()});
  recipe.momentum = 0.9;
  const auto on_host = train(objective, recipe);
  objective.compute_there();
  const StandInDevice device;
  recipe.device = &device;
  expect_same_frames(train(objective, recipe).frames, on_host.frames);
}

// --- Workers of one process overlap --------------------------------------------------------------

/// Writes down in which order gradients are computed, and steps started and taken: "gradient 0",
/// "start 0", ..., in one run that measures nothing.
class Order {
 public:
  explicit Order(Recipe recipe) {
    const TinyObjective quadratic = noisy_quadratic(kDimension, 0.3);
    TinyObjective objective(
        std::vector<double>(kDimension, 0.5),
        [&](const Draw& draw, std::span<const double> w, std::span<double> gradient) {
          note("gradient", static_cast<std::size_t>(draw.worker));
          quadratic.stochastic_gradient(draw, w, gradient);
        });
    objective.compute_there();
    StandInDevice device;
    device.watch([this](StandInDevice::Event event, std::size_t vectors) { see(event, vectors); });
    recipe.device = &device;
    recipe.measure = false;
    train(objective, recipe);
  }

  /// The place of the first event of this name.
  std::ptrdiff_t place(const std::string& event) const {
    const auto found = std::find(events_.begin(), events_.end(), event);
    EXPECT_NE(found, events_.end()) << event;
    return found - events_.begin();
  }
  const std::vector<std::string>& events() const { return events_; }

 private:
  using Event = StandInDevice::Event;

  void note(const std::string& what, std::size_t worker) {
    events_.push_back(what + " " + std::to_string(worker));
  }
  /// Workers start in their order, each with vectors of its own.
  void see(Event event, std::size_t vectors) {
    if (std::find(memories_.begin(), memories_.end(), vectors) == memories_.end()) {
      memories_.push_back(vectors);
    }
    const auto worker = static_cast<std::size_t>(
        std::find(memories_.begin(), memories_.end(), vectors) - memories_.begin());
    switch (event) {
      case Event::start_pass:
        return note("start", worker);
      case Event::start_selection:
        return note("start to select", worker);
      case Event::take_norms:
        return note("take", worker);
      case Event::take_selection:
        return note("take the selection", worker);
    }
  }

  std::vector<std::string> events_;
  std::vector<std::size_t> memories_;
};

class OverlapOnDevice : public testing::TestWithParam<Case> {};

TEST_P(OverlapOnDevice, TakesNothingOfAWorkerBeforeTheLastGradientWasBegun) {
  const Order order(recipe_of(GetParam()));
  EXPECT_LT(order.place("start 0"), order.place("gradient 1"));
  EXPECT_LT(order.place("start 1"), order.place("gradient 2"));
  EXPECT_LT(order.place("gradient 2"), order.place("take 0"));
  EXPECT_LT(order.place("start 2"), order.place("take 0"));
}

INSTANTIATE_TEST_SUITE_P(, OverlapOnDevice, testing::ValuesIn(cases()), [](const auto& tested) {
  return tested.param.name;
});

TEST(DeviceMemories, StartSelectionsBesideTheNextGradient) {
  const Order order(recipe_of({.name = "", .sparsifier = top_k()}));
  const std::vector<std::string> expected{"gradient 0",
                                          "start 0",
                                          "start to select 0",
                                          "gradient 1",
                                          "start 1",
                                          "start to select 1",
                                          "gradient 2",
                                          "start 2",
                                          "start to select 2",
                                          "take 0",
                                          "take the selection 0",
                                          "take 1",
                                          "take the selection 1",
                                          "take 2",
                                          "take the selection 2"};
  const std::vector<std::string> first(
      order.events().begin(),
      order.events().begin() + static_cast<std::ptrdiff_t>(expected.size()));
  EXPECT_EQ(first, expected);
}

TEST(DeviceMemories, StartAnEstimatedSelectionOnceTheNormsAreThere) {
  const Order order(recipe_of({.name = "",
                               .sparsifier = {{"kind", "gaussian-k"}, {"k", 10}},
                               .aggregator = {{"kind", "allgather"}}}));
  EXPECT_LT(order.place("gradient 2"), order.place("take 0"));
  EXPECT_LT(order.place("take 0"), order.place("start to select 0"));
}

TEST(DeviceMemories, DoNotOverlapWhereTheSecondsOfAWorkerAreTaken) {
  Recipe recipe = recipe_of({.name = "", .sparsifier = top_k()});
  recipe.networks = {{.links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}}};
  recipe.times_work = true;
  const Order order(recipe);
  EXPECT_LT(order.place("gradient 2"), order.place("start 0"));
  EXPECT_LT(order.place("take the selection 0"), order.place("start 1"));
}

// --- What stays on the host ----------------------------------------------------------------------

std::string obstacle_of(const Recipe& recipe, const ProtocolLaw& law = {}) {
  const TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  const Method method = method_of(recipe, kDimension);
  Training training;
  training.objective = &objective;
  training.method = &method;
  training.precision = recipe.precision;
  return device_obstacle(training, law);
}

TEST(DevicePlacement, HasNoObstacleWhereAllPartsHaveAForm) {
  for (const Case& of : cases()) {
    EXPECT_EQ(obstacle_of(recipe_of(of)), "") << of.name;
  }
}

TEST(DevicePlacement, NamesTheObstacle) {
  const auto with = [](const Case& of) { return recipe_of(of); };
  EXPECT_EQ(obstacle_of(with({.name = "", .sparsifier = {{"kind", "rand-k"}, {"k", 5}}})),
            "this [sparsifier] has no form for a device");
  EXPECT_EQ(
      obstacle_of(with(
          {.name = "", .sparsifier = top_k(), .feedback = {{"kind", "dgc"}, {"momentum", 0.9}}})),
      "this [feedback] has no form for a device");
  EXPECT_EQ(obstacle_of(with({.name = "",
                              .sparsifier = {{"kind", "none"}},
                              .aggregator = {{"kind", "powersgd"}, {"rank", 1}}})),
            "this [aggregator] reads whole accumulators");
  EXPECT_EQ(obstacle_of(with({.name = "",
                              .sparsifier = {{"kind", "none"}},
                              .aggregator = {{"kind", "allgather"}},
                              .quantiser = {{"kind", "sign"}}})),
            "[quantiser] writes whole accumulators");
  Recipe wide = with({.name = "", .sparsifier = top_k()});
  wide.precision = Precision::float64;
  EXPECT_EQ(obstacle_of(wide), "objective.precision is float64, and devices have float32");
  const Recipe late = with({.name = "", .sparsifier = top_k()});
  EXPECT_EQ(obstacle_of(late, {.synchrony = Synchrony::late}),
            "[protocol] lets workers exchange at times of their own");
}

/// Why gradients that a device computes would be copied to the host.
std::string copied_because(const Recipe& recipe,
                           const ProtocolLaw& law = {},
                           bool follows_iterate = false) {
  const TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  const Method method = method_of(recipe, kDimension);
  Training training;
  training.objective = &objective;
  training.method = &method;
  training.accumulation = recipe.accumulation;
  training.plan.measure = recipe.measure;
  training.plan.follows_iterate = follows_iterate;
  return gradient_obstacle(training, law);
}

TEST(DevicePlacement, NamesWhatCopiesGradientsToTheHost) {
  const Recipe plain = recipe_of({.name = "", .sparsifier = top_k()});
  EXPECT_EQ(copied_because(plain), "");
  EXPECT_EQ(copied_because(plain, {}, true), "probes follow the dense iterate z");
  Recipe in_parts = plain;
  in_parts.accumulation = 2;
  EXPECT_EQ(copied_because(in_parts), "workers.accumulate adds the parts of a batch there");
  Recipe clipped = plain;
  clipped.clip = Clip::worker;
  EXPECT_EQ(copied_because(clipped), "step.clip_at is \"worker\"");
  EXPECT_EQ(copied_because(plain, {.synchrony = Synchrony::periodic, .local_steps = 4}),
            "workers take several local steps");
  Recipe estimates = recipe_of({.name = "", .sparsifier = top_k(), .feedback = {{"kind", "ef21"}}});
  EXPECT_EQ(copied_because(estimates), "probes measure how much the gradients of estimates change");
  estimates.measure = false;
  EXPECT_EQ(copied_because(estimates), "");
}

/// A device whose selections take 100 bytes an entry.
class RoomyDevice final : public Device {
 public:
  std::string name() const override { return "roomy"; }
  std::string identity() const override { return "roomy"; }
  std::size_t free_bytes() const override { return 0; }
  std::uint64_t selection_bytes(std::size_t /*d*/,
                                std::size_t k,
                                std::size_t parts) const override {
    return 100 * k + 10'000 * (parts - 1);
  }
  std::unique_ptr<DeviceVectors> vectors(std::size_t /*count*/, std::size_t /*d*/) const override {
    return nullptr;
  }
  void read(DeviceSpan /*from*/, std::span<float> /*values*/) const override {}
};

TEST(DevicePlacement, CountsMemoriesGradientsSelectionsAndTheModel) {
  TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  const Recipe recipe = recipe_of({.name = "", .sparsifier = top_k()});
  const Method method = method_of(recipe, kDimension);
  Training training;
  training.objective = &objective;
  training.method = &method;
  const RoomyDevice device;
  // A residual, a gradient and a selection of 10 entries for each of two workers.
  const std::uint64_t of_two = 2 * (2 * kDimension * sizeof(float) + 100 * 10);
  EXPECT_EQ(bytes_on_device(training, {}, device, 2), of_two);
  objective.compute_there();
  EXPECT_EQ(bytes_on_device(training, {}, device, 2), of_two + kDimension * sizeof(float));
  EXPECT_EQ(bytes_on_device(training, {.local_steps = 2}, device, 2), of_two);
}

TEST(DevicePlacement, CountsTheBlocksThatEntriesAreSelectedFrom) {
  const TinyObjective objective = noisy_quadratic(kDimension, 0.3);
  const Method method = method_of(
      recipe_of({.name = "", .sparsifier = {{"kind", "chunk-top-k"}, {"k", 10}, {"block", 100}}}),
      kDimension);
  Training training;
  training.objective = &objective;
  training.method = &method;
  const std::uint64_t selection = *method.sparsifier->k(kDimension) * 100 + 3 * 10'000;
  EXPECT_EQ(bytes_on_device(training, {}, RoomyDevice(), 1),
            2 * kDimension * sizeof(float) + selection);
}

}  // namespace
}  // namespace residuum::test
