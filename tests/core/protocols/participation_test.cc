// Versions that some of the workers make, against loops of their own and against what must not
// depend on the number of processes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/protocols/protocol.h"
#include "core/trainer/trainer.h"
#include "core/training/worker.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

constexpr int kWorkers = 5;

std::vector<test::Frame> frames_of_part(const Objective& objective,
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

Recipe watched_part(Recipe recipe, std::optional<int> participants) {
  recipe.participants = participants;
  recipe.workers = kWorkers;
  recipe.iterations = 8;
  recipe.evaluated = Json(1);
  recipe.split = Json(2);
  recipe.virtual_points = Json(2);
  return recipe;
}

bool takes_part(const test::Frame& frame, std::size_t worker) {
  return std::binary_search(
      frame.contributors.begin(), frame.contributors.end(), static_cast<int>(worker));
}

TEST(Participation, OfAllWorkersIsTheRunWithoutItInEveryBit) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  for (const Recipe& method : test::methods()) {
    test::expect_same_frames(frames_of_part(objective, watched_part(method, kWorkers)),
                             frames_of_part(objective, watched_part(method, std::nullopt)));
  }
}

// With one worker of five some processes have nobody who takes part, in most versions the root too.
TEST(Participation, HasTheSameBitsAtAnyNumberOfProcesses) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  for (const Recipe& method : test::methods()) {
    for (const int participants : {1, 3}) {
      const Recipe recipe = watched_part(method, participants);
      SCOPED_TRACE(test::name_of(recipe) + ", m = " + std::to_string(participants));
      const auto alone = frames_of_part(objective, recipe);
      for (const int processes : {2, 3, 5}) {
        test::expect_same_frames(alone, frames_of_part(objective, recipe, processes));
      }
    }
  }
}

TEST(Participation, OfLowRankApproximationsHasTheSameBitsAtAnyNumberOfProcesses) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const bool warm_start : {true, false}) {
    Recipe method{.aggregator = {{"kind", "powersgd"}, {"rank", 2}, {"warm_start", warm_start}}};
    const Recipe recipe = watched_part(method, 2);
    const auto alone = frames_of_part(objective, recipe);
    for (const int processes : {2, 5}) {
      test::expect_same_frames(alone, frames_of_part(objective, recipe, processes));
    }
  }
}

/// f_p = (h_p/2) (w - c_p)^2 of full gradients.
constexpr std::array kCurvatures{1.0, 0.25, 2.0, 0.5, 1.5};
constexpr std::array kCentres{1.0, -2.0, 0.5, 4.0, -1.0};

TEST(Participation, InFederatedAveragingIsTheLoopOfThePaper) {
  constexpr double kStep = 0.1;
  constexpr int kPeriod = 4;
  constexpr int kPart = 2;
  const test::TinyObjective objective(
      {3.0}, [](const Draw& draw, std::span<const double> w, std::span<double> g) {
        const auto p = static_cast<std::size_t>(draw.worker);
        g[0] = kCurvatures[p] * (w[0] - kCentres[p]);
      });
  const auto local =
      make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", kPeriod}}));
  Recipe recipe;
  recipe.protocol = local.get();
  recipe.workers = kWorkers;
  recipe.participants = kPart;
  recipe.iterations = 3;
  recipe.step = {{"value", kStep}};

  const auto frames = frames_of_part(objective, recipe);

  ASSERT_EQ(frames.size(), 3U);
  Participants drawn(recipe.seed, kWorkers, kPart);
  double w = 3;
  for (const auto& frame : frames) {
    drawn.draw(frame.iteration);
    double mean = 0;
    for (const int worker : drawn.numbers()) {
      const auto p = static_cast<std::size_t>(worker);
      double own = w;
      for (int h = 0; h < kPeriod; ++h) {
        own -= kStep * kCurvatures[p] * (own - kCentres[p]);
      }
      mean += own / kPart;
    }
    w = mean;
    EXPECT_NEAR(frame.model[0], w, 1e-13);
    EXPECT_NEAR(frame.virtual_iterate[0], w, 1e-13);  // nothing is compressed
    EXPECT_EQ(frame.contributors, std::vector<int>(drawn.numbers().begin(), drawn.numbers().end()));
  }
}

