// Local SGD where it must be something simpler: bsp, a recursion that is solved by hand, a loop of
// its own.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/protocols/protocol.h"
#include "core/trainer/trainer.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

std::unique_ptr<Protocol> local_of(std::int64_t period) {
  return make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", period}}));
}

/// The frames that the root sees.
std::vector<test::Frame> frames_of(const Objective& objective,
                                   const Recipe& recipe,
                                   int processes = 1) {
  std::vector<test::Frame> frames;
  test::on_processes(processes, [&](World& world) {
    test::FrameKeeper keeper;
    test::train(world, objective, recipe, keeper);
    if (world.is_root()) {
      frames = std::move(keeper.frames);
    }
  });
  return frames;
}

Recipe watched_local(Recipe recipe, const Protocol& protocol) {
  recipe.protocol = &protocol;
  recipe.workers = 5;
  recipe.iterations = 6;
  recipe.evaluated = Json(1);
  recipe.split = Json(2);
  recipe.virtual_points = Json(2);
  recipe.unperturbed = true;
  return recipe;
}

TEST(Local, OfOneStepIsBulkSynchronousInEveryBit) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const auto local = local_of(1);
  for (const Recipe& method : test::methods()) {
    test::expect_same_frames(frames_of(objective, watched_local(method, bulk_synchronous())),
                             frames_of(objective, watched_local(method, *local)));
  }
}

TEST(Local, HasTheSameBitsAtAnyNumberOfProcesses) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const auto local = local_of(3);
  for (const Recipe& method : test::methods()) {
    const auto alone = frames_of(objective, watched_local(method, *local));
    test::expect_same_frames(alone, frames_of(objective, watched_local(method, *local), 2));
    test::expect_same_frames(alone, frames_of(objective, watched_local(method, *local), 5));
  }
}

/// f_p = (h_p/2) (w - c_p)^2, without noise.
constexpr double kCurvature[] = {1.0, 0.25, 2.0};
constexpr double kCentre[] = {1.0, -2.0, 0.5};

test::TinyObjective three_parabolas() {
  return {{3.0}, [](const Draw& draw, std::span<const double> w, std::span<double> g) {
            g[0] = kCurvature[draw.worker] * (w[0] - kCentre[draw.worker]);
          }};
}

TEST(Local, OfParabolasIsTheRecursionThatIsSolvedByHand) {
  constexpr double kStep = 0.1;
  constexpr int kPeriod = 4;
  const auto local = local_of(kPeriod);
  Recipe recipe;
  recipe.protocol = local.get();
  recipe.workers = 3;
  recipe.iterations = 5;
  recipe.step = {{"value", kStep}};
  const auto frames = frames_of(three_parabolas(), recipe);
  double w = 3;
  for (const auto& frame : frames) {
    // A worker's model after H steps is c + (1 - eta h)^H (w - c); the next w is their mean.
    double mean = 0;
    for (int p = 0; p < 3; ++p) {
      const double kept = std::pow(1 - kStep * kCurvature[p], kPeriod);
      mean += (kCentre[p] + kept * (w - kCentre[p])) / 3;
    }
    w = mean;
    EXPECT_NEAR(frame.model[0], w, 1e-13);
    EXPECT_NEAR(frame.virtual_iterate[0], w, 1e-13);  // nothing is compressed
  }
}

