// Trainings over real processes, which threads play: the cases in which they must equal a run in
// lockstep, and conservation, however the messages arrive.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/core/protocols/real_support.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::on_real_processes;
using test::real;
using test::RealRun;
using test::Recipe;
using test::recipe_of;
using test::run_really;

/// Equal in the models, updates and losses, which a server has.
void expect_same_models(const std::vector<test::Frame>& a, const std::vector<test::Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    ASSERT_EQ(a[t].model, b[t].model) << "iteration " << t;
    ASSERT_EQ(a[t].update, b[t].update);
    ASSERT_EQ(a[t].epoch, b[t].epoch);
    ASSERT_EQ(a[t].step_size, b[t].step_size);
    ASSERT_EQ(a[t].evaluation->loss, b[t].evaluation->loss);
    ASSERT_EQ(a[t].evaluation->grad_norm_sq, b[t].evaluation->grad_norm_sq);
  }
}

void expect_bulk_synchronous(const Protocol& protocol, int workers, int processes) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const auto methods = test::methods_for(protocol, workers);
  ASSERT_GE(methods.size(), 4U);
  for (const Recipe& method : methods) {
    SCOPED_TRACE(test::name_of(method));
    Recipe recipe = method;
    recipe.workers = workers;
    recipe.iterations = 9;
    recipe.evaluated = Json(1);
    const auto lockstep = test::train(objective, recipe);
    recipe.protocol = &protocol;
    const RealRun run = run_really(processes, objective, recipe);
    for (const Outcome& outcome : run.outcomes) {
      ASSERT_EQ(outcome.state, Outcome::State::finished);
      ASSERT_EQ(outcome.iterations, 9U);
    }
    expect_same_models(run.frames, lockstep.frames);
  }
}

TEST(RealAsp, OfOneWorkerIsSerialSgdInEveryBit) {
  expect_bulk_synchronous(*real({{"kind", "asp"}}), 1, 2);
}

TEST(RealInhad, ThatWaitsForAllIsBulkSynchronousInEveryBit) {
  for (const char* weights : {"plain", "per-worker"}) {
    const auto inhad = real({{"kind", "inhad"},
                             {"nodes", 6},
                             {"quota", 6},
                             {"cap", 1},
                             {"staleness", 0},
                             {"weights", weights}});
    for (const int processes : {2, 3, 4}) {
      expect_bulk_synchronous(*inhad, 6, processes);
    }
  }
}

/// The bytes that workers have sent in the whole run.
double uplink_of(const RealRun& run) {
  const auto& scalars = run.frames.back().scalars.front();
  return scalars.total_bytes - scalars.total_down_bytes;
}

TEST(RealAsp, SendsMessagesAsTheirQuantiserWroteThem) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const auto asp = real({{"kind", "asp"}});
  Recipe recipe = recipe_of(*asp, 1, 20);
  recipe.quantiser = {{"kind", "sign"}};
  recipe.aggregator = {{"kind", "allgather"}};
  const RealRun run = run_really(2, objective, recipe);
  recipe.protocol = nullptr;
  expect_same_models(run.frames, test::train(objective, recipe).frames);
  // 12 signs take 2 bytes and their scale 8.
  EXPECT_EQ(uplink_of(run), 20 * (2 + 8));
}

TEST(RealAsp, SendsMessagesInTheFormOfTheirIndices) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const auto asp = real({{"kind", "asp"}});
  const auto expect_bytes = [&](const Json& sparsifier, const Json& quantiser, double bytes) {
    Recipe recipe = recipe_of(*asp, 1, 20);
    recipe.sparsifier = sparsifier;
    recipe.quantiser = quantiser;
    recipe.aggregator = {{"kind", "allgather"}};
    const RealRun run = run_really(2, objective, recipe);
    recipe.protocol = nullptr;
    expect_same_models(run.frames, test::train(objective, recipe).frames);
    EXPECT_EQ(uplink_of(run), 20 * bytes) << sparsifier << quantiser;
  };
  const Json none{{"kind", "none"}};
  // Blocks of 5, 5 and 2: three counts of three bits take 2 bytes, four places of three take 2.
  const Json chunks{{"kind", "chunk-top-k"}, {"k", 4}, {"block", 5}};
  expect_bytes(chunks, none, 2 + 2 + 4 * 8);
  expect_bytes(chunks, {{"kind", "sign"}}, 2 + 2 + 1 + 8);
  const Json blocks{{"kind", "random-block"}, {"k", 6}, {"block", 3}, {"mask", "per-worker"}};
  expect_bytes(blocks, none, 2 * 4 + 6 * 8);
  expect_bytes(blocks, {{"kind", "sign"}}, 2 * 4 + 1 + 8);
}