/// Top_1 of three numbers.
std::vector<double> largest_of(const std::vector<double>& x) {
  std::vector<double> kept(x.size());
  std::size_t largest = 0;
  for (std::size_t j = 1; j < x.size(); ++j) {
    largest = std::abs(x[j]) > std::abs(x[largest]) ? j : largest;
  }
  kept[largest] = x[largest];
  return kept;
}

// EF21-PP: workers that take part do g^p += C(grad f_p(w) - g^p), the others keep theirs, and w -=
// eta mean g^p over all. z moves by the mean of the gradients that the workers had last.
TEST(Participation, OfGradientEstimatesIsTheLoopOfThePaper) {
  constexpr double kStep = 0.1;
  constexpr int kPart = 2;
  const auto gradient = [](std::size_t p, std::size_t j, double w) {
    return kCurvatures[p] * w - kCentres[p] * (static_cast<double>(j) - 0.75);
  };
  const test::TinyObjective objective(
      {3.0, -1.0, 2.0}, [&](const Draw& draw, std::span<const double> w, std::span<double> g) {
        for (std::size_t j = 0; j < w.size(); ++j) {
          g[j] = gradient(static_cast<std::size_t>(draw.worker), j, w[j]);
        }
      });
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                .aggregator = {{"kind", "allgather"}},
                .feedback = {{"kind", "ef21"}},
                .step = {{"value", kStep}}};
  recipe.workers = kWorkers;
  recipe.participants = kPart;
  recipe.iterations = 30;

  const auto frames = frames_of_part(objective, recipe);

  ASSERT_EQ(frames.size(), 30U);
  using Vector = std::vector<double>;
  Participants drawn(recipe.seed, kWorkers, kPart);
  Vector w{3, -1, 2};
  Vector z = w;
  std::vector<Vector> estimates(kWorkers, Vector(3));
  std::vector<Vector> last(kWorkers, Vector(3));
  for (const auto& frame : frames) {
    drawn.draw(frame.iteration);
    for (const int worker : drawn.numbers()) {
      const auto p = static_cast<std::size_t>(worker);
      Vector change(3);
      for (std::size_t j = 0; j < 3; ++j) {
        last[p][j] = gradient(p, j, w[j]);
        change[j] = last[p][j] - estimates[p][j];
      }
      const Vector sent = largest_of(change);
      for (std::size_t j = 0; j < 3; ++j) {
        estimates[p][j] += sent[j];
      }
    }
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t p = 0; p < kWorkers; ++p) {
        w[j] -= kStep * estimates[p][j] / kWorkers;
        z[j] -= kStep * last[p][j] / kWorkers;
      }
      EXPECT_NEAR(frame.model[j], w[j], 1e-13) << "iteration " << frame.iteration;
      EXPECT_NEAR(frame.virtual_iterate[j], z[j], 1e-13);
      EXPECT_NEAR(frame.expected_gap[j], w[j] - z[j], 1e-13);
    }
  }
}

TEST(Participation, LosesNothingOfGradientEstimates) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  for (const Json& feedback :
       {Json{{"kind", "ef21"}}, Json{{"kind", "ef21-sgdm"}, {"averaging", 0.25}}}) {
    for (const char* aggregator : {"allgather", "gtopk-tree"}) {
      for (const double momentum : {0.0, 0.5}) {
        Recipe recipe = watched_part({.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                                      .aggregator = {{"kind", aggregator}},
                                      .feedback = feedback,
                                      .momentum = momentum},
                                     2);
        SCOPED_TRACE(test::name_of(recipe));
        const auto frames = frames_of_part(objective, recipe);
        for (const auto& frame : frames) {
          EXPECT_TRUE(frame.conserves);
          EXPECT_LT(frame.conservation_defect(), 1e-13) << "iteration " << frame.iteration;
        }
        for (const int processes : {2, 5}) {
          test::expect_same_frames(frames, frames_of_part(objective, recipe, processes));
        }
      }
    }
  }
}

// Each worker's momentum is that of the versions that it took part in.
TEST(Participation, LeavesTheOptimiserOfAnAbsentWorkerAsItIs) {
  constexpr double kStep = 0.1;
  constexpr double kMomentum = 0.5;
  const test::TinyObjective objective(
      {0.0}, [](const Draw& draw, std::span<const double>, std::span<double> g) {
        g[0] = draw.worker + 1;
      });
  Recipe recipe;
  recipe.workers = 3;
  recipe.participants = 1;
  recipe.iterations = 12;
  recipe.step = {{"value", kStep}};
  recipe.local = {{"optimiser", "momentum"}, {"momentum", kMomentum}};

  const auto frames = frames_of_part(objective, recipe);

  std::array<double, 3> velocity{};
  double w = 0;
  for (const auto& frame : frames) {
    const auto p = static_cast<std::size_t>(frame.contributors.at(0));
    velocity[p] = kMomentum * velocity[p] + static_cast<double>(p + 1);
    w -= kStep * velocity[p];
    EXPECT_NEAR(frame.model[0], w, 1e-13);
  }
}

