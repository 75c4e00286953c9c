// Trainings with late gradients: cases that must equal a run in lockstep, a schedule that is solved
// by hand, and what holds for all of them.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/protocols/late_protocol.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using Values = std::vector<double>;

std::unique_ptr<Protocol> protocol_of(const Json& section) {
  return make_protocol(Section("protocol", section));
}

std::vector<test::Frame> late_frames(const Objective& objective,
                                     const Recipe& recipe,
                                     int processes = 1) {
  std::vector<test::Frame> frames;
  test::on_processes(processes, [&](World& world) {
    test::FrameKeeper keeper;
    const auto outcome = test::train(world, objective, recipe, keeper);
    EXPECT_EQ(outcome.state, Outcome::State::finished);
    if (world.is_root()) {
      frames = std::move(keeper.frames);
    }
  });
  return frames;
}

Recipe with(Recipe recipe, const Protocol& protocol, int workers, std::uint64_t iterations) {
  recipe.protocol = &protocol;
  recipe.workers = workers;
  recipe.iterations = iterations;
  recipe.evaluated = Json(1);
  recipe.virtual_points = Json(2);
  return recipe;
}

/// Equal in what the models, the measurement and the update are made of. The expected gap is summed
/// in another order, and traffic goes by another way.
void expect_same_training(const std::vector<test::Frame>& a, const std::vector<test::Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    ASSERT_EQ(a[t].model, b[t].model) << "iteration " << t;
    ASSERT_EQ(a[t].virtual_iterate, b[t].virtual_iterate);
    ASSERT_EQ(a[t].mean_gradient, b[t].mean_gradient);
    ASSERT_EQ(a[t].mean_accumulator, b[t].mean_accumulator);
    ASSERT_EQ(a[t].update, b[t].update);
    ASSERT_EQ(a[t].epoch, b[t].epoch);
    ASSERT_EQ(a[t].evaluation->loss, b[t].evaluation->loss);
    ASSERT_EQ(a[t].evaluations.virtual_loss, b[t].evaluations.virtual_loss);
    ASSERT_EQ(a[t].sums.gap, b[t].sums.gap);
    for (std::size_t p = 0; p < a[t].scalars.size(); ++p) {
      ASSERT_EQ(a[t].scalars[p].residual_norm_sq, b[t].scalars[p].residual_norm_sq);
      ASSERT_EQ(a[t].scalars[p].total_error, b[t].scalars[p].total_error);
      ASSERT_EQ(a[t].scalars[p].nnz_sent, b[t].scalars[p].nnz_sent);
      ASSERT_EQ(a[t].scalars[p].magnitude, b[t].scalars[p].magnitude);
    }
  }
}

TEST(Asp, OfOneWorkerIsSerialSgdInEveryBit) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const auto asp = protocol_of({{"kind", "asp"}, {"compute", "exponential:2"}});
  const auto methods = test::methods_for(*asp, 1);
  ASSERT_GE(methods.size(), 6U);
  for (const Recipe& method : methods) {
    SCOPED_TRACE(test::name_of(method));
    expect_same_training(late_frames(objective, with(method, *asp, 1, 9)),
                         late_frames(objective, with(method, bulk_synchronous(), 1, 9)));
  }
}

TEST(Inhad, ThatWaitsForAllIsBulkSynchronousInEveryBit) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  for (const int nodes : {1, 2, 6}) {
    for (const char* weights : {"plain", "per-worker"}) {
      const auto inhad = protocol_of({{"kind", "inhad"},
                                      {"nodes", nodes},
                                      {"quota", 6},
                                      {"cap", 1},
                                      {"staleness", 0},
                                      {"weights", weights},
                                      {"compute", "lognormal:1,1"}});
      for (const Recipe& method : test::methods_for(*inhad, 6)) {
        SCOPED_TRACE(test::name_of(method));
        expect_same_training(late_frames(objective, with(method, *inhad, 6, 9)),
                             late_frames(objective, with(method, bulk_synchronous(), 6, 9)));
      }
    }
  }
}

std::vector<Json> late_protocols() {
  return {{{"kind", "asp"}, {"compute", "exponential:1"}},
          {{"kind", "ssp"}, {"staleness", 1}, {"compute", "pareto:0.5,1.5"}},
          {{"kind", "inhad"},
           {"nodes", 3},
           {"quota", 4},
           {"cap", "unlimited"},
           {"staleness", 2},
           {"weights", "per-worker"},
           {"compute", "lognormal:1,0.7"},
           {"speeds", {1, 2, 1, 0.25, 1, 3}},
           {"straggler_factor", 5},
           {"straggler_every_s", 4},
           {"straggler_lasts_s", 2}}};
}