/// Nodes add the messages of their workers before the server adds up the sums, which rounds
/// otherwise. The gradients are small integers and the step is 1/8, so that no sum is rounded.
TEST(RealInhad, OfNodesWithSeveralWorkersIsBulkSynchronousWhereSumsAreExact) {
  const test::TinyObjective objective(
      {0, 0, 0, 0},
      [](const Draw& draw, std::span<const double> /*w*/, std::span<double> gradient) {
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          gradient[i] = static_cast<double>((draw.worker + 3 * i + draw.iteration) % 5) - 2;
        }
      });
  const auto inhad =
      real({{"kind", "inhad"}, {"nodes", 2}, {"quota", 8}, {"cap", 1}, {"staleness", 0}});
  for (const char* sparsifier : {"top-k", "none"}) {
    Recipe recipe = recipe_of(*inhad, 8, 12);
    recipe.sparsifier = {{"kind", sparsifier}};
    if (recipe.sparsifier["kind"] == "top-k") {
      recipe.sparsifier["k"] = 1;
    }
    recipe.aggregator = {{"kind", recipe.sparsifier["kind"] == "none" ? "dense" : "allgather"}};
    recipe.step = {{"value", 0.125}};
    recipe.protocol = nullptr;
    const auto lockstep = test::train(objective, recipe);
    recipe.protocol = inhad.get();
    const RealRun run = run_really(3, objective, recipe);
    expect_same_models(run.frames, lockstep.frames);
    // The nodes send 2 lists of at most 4 entries, or 2 whole vectors, and in each three workers
    // hand theirs to the first.
    const double most = (2 + 2 * 3) * 4 * sizeof(double);
    for (const test::Frame& frame : run.frames) {
      const double up = frame.scalars.front().bytes - frame.scalars.front().down_bytes;
      EXPECT_LE(up, most);
      EXPECT_GT(up, 0);
    }
  }
}

TEST(RealRuns, KeepTheStalenessThatTheirProtocolPromises) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const std::vector<Json> sections = {
      {{"kind", "ssp"}, {"staleness", 1}},
      {{"kind", "asp"}},
      {{"kind", "inhad"}, {"nodes", 2}, {"quota", 3}, {"staleness", 2}, {"cap", 4}}};
  for (const Json& section : sections) {
    const auto protocol = real(section);
    const auto most = protocol->law(4).staleness.value_or(1000);
    for (const int processes : {2, 3}) {
      SCOPED_TRACE(section.dump());
      const RealRun run = run_really(processes, objective, recipe_of(*protocol, 4, 40));
      ASSERT_EQ(run.frames.size(), 40U);
      std::uint64_t contributions = 0;
      double seconds = 0;
      double idle = 0;
      for (const test::Frame& frame : run.frames) {
        idle += frame.notes->waits->back();
        ASSERT_TRUE(frame.notes.has_value());
        EXPECT_LE(*frame.notes->staleness_max, most);
        contributions += frame.notes->contributions;
        EXPECT_EQ(frame.notes->total_contributions, contributions);
        EXPECT_FALSE(frame.notes->seconds.has_value()) << "the wall clock is no virtual time";
        EXPECT_GE(*frame.notes->wall_s, seconds);
        seconds = *frame.notes->wall_s;
      }
      EXPECT_GE(contributions, 40U);
      EXPECT_TRUE(idle > 0 || section["kind"] == "inhad");  // whose workers may never wait
      // Each worker sends its 12 numbers of 8 bytes; a node adds up those of its workers, if any,
      // where one of two hands them to the other.
      const double sent = uplink_of(run) / (12 * sizeof(double));
      if (section["kind"] == "inhad") {
        EXPECT_GE(sent, 40);
        EXPECT_LE(sent, 2 * 40 + static_cast<double>(contributions));
      } else {
        EXPECT_EQ(sent, static_cast<double>(contributions));
      }
    }
  }
}