TEST(Local, TakesOneBatchAfterTheOtherAtTheWorkersOwnModel) {
  std::vector<std::vector<std::uint64_t>> drawn(2);
  std::vector<std::vector<double>> at(2);
  const test::TinyObjective objective(
      {1.0}, [&](const Draw& draw, std::span<const double> w, std::span<double> g) {
        drawn[static_cast<std::size_t>(draw.worker)].push_back(draw.iteration);
        at[static_cast<std::size_t>(draw.worker)].push_back(w[0]);
        g[0] = draw.worker + 1;
      });
  const auto local = local_of(3);
  Recipe recipe;
  recipe.protocol = local.get();
  recipe.workers = 2;
  recipe.iterations = 2;
  recipe.step = {{"value", 0.25}};
  frames_of(objective, recipe);
  EXPECT_EQ(drawn[0], (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(drawn[1], drawn[0]);
  // Both begin their second round at 1 - 0.25 (3 + 6)/2.
  EXPECT_EQ(at[0], (std::vector<double>{1, 0.75, 0.5, -0.125, -0.375, -0.625}));
  EXPECT_EQ(at[1], (std::vector<double>{1, 0.5, 0, -0.125, -0.625, -1.125}));
}

struct OuterRule {
  double step;
  double momentum;
  bool looks_ahead;
};

/// The models of dense local SGD with an outer rule, in a loop of its own.
std::vector<double> by_hand(const OuterRule& rule, double eta, int period, int rounds) {
  std::vector<double> models;
  double w = 3;
  double v = 0;
  for (int round = 0; round < rounds; ++round) {
    double mean = 0;
    for (int p = 0; p < 3; ++p) {
      double own = w;
      for (int h = 0; h < period; ++h) {
        own -= eta * kCurvature[p] * (own - kCentre[p]);
      }
      mean += (w - own) / 3;
    }
    const double u = rule.step * mean;
    v = rule.momentum * v + u;
    w -= rule.looks_ahead ? u + rule.momentum * v : v;
    models.push_back(w);
  }
  return models;
}

TEST(OuterStep, IsPlainHeavyBallOrNesterov) {
  const auto local = local_of(3);
  for (const OuterRule& rule : {OuterRule{0.7, 0, false},
                                OuterRule{1, 0.5, false},
                                OuterRule{0.7, 0.6, false},
                                OuterRule{0.7, 0.6, true}}) {
    for (const char* units : {"step", "gradient"}) {
      Recipe recipe;
      recipe.protocol = local.get();
      recipe.workers = 3;
      recipe.iterations = 8;
      recipe.step = {{"value", 0.1}};
      recipe.feedback = {{"kind", "ef14"}, {"units", units}};
      recipe.outer_step = rule.step;
      recipe.momentum = rule.momentum;
      recipe.looks_ahead = rule.looks_ahead;
      const auto frames = frames_of(three_parabolas(), recipe);
      const auto expected = by_hand(rule, 0.1, 3, 8);
      for (std::size_t t = 0; t < expected.size(); ++t) {
        EXPECT_NEAR(frames[t].model[0], expected[t], 1e-12) << units << " at " << t;
        EXPECT_NEAR(frames[t].virtual_iterate[0], expected[t], 1e-12);
      }
    }
  }
}

TEST(OuterStep, LosesNoGradient) {
  const test::TinyObjective objective = test::noisy_quadratic(8, 0.3);
  const auto local = local_of(3);
  for (const bool looks_ahead : {false, true}) {
    for (const char* units : {"step", "gradient"}) {
      Recipe recipe;
      recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
      recipe.aggregator = {{"kind", "gtopk-tree"}};
      recipe.feedback = {{"kind", "ef14"}, {"units", units}};
      recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.1}};
      recipe.outer_step = 0.7;
      recipe.momentum = 0.6;
      recipe.looks_ahead = looks_ahead;
      recipe.protocol = local.get();
      recipe.workers = 4;
      recipe.iterations = 30;
      for (const auto& frame : frames_of(objective, recipe)) {
        EXPECT_LT(frame.conservation_defect(), 1e-12);
      }
    }
  }
}

constexpr std::array<double, 3> kSlopes{1, 2, 0.5};
constexpr std::array<double, 3> kMinima{-1, 2, 4};

test::TinyObjective three_valleys() {
  return {{3.0}, [](const Draw& draw, std::span<const double> w, std::span<double> g) {
            const auto p = static_cast<std::size_t>(draw.worker);
            g[0] = kSlopes[p] * (w[0] - kMinima[p]);
          }};
}

/// The models of dense local training, heavy ball on each worker.
std::vector<double> models_by_hand(double momentum, double eta, int period, int rounds) {
  std::vector<double> models;
  std::array<double, 3> velocity{};
  double w = 3;
  for (int round = 0; round < rounds; ++round) {
    double mean = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      double own = w;
      for (int h = 0; h < period; ++h) {
        velocity[p] = momentum * velocity[p] + kSlopes[p] * (own - kMinima[p]);
        own -= eta * velocity[p];
      }
      mean += (w - own) / 3;
    }
    w -= mean;
    models.push_back(w);
  }
  return models;
}