TEST(Late, TrainingsHaveTheSameBitsAtAnyNumberOfProcesses) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  for (const Json& section : late_protocols()) {
    const auto protocol = protocol_of(section);
    for (const Recipe& method : test::methods_for(*protocol, 6)) {
      SCOPED_TRACE(section.dump() + test::name_of(method));
      Recipe recipe = with(method, *protocol, 6, 12);
      recipe.networks = {{.links = {.alpha_s = 0.1, .beta_s_per_byte = 0.0005}}};
      recipe.split = Json(2);
      const auto alone = late_frames(objective, recipe);
      test::expect_same_frames(alone, late_frames(objective, recipe, 2));
      test::expect_same_frames(alone, late_frames(objective, recipe, 6));
    }
  }
}

TEST(Late, TrainingsLoseNothingWhileMessagesAreUnderWay) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  for (const Json& section : late_protocols()) {
    const auto protocol = protocol_of(section);
    for (Recipe method : test::methods_for(*protocol, 6)) {
      for (const char* units : {"step", "gradient"}) {
        method.feedback["units"] = units;
        method.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
        SCOPED_TRACE(section.dump() + test::name_of(method));
        Recipe recipe = with(method, *protocol, 6, 40);
        recipe.networks = {{.links = {.alpha_s = 0.5, .beta_s_per_byte = 0}}};
        const auto frames = late_frames(objective, recipe);
        const auto& last = frames.back();
        double gap = 0;
        for (std::size_t j = 0; j < last.model.size(); ++j) {
          gap = std::max(gap, std::abs(last.model[j] - last.virtual_iterate[j]));
        }
        if (last.conserves) {
          EXPECT_LT(last.conservation_defect(), 1e-13);
        } else {
          EXPECT_GT(last.conservation_defect(), 1e-4) << "nothing was lost";
        }
        EXPECT_TRUE(gap > 1e-4 || last.scalars[0].nnz_sent == 12) << "nothing was held back";
      }
    }
  }
}