TEST(RealRuns, NameTheWorkerWhoseGradientIsNotFinite) {
  const test::TinyObjective objective(
      {0, 0}, [](const Draw& draw, std::span<const double> /*w*/, std::span<double> gradient) {
        const bool breaks = draw.worker == 2 && draw.iteration == 3;
        gradient[0] = 1;
        gradient[1] = breaks ? std::numeric_limits<double>::infinity() : 1;
      });
  for (const Json& section :
       {Json{{"kind", "asp"}},
        Json{{"kind", "inhad"}, {"nodes", 1}, {"quota", 3}, {"staleness", 1}}}) {
    const auto protocol = real(section);
    Recipe recipe = recipe_of(*protocol, 3, 1'000'000);
    recipe.measured = Json{{"geometric", 2.0}};
    recipe.evaluated = std::nullopt;
    const RealRun run = run_really(2, objective, recipe);
    for (const Outcome& outcome : run.outcomes) {
      ASSERT_EQ(outcome.state, Outcome::State::diverged);
      EXPECT_EQ(outcome.divergence->worker, 2);
      EXPECT_EQ(outcome.divergence->of, Divergence::Of::gradient);
      EXPECT_EQ(outcome.divergence->entry, 1U);
      EXPECT_EQ(outcome.divergence->iteration, run.outcomes.front().iterations);
    }
  }
}

TEST(RealRuns, ThrowTheErrorOfOneWorkerOnAllProcesses) {
  const test::TinyObjective objective(
      {0, 0}, [](const Draw& draw, std::span<const double> /*w*/, std::span<double> gradient) {
        if (draw.worker == 1 && draw.iteration == 3) {
          resource_error("the disk is full");
        }
        gradient[0] = gradient[1] = 1;
      });
  const auto asp = real({{"kind", "asp"}});
  std::array<std::string, 3> messages;
  on_real_processes(3, [&](World& world, MessageQueue& queue) {
    Recipe recipe = recipe_of(*asp, 2, 1'000'000);
    recipe.queue = &queue;
    test::FrameKeeper keeper;
    try {
      test::train(world, objective, recipe, keeper);
    } catch (const SharedError& error) {
      messages[static_cast<std::size_t>(world.rank())] = error.what();
    }
  });
  EXPECT_THAT(messages, ::testing::Each(::testing::Eq("worker 1: the disk is full")));
}

std::string refusal(const Protocol& protocol, int processes, int workers) {
  test::NumberedWorld world(0, processes);
  try {
    static_cast<void>(protocol.cluster(world, workers));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RealRuns, SayHowManyProcessesTheyNeed) {
  const auto asp = real({{"kind", "asp"}});
  const auto inhad = real({{"kind", "inhad"}, {"nodes", 2}, {"quota", 3}});
  EXPECT_THAT(refusal(*asp, 1, 4), ::testing::HasSubstr("mpirun -n 5"));
  EXPECT_THAT(refusal(*asp, 6, 4), ::testing::HasSubstr("mpirun -n 5"));
  EXPECT_EQ(refusal(*asp, 2, 4), "");
  EXPECT_EQ(refusal(*asp, 5, 4), "");
  EXPECT_THAT(refusal(*inhad, 4, 6), ::testing::HasSubstr("2 nodes"));
  EXPECT_EQ(refusal(*inhad, 3, 6), "");
}

TEST(RealClusters, HostNoWorkerOnTheRootAndWholeNodesElsewhere) {
  for (const int per_node : {1, 2, 3}) {
    for (int size = 2; size <= 12 / per_node + 1; ++size) {
      std::vector<int> hosts;
      for (int rank = 0; rank < size; ++rank) {
        test::NumberedWorld world(rank, size);
        const Cluster cluster = Cluster::with_server(world, 12, per_node);
        EXPECT_EQ(cluster.count() == 0, rank == 0);
        EXPECT_EQ(cluster.first() % per_node, 0);
        for (int worker = 0; worker < cluster.count(); ++worker) {
          hosts.push_back(rank);
          EXPECT_EQ(cluster.host(cluster.first() + worker), rank);
          EXPECT_TRUE(cluster.here(cluster.first() + worker));
        }
      }
      EXPECT_EQ(hosts.size(), 12U);
    }
  }
}

}  // namespace
}  // namespace residuum