TEST(Participation, GivesEveryWorkerItsBatchesOneAfterTheOther) {
  std::vector<std::vector<std::uint64_t>> drawn(kWorkers);
  const test::TinyObjective objective(
      {1.0}, [&](const Draw& draw, std::span<const double>, std::span<double> g) {
        drawn[static_cast<std::size_t>(draw.worker)].push_back(draw.iteration);
        g[0] = 0;
      });
  Recipe recipe;
  recipe.workers = kWorkers;
  recipe.participants = 2;
  recipe.iterations = 10;

  const auto frames = frames_of_part(objective, recipe);

  std::size_t all = 0;
  for (std::size_t p = 0; p < drawn.size(); ++p) {
    const auto turns = std::count_if(frames.begin(), frames.end(), [&](const test::Frame& frame) {
      return takes_part(frame, p);
    });
    ASSERT_EQ(drawn[p].size(), static_cast<std::size_t>(turns));
    for (std::size_t i = 0; i < drawn[p].size(); ++i) {
      EXPECT_EQ(drawn[p][i], i);
    }
    all += drawn[p].size();
  }
  EXPECT_EQ(all, 20U);
}

// The Top-1 of every second message of a worker is one entry; with the threshold of the one before,
// the messages in between are all that has grown beyond it.
TEST(Participation, LeavesTheThresholdOfAnAbsentWorkerAsItIs) {
  const test::TinyObjective objective(
      {0.0, 0.0, 0.0}, [](const Draw&, std::span<const double>, std::span<double> g) {
        g[0] = 4;
        g[1] = 3;
        g[2] = 2;
      });
  Recipe recipe{.sparsifier = {{"kind", "reused-threshold"}, {"k", 1}, {"period", 2}},
                .aggregator = {{"kind", "allgather"}}};
  recipe.workers = 3;
  recipe.participants = 1;
  recipe.iterations = 20;
  std::array<int, 3> turns{};
  for (const auto& frame : frames_of_part(objective, recipe)) {
    const auto p = static_cast<std::size_t>(frame.contributors.at(0));
    const double sent = frame.scalars[p].nnz_sent;
    if (turns[p] % 2 == 0) {
      EXPECT_EQ(sent, 1);
    } else if (turns[p] == 1) {
      EXPECT_EQ(sent, 3);  // 4, 6 and 4 reach the 4 of the first message
    }
    ++turns[p];
  }
}

/// sum_p e^p_{t+1} + g_t - sum_p a^p_t, its largest entry. An accumulator is the residual before,
/// and for those that take part their gradient times the step size.
double largest_loss(const test::Frame& frame, const std::vector<double>& residual_before) {
  const auto count = static_cast<double>(frame.contributors.size());
  double largest = 0;
  for (std::size_t i = 0; i < frame.update.size(); ++i) {
    const double accumulators =
        kWorkers * residual_before[i] + count * frame.step_size * frame.mean_gradient[i];
    const double after = kWorkers * frame.mean_residual[i] + frame.update[i];
    largest = std::max(largest, std::abs(after - accumulators));
  }
  return largest;
}

TEST(Participation, LosesNothingWhereAnAbsentWorkerKeepsItsResidual) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  for (const char* aggregator : {"dense",
                                 "allgather",
                                 "gtopk-exact",
                                 "gtopk-tree",
                                 "gtopk-mask",
                                 "gtopk-doubling",
                                 "sparse-reduce-scatter",
                                 "ok-topk",
                                 "parameter-server"}) {
    SCOPED_TRACE(aggregator);
    const Recipe recipe = watched_part(
        {.sparsifier = {{"kind", "top-k"}, {"k", 2}}, .aggregator = {{"kind", aggregator}}}, 3);
    std::vector<double> residual(6);
    std::vector<double> norms(kWorkers);
    for (const auto& frame : frames_of_part(objective, recipe)) {
      ASSERT_TRUE(frame.conserves);
      EXPECT_LT(largest_loss(frame, residual), 1e-13);
      EXPECT_LT(frame.conservation_defect(), 1e-13);
      for (std::size_t p = 0; p < norms.size(); ++p) {
        if (!takes_part(frame, p)) {
          EXPECT_EQ(frame.scalars[p].residual_norm_sq, norms[p]);
        }
        norms[p] = frame.scalars[p].residual_norm_sq;
      }
      residual = frame.mean_residual;
    }
    EXPECT_GT(*std::max_element(norms.begin(), norms.end()), 0);
  }
}