// Worker 0 takes 1 s for a gradient of 1, worker 1 takes 2.5 s for one of 10; eta = 1, f has no
// curvature. Versions are made at 1, 2, 2.5, 3, 4, 5 (worker 0's fifth, then worker 1's second,
// whose computation was announced later).
TEST(Asp, AppliesEachGradientWhenItArrives) {
  const test::TinyObjective objective(
      {100.0}, [](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
        g[0] = draw.worker == 0 ? 1 : 10;
      });
  const auto asp = protocol_of({{"kind", "asp"}, {"compute", 1}, {"speeds", {1, 0.4}}});
  Recipe recipe = with({}, *asp, 2, 6);
  recipe.step = {{"value", 1}};
  const auto frames = late_frames(objective, recipe);
  Values models;
  Values seconds;
  Values version_seconds;
  std::vector<int> contributors;
  std::vector<std::uint64_t> staleness;
  for (const auto& frame : frames) {
    models.push_back(frame.model[0]);
    seconds.push_back(frame.notes->seconds.value());
    version_seconds.push_back(frame.notes->version_seconds.value());
    contributors.push_back(frame.contributors.at(0));
    staleness.push_back(frame.notes->staleness_max.value());
  }
  EXPECT_EQ(seconds, (Values{1, 2, 2.5, 3, 4, 5}));
  EXPECT_EQ(version_seconds, (Values{1, 1, 0.5, 0.5, 1, 1}));
  EXPECT_EQ(contributors, (std::vector<int>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(models, (Values{99, 98, 88, 87, 86, 76}));
  // Worker 1 reads versions 0 and 3; worker 0's fourth gradient was read at version 2.
  EXPECT_EQ(staleness, (std::vector<std::uint64_t>{0, 0, 2, 1, 0, 2}));
  EXPECT_EQ(frames.back().staleness_counts, (std::vector<std::uint64_t>{3, 1, 2}));
  EXPECT_EQ(frames.back().notes->total_contributions, 6U);
  EXPECT_EQ(frames.back().notes->weight_skew, 4.0 / 3);  // 4 of worker 0, 2 of worker 1
}

// Three workers, two nodes would not fit; one node. Worker 0 does two gradients of 1 while the
// others do one of 4 and of 7: the plain mean is 13/4, with equal workers (1 + 4 + 7)/3 = 4.
TEST(Inhad, CanGiveEachWorkerTheSameWeight) {
  const test::TinyObjective objective(
      {0.0}, [](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
        g[0] = 1 + 3 * draw.worker;
      });
  for (const Json& selection : {Json{{"kind", "none"}}, Json{{"kind", "top-k"}, {"k", 1}}}) {
    for (const auto& [weights, mean] : {std::pair("plain", 13.0 / 4), {"per-worker", 4.0}}) {
      const auto inhad = protocol_of({{"kind", "inhad"},
                                      {"nodes", 1},
                                      {"quota", 4},
                                      {"cap", 2},
                                      {"staleness", 1},
                                      {"weights", weights},
                                      {"speeds", {2.5, 1.25, 1.25}}});
      Recipe recipe = with({.sparsifier = selection}, *inhad, 3, 1);
      recipe.aggregator = {{"kind", "allgather"}};
      recipe.step = {{"value", 1}};
      const auto frames = late_frames(objective, recipe);
      EXPECT_EQ(frames[0].contributors, (std::vector<int>{0, 0, 1, 2})) << weights;
      EXPECT_DOUBLE_EQ(frames[0].model[0], -mean);
      EXPECT_DOUBLE_EQ(frames[0].mean_gradient[0], mean);
      EXPECT_DOUBLE_EQ(frames[0].notes->weight_skew.value(), weights[1] == 'l' ? 1.5 : 1.0);
    }
  }
}

// A push carries 2 entries of 12 bytes in a message of 3 words of 8; READ and MODEL take 2 words,
// STOP takes 1; the model is 12 numbers of 8 bytes. The worker sends its next READ with the push,
// so that the first version has two of them; STOP goes out with the last.
TEST(Late, BytesAreThoseOfActorMessagesAndPackedMessages) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const auto asp = protocol_of({{"kind", "asp"}});
  Recipe recipe = with({.sparsifier = {{"kind", "top-k"}, {"k", 2}}}, *asp, 1, 4);
  recipe.aggregator = {{"kind", "allgather"}};
  const auto frames = late_frames(objective, recipe);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    EXPECT_EQ(frames[t].traffic.bytes, 24U + 96U);
    EXPECT_EQ(frames[t].traffic.down, 96U) << t;
    const unsigned more = t == 0 ? 16 : t == 3 ? 8 : 0;
    EXPECT_EQ(frames[t].notes->control_bytes, 16U + 24U + 16U + more) << t;
    EXPECT_EQ(frames[t].scalars[0].total_bytes, 120.0 * static_cast<double>(t + 1));
    EXPECT_EQ(frames[t].scalars[0].total_down_bytes, 96.0 * static_cast<double>(t + 1));
  }
}

// The bytes of a gradient, both ways: a vector up and a model down, however the protocol is
// spelled. A server is a machine of its own, and a node lives with its first worker.
TEST(Late, GradientsOfAllProtocolsCostTheSameBytes) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  constexpr double kVector = 12 * sizeof(double);
  constexpr std::uint64_t kVersions = 40;
  const auto inhad =
      protocol_of({{"kind", "inhad"}, {"nodes", 1}, {"quota", 4}, {"cap", 1}, {"staleness", 0}});
  const auto asp = protocol_of({{"kind", "asp"}});
  for (const Protocol* protocol :
       std::initializer_list<const Protocol*>{&bulk_synchronous(), inhad.get(), asp.get()}) {
    Recipe recipe = with({}, *protocol, 4, kVersions);
    recipe.aggregator = {{"kind", protocol == &bulk_synchronous() ? "parameter-server" : "dense"}};
    const auto frames = late_frames(objective, recipe);
    const double gradients = protocol == asp.get() ? kVersions : 4 * kVersions;
    double sent = 0;
    double down = 0;
    for (const auto& scalars : frames.back().scalars) {
      sent += scalars.total_bytes;
      down += scalars.total_down_bytes;
    }
    EXPECT_EQ(sent - down, gradients * kVector);
    // Each worker may have a model at the end that no gradient has come back from, or know the
    // first one and get none after the last version.
    EXPECT_NEAR(down, gradients * kVector, 4 * kVector);
  }
}