Recipe recipe_of(const Json& local, const Protocol& protocol) {
  Recipe recipe;
  recipe.protocol = &protocol;
  recipe.workers = 3;
  recipe.iterations = 8;
  recipe.step = {{"value", 0.1}};
  recipe.evaluated = Json(1);
  recipe.local = local;
  return recipe;
}

TEST(LocalOptimiser, KeepsItsMemoryFromExchangeToExchange) {
  for (const int period : {1, 3}) {
    const auto protocol = local_of(period);
    const auto frames = frames_of(
        three_valleys(), recipe_of({{"optimiser", "momentum"}, {"momentum", 0.5}}, *protocol));
    const auto expected = models_by_hand(0.5, 0.1, period, 8);
    for (std::size_t t = 0; t < expected.size(); ++t) {
      EXPECT_NEAR(frames[t].model[0], expected[t], 1e-12) << period << " at " << t;
    }
  }
}

TEST(LocalOptimiser, WithoutMomentumStepsAlongGradients) {
  for (const int period : {1, 4}) {
    const auto protocol = local_of(period);
    test::expect_same_frames(
        frames_of(three_valleys(), recipe_of({{"optimiser", "sgd"}}, *protocol)),
        frames_of(three_valleys(),
                  recipe_of({{"optimiser", "momentum"}, {"momentum", 0}}, *protocol)));
  }
}

TEST(LocalOptimiser, HasTheSameBitsOnAnyNumberOfProcesses) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  const auto protocol = local_of(3);
  for (const char* optimiser : {"momentum", "adamw", "lion", "muon"}) {
    Recipe recipe = recipe_of({{"optimiser", optimiser}}, *protocol);
    recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
    recipe.aggregator = {{"kind", "gtopk-tree"}};
    recipe.precision = Precision::float32;
    const auto alone = frames_of(objective, recipe);
    test::expect_same_frames(alone, frames_of(objective, recipe, 2));
    test::expect_same_frames(alone, frames_of(objective, recipe, 3));
  }
}

// Nothing that workers compute is lost: the handed-in sums less the updates are in residuals.
TEST(LocalOptimiser, HandsInTheSumOfItsDirections) {
  const auto protocol = local_of(2);
  Recipe recipe = recipe_of({{"optimiser", "adamw"}}, *protocol);
  const auto frames = frames_of(three_valleys(), recipe);
  // AdamW's first direction is the sign of the gradient, plus 0.01 w.
  EXPECT_EQ(frames.size(), 8U);
  recipe.protocol = nullptr;
  recipe.iterations = 1;
  const double signs = 1.0 + 1.0 - 1.0;  // of 3 - (-1), 3 - 2, 3 - 4
  EXPECT_NEAR(
      frames_of(three_valleys(), recipe)[0].model[0], 3 - 0.1 * (signs / 3 + 0.01 * 3), 1e-8);
}

TEST(AveragedMemory, IsTheMeanAfterItsOwnNumberOfExchanges) {
  constexpr double kMomentum = 0.5;
  constexpr double kStep = 0.1;
  for (const int every : {1, 3}) {
    const auto protocol = local_of(2);
    const auto frames = frames_of(
        three_valleys(),
        recipe_of({{"optimiser", "momentum"}, {"momentum", kMomentum}, {"average_every", {every}}},
                  *protocol));
    std::array<double, 3> velocity{};
    double w = 3;
    for (int round = 0; round < 8; ++round) {
      double mean = 0;
      for (std::size_t p = 0; p < 3; ++p) {
        double own = w;
        for (int h = 0; h < 2; ++h) {
          velocity[p] = kMomentum * velocity[p] + kSlopes[p] * (own - kMinima[p]);
          own -= kStep * velocity[p];
        }
        mean += own / 3;
      }
      w = mean;
      if ((round + 1) % every == 0) {
        velocity.fill((velocity[0] + velocity[1] + velocity[2]) / 3);
      }
      EXPECT_NEAR(frames[static_cast<std::size_t>(round)].model[0], w, 1e-12) << round;
    }
  }
}