TEST(Participation, IsPaidForByThoseThatTakePartAlone) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const Json top{{"kind", "top-k"}, {"k", 1}};
  // Two workers exchange a list of one entry each, of 4 bytes and 8; of a tree's edge there is one,
  // up and down.
  for (const auto& [aggregator, bytes] :
       {std::pair("allgather", 24U), std::pair("gtopk-tree", 24U), std::pair("dense", 96U)}) {
    for (const auto& frame : frames_of_part(
             objective,
             watched_part({.sparsifier = top, .aggregator = {{"kind", aggregator}}}, 2))) {
      EXPECT_EQ(frame.traffic.bytes, bytes) << aggregator;
      EXPECT_EQ(frame.traffic_model.bytes, bytes) << aggregator;
    }
  }
}

// |e^p_{t+1}|^2 of an absent worker counts in every version, whether these are measured or not.
TEST(Participation, AddsTheErrorOfAbsentWorkersInEveryVersion) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  Recipe recipe = watched_part(
      {.sparsifier = {{"kind", "top-k"}, {"k", 2}}, .aggregator = {{"kind", "allgather"}}}, 2);
  const auto all = frames_of_part(objective, recipe);
  recipe.measured = 4;
  const auto some = frames_of_part(objective, recipe);
  std::array<double, kWorkers> sums{};
  for (const auto& frame : all) {
    for (std::size_t p = 0; p < sums.size(); ++p) {
      sums[p] += frame.scalars[p].residual_norm_sq;
      EXPECT_NEAR(frame.scalars[p].total_error, sums[p], 1e-12 * sums[p]);
    }
  }
  for (const auto& frame : some) {
    const auto& same = all[frame.iteration];
    for (std::size_t p = 0; p < sums.size(); ++p) {
      EXPECT_NEAR(frame.scalars[p].total_error,
                  same.scalars[p].total_error,
                  1e-12 * same.scalars[p].total_error);
    }
  }
}

TEST(Participation, CountsTheEpochsOfTheSamplesThatWereTaken) {
  std::vector<std::vector<std::uint32_t>> shards(kWorkers, std::vector<std::uint32_t>{0, 1});
  const test::TinyObjective objective(
      {1.0},
      [](const Draw&, std::span<const double>, std::span<double> g) { g[0] = 0; },
      /*samples=*/10);
  Recipe recipe;
  recipe.workers = kWorkers;
  recipe.participants = 2;
  recipe.shards = shards;
  recipe.iterations = 6;
  EXPECT_DOUBLE_EQ(frames_of_part(objective, recipe)[5].epoch, 5 * 2 * 1 / 10.0);
  recipe.batch = 0;
  EXPECT_DOUBLE_EQ(frames_of_part(objective, recipe)[5].epoch, 5 * 2 / 5.0);
}

TEST(Participation, IsAFactOfTheRunsProtocol) {
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 4}}));
  const ProtocolLaw law = with_participants(local->law(5), 5, 2);
  EXPECT_TRUE(law.may_leave_out);
  EXPECT_EQ(law.participants, 2U);
  EXPECT_EQ(law.contributions, 8U);
  EXPECT_FALSE(with_participants(local->law(5), 5, 5).participants);
  for (const char* kind : {"asp", "ssp", "inhad", "gossip"}) {
    Json keys{{"kind", kind}};
    if (keys["kind"] == "ssp") {
      keys["staleness"] = 1;
    } else if (keys["kind"] == "gossip") {
      keys["graph"] = "ring";
    } else if (keys["kind"] == "inhad") {
      keys.update({{"nodes", 2}, {"quota", 2}});
    }
    EXPECT_FALSE(make_protocol(Section("protocol", keys))->law(4).may_leave_out) << kind;
  }
}

}  // namespace
}  // namespace residuum