// Two workers of one node send their sum as one list of the union, or as the whole vector where
// that is shorter: 3 entries of 12 bytes are less than 5 numbers of 8 bytes, 4 are not.
TEST(Inhad, ANodeSendsItsSumInTheShorterForm) {
  const auto bytes = [](std::size_t k) {
    const test::TinyObjective objective(
        Values(5, 0.0), [](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
          for (std::size_t j = 0; j < 5; ++j) {
            g[j] = 1 + static_cast<double>((j + 2 * static_cast<std::size_t>(draw.worker)) % 5);
          }
        });
    const auto inhad = protocol_of({{"kind", "inhad"}, {"nodes", 1}, {"quota", 2}});
    Recipe recipe = with({.sparsifier = {{"kind", "top-k"}, {"k", k}}}, *inhad, 2, 1);
    recipe.aggregator = {{"kind", "allgather"}};
    const Traffic traffic = late_frames(objective, recipe)[0].traffic;
    return traffic.bytes - traffic.down;
  };
  // The message of the node's second worker, and the sum.
  EXPECT_EQ(bytes(1), 12U + 24U);  // entries 4 and 2
  EXPECT_EQ(bytes(2), 24U + 40U);  // entries 4, 3 and 2, 1
}

TEST(Late, WorkersStepWithEtaOfTheVersionTheyHaveRead) {
  const test::TinyObjective objective = test::constant_gradient({0.0}, {1.0});
  const auto asp = protocol_of({{"kind", "asp"}, {"speeds", {1, 0.4}}});
  Recipe recipe = with({}, *asp, 2, 3);
  recipe.step = {{"rule", "inv-sqrt"}, {"value", 1}};
  const auto frames = late_frames(objective, recipe);
  // The third version is of worker 1, which has read version 0.
  EXPECT_DOUBLE_EQ(frames[2].step_size, 1 / std::sqrt(3));
  EXPECT_DOUBLE_EQ(frames[2].model[0], -2 - 1 / std::sqrt(2));
  EXPECT_DOUBLE_EQ(frames[2].virtual_iterate[0], -2 - 1 / std::sqrt(2));
}

TEST(Late, AGradientThatIsNotFiniteEndsTheRunAndNamesItsWorker) {
  const test::TinyObjective objective(
      {1.0}, [](const Draw& draw, std::span<const double> w, std::span<double> g) {
        g[0] = draw.worker == 1 && draw.iteration == 2 ? std::nan("") : w[0];
      });
  for (const Json& section :
       {Json{{"kind", "asp"}}, Json{{"kind", "inhad"}, {"nodes", 1}, {"quota", 2}}}) {
    const auto protocol = protocol_of(section);
    for (const int processes : {1, 2}) {
      test::on_processes(processes, [&](World& world) {
        test::FrameKeeper keeper;
        const auto outcome = test::train(world, objective, with({}, *protocol, 2, 50), keeper);
        EXPECT_EQ(outcome.state, Outcome::State::diverged);
        ASSERT_TRUE(outcome.divergence.has_value());
        EXPECT_EQ(outcome.divergence->worker, 1);
        EXPECT_NE(outcome.message.find("gradient of worker 1 is not finite"), std::string::npos)
            << outcome.message;
      });
    }
  }
}

/// The gradient of 40 numbers is w with noise of the given variance each; the halves of a batch
/// have noise of their own.
test::TinyObjective noise_of_two_halves(double variance) {
  return {Values(40, 1.0), [variance](const Draw& draw, std::span<const double> w, auto g) {
            const auto worker = static_cast<std::uint32_t>(draw.worker);
            const auto number = static_cast<std::uint32_t>(draw.iteration);
            RandomStream first(draw.seed, Purpose::noise, worker, number);
            RandomStream second(draw.seed, Purpose::half_noise, worker, number);
            for (std::size_t j = 0; j < g.size(); ++j) {
              const double one = std::sqrt(2 * variance) * first.normal();
              const double other = std::sqrt(2 * variance) * second.normal();
              g[j] = w[j] + (draw.first_half ? one : (one + other) / 2);
            }
          }};
}

TEST(Late, RowsHaveTheNoiseOfGradientsThatWereSplitSinceTheRowBefore) {
  const auto objective = noise_of_two_halves(0.25);
  const auto asp = protocol_of({{"kind", "asp"}, {"compute", "exponential:1"}});
  Recipe recipe = with({}, *asp, 4, 400);
  recipe.split = Json(1);
  double sum = 0;
  double rows = 0;
  for (const auto& frame : late_frames(objective, recipe)) {
    sum += frame.late_noise.value_or(0);
    rows += frame.late_noise ? 1 : 0;
  }
  EXPECT_EQ(rows, 400);
  // sigma^2 = 40 / 4; a row's estimate has a standard deviation of 10 sqrt(2/40), their mean one of
  // 10 sqrt(2/40)/20 = 0.11.
  EXPECT_NEAR(sum / rows, 10, 5 * 0.11);
}

}  // namespace
}  // namespace residuum