TEST(AveragedMemory, HasTheSameBitsOnAnyNumberOfProcesses) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  const auto protocol = local_of(3);
  Recipe recipe = recipe_of({{"optimiser", "adamw"}, {"average_every", {2, 3}}}, *protocol);
  recipe.workers = 5;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
  recipe.aggregator = {{"kind", "gtopk-tree"}};
  recipe.precision = Precision::float32;
  const auto alone = frames_of(objective, recipe);
  test::expect_same_frames(alone, frames_of(objective, recipe, 2));
  test::expect_same_frames(alone, frames_of(objective, recipe, 5));
}

// A ring of 3 workers carries 2 (3 - 1) times 27 numbers of 8 bytes in 4 rounds.
TEST(AveragedMemory, CostsARingOfEveryVectorWhoseTurnItIs) {
  constexpr std::uint64_t kRing = 4 * 27 * 8;
  const auto objective = test::noisy_quadratic(27, 0.5);
  const auto protocol = local_of(3);
  const auto plain = frames_of(objective, recipe_of({{"optimiser", "adamw"}}, *protocol));
  const auto averaged = frames_of(
      objective, recipe_of({{"optimiser", "adamw"}, {"average_every", {2, 3}}}, *protocol));
  const std::array<std::uint64_t, 8> rings{0, 1, 1, 1, 0, 2, 0, 1};
  for (std::size_t t = 0; t < rings.size(); ++t) {
    EXPECT_EQ(averaged[t].traffic.bytes, plain[t].traffic.bytes + rings[t] * kRing) << t;
    EXPECT_EQ(averaged[t].traffic.rounds, plain[t].traffic.rounds + rings[t] * 4) << t;
    EXPECT_EQ(averaged[t].traffic_model.bytes, static_cast<double>(averaged[t].traffic.bytes)) << t;
  }
}

/// f = (1 - x)^2 + 100 (y - x^2)^2 with normal noise on the gradient.
test::TinyObjective noisy_rosenbrock(double noise) {
  return {{-1.0, 1.5}, [noise](const Draw& draw, std::span<const double> w, std::span<double> g) {
            RandomStream random(draw.seed,
                                Purpose::noise,
                                static_cast<std::uint32_t>(draw.worker),
                                static_cast<std::uint32_t>(draw.iteration));
            const double miss = w[1] - w[0] * w[0];
            g[0] = -2 * (1 - w[0]) - 400 * w[0] * miss + noise * random.normal();
            g[1] = 200 * miss + noise * random.normal();
          }};
}

/// Returns the mean of f after the last 20 of 40 exchanges, each after 192 gradients of 256 workers
/// that step by AdamW.
double late_loss(const Json& every, std::uint64_t seed) {
  const auto protocol = local_of(192);
  Recipe recipe = recipe_of(
      {{"optimiser", "adamw"}, {"weight_decay", 0}, {"beta1", 0.9964}, {"average_every", every}},
      *protocol);
  recipe.workers = 256;
  recipe.iterations = 40;
  recipe.step = {{"value", 0.03}};
  recipe.evaluated = std::nullopt;
  recipe.seed = seed;
  const auto frames = frames_of(noisy_rosenbrock(1.5), recipe);
  double sum = 0;
  for (std::size_t t = 20; t < frames.size(); ++t) {
    const double x = frames[t].model[0];
    const double miss = frames[t].model[1] - x * x;
    sum += (1 - x) * (1 - x) + 100 * miss * miss;
  }
  return sum / 20;
}

// The problem of DES-LOC's figure 2 (arXiv 2505.22549): states that stay with their workers let the
// mean model swing about the minimum. The paper averages after 192 and 692 gradients, which are the
// half-lives of both means: 0.9964^192 = 0.999^693 = 1/2.
TEST(AveragedMemory, CalmsTheSwingsOfStatesThatStayWithTheirWorkers) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_GT(late_loss({0, 0}, seed), 2 * late_loss({1, 4}, seed)) << seed;
  }
}

}  // namespace
}  // namespace residuum
