// Virtual time of whole trainings in lockstep: the cost model of theory section 6 in every
// iteration, parts that add up, and the same numbers at any number of processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/protocols/protocol.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

const NetworkModel kLine{.name = "line", .links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}};
const NetworkModel kFree{.name = "none", .links = {}};

struct VersionTimes {
  std::vector<NetworkTimes> of_networks;
  double version_s() const { return of_networks.front().version_s; }
  friend bool operator==(const VersionTimes& a, const VersionTimes& b) {
    const auto totals = [](const VersionTimes& times) {
      std::vector<double> all;
      for (const auto& one : times.of_networks) {
        all.insert(all.end(),
                   {one.compute_s, one.select_s, one.merge_s, one.wire_s, one.version_s});
      }
      return all;
    };
    return totals(a) == totals(b);
  }
};

class TimesKeeper final : public StepObserver {
 public:
  void observe(const StepView& view) override {
    const auto seen = view.network.times;
    times.push_back({.of_networks = {seen.begin(), seen.end()}});
  }
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
  std::vector<VersionTimes> times;
};

std::vector<VersionTimes> times_of(const Recipe& recipe, int processes = 1) {
  std::vector<VersionTimes> times;
  test::on_processes(processes, [&](World& world) {
    TimesKeeper keeper;
    const auto objective = test::noisy_quadratic(12, 0.5);
    const auto outcome = test::train(world, objective, recipe, keeper);
    EXPECT_EQ(outcome.state, Outcome::State::finished) << outcome.message;
    if (world.is_root()) {
      times = std::move(keeper.times);
    }
  });
  return times;
}

Recipe recipe_of(const char* aggregator, std::vector<NetworkModel> networks) {
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 3}}, .aggregator = {{"kind", aggregator}}};
  recipe.workers = 4;
  recipe.iterations = 5;
  recipe.networks = std::move(networks);
  return recipe;
}

constexpr double kDoubles = 8;
constexpr double kEntry = 12;  // bytes of an index and a double

TEST(VirtualTime, OfTheAllGatherIsThatOfTheCostModelInEveryIteration) {
  const auto times = times_of(recipe_of("allgather", {kLine}));
  ASSERT_EQ(times.size(), 5U);
  for (const VersionTimes& one : times) {
    EXPECT_EQ(one.version_s(), 2 * 0.5 + 3 * (3 * kEntry) * 0.25);
  }
  EXPECT_EQ(times.back().of_networks.front().wire_s, 5 * times.front().version_s());
}

TEST(VirtualTime, OfTheDenseSumIsThatOfTheChain) {
  for (const VersionTimes& one : times_of(recipe_of("dense", {kLine}))) {
    EXPECT_EQ(one.version_s(), 6 * (0.5 + 12 * kDoubles * 0.25));
  }
}

double dense_time(const Json& aggregator, const NetworkModel& network = kLine) {
  Recipe recipe = recipe_of("dense", {network});
  recipe.aggregator = aggregator;
  return times_of(recipe).back().version_s();
}

Json dense_by_algorithm(const char* algorithm) {
  return {{"kind", "dense"}, {"algorithm", algorithm}};
}

// n = 96 bytes, P = 4: of four chunks each has 24 bytes.
TEST(VirtualTime, OfOtherAllReducesIsThatOfTheirCostModels) {
  EXPECT_EQ(dense_time(dense_by_algorithm("ring")), 6 * (0.5 + 24 * 0.25));
  EXPECT_EQ(dense_time(dense_by_algorithm("tree")), 4 * (0.5 + 96 * 0.25));
  EXPECT_EQ(dense_time(dense_by_algorithm("recursive-doubling")), 2 * (0.5 + 96 * 0.25));
}

// Two nodes of two: inside up and down with 96 bytes, between them two rounds of 48.
TEST(VirtualTime, OfTheHierarchicalSumTakesTheLinksOfNodesInside) {
  const Json in_nodes{{"kind", "dense"}, {"algorithm", "hierarchical"}, {"per_node", 2}};
  EXPECT_EQ(dense_time(in_nodes), 2 * (0.5 + 96 * 0.25) + 2 * (0.5 + 48 * 0.25));
  NetworkModel network = kLine;
  network.workers_per_node = 2;
  network.within = {.alpha_s = 0.125, .beta_s_per_byte = 0.0625};
  EXPECT_EQ(dense_time(in_nodes, network), 2 * (0.125 + 96 * 0.0625) + 2 * (0.5 + 48 * 0.25));
}

/// The port of the server takes P-1 messages one after the other, and sends as many: 2 alpha +
/// (P-1) (n_up + n_down) beta. Later versions overlap: worker 1 has its sum first and sends the
/// next message while the server still sends to the others, so that a version takes n_down but
/// once.
void expect_times_of_server(const Recipe& recipe, double up, double down) {
  const auto times = times_of(recipe);
  EXPECT_EQ(times.front().version_s(), 2 * 0.5 + 3 * (up + down) * 0.25);
  for (std::size_t t = 1; t < times.size(); ++t) {
    EXPECT_EQ(times[t].version_s(), 2 * 0.5 + (3 * up + down) * 0.25);
  }
}

TEST(VirtualTime, OfTheParameterServerIsThatOfItsPort) {
  Recipe whole = recipe_of("parameter-server", {kLine});
  whole.sparsifier = {{"kind", "top-k"}, {"k", 12}};
  expect_times_of_server(whole, 12 * kDoubles, 12 * kDoubles);  // all entries: vectors
  Recipe cut = recipe_of("parameter-server", {kLine});
  cut.aggregator["down"] = "top-k";
  expect_times_of_server(cut, 3 * kEntry, 3 * kEntry);
}

// Lists of k = d entries at the same indices stay k long in merges: 2 log P messages of d values,
// without indices. The mask has no support to tell, in 2 messages, and d values go up and down
// besides.
TEST(VirtualTime, OfTheTreeIsTwoLogPMessagesWhereMergedListsAreFull) {
  Recipe tree = recipe_of("gtopk-tree", {kLine});
  tree.sparsifier = {{"kind", "top-k"}, {"k", 12}};
  for (const VersionTimes& one : times_of(tree)) {
    EXPECT_EQ(one.version_s(), 4 * (0.5 + 12 * kDoubles * 0.25));
  }
  Recipe mask = recipe_of("gtopk-mask", {kLine});
  mask.sparsifier = tree.sparsifier;
  for (const VersionTimes& one : times_of(mask)) {
    EXPECT_EQ(one.version_s(),
              2 * (0.5 + 12 * kDoubles * 0.25) + 2 * 0.5 + 4 * (0.5 + 12 * kDoubles * 0.25));
  }
}

TEST(VirtualTime, FollowsSeveralNetworksInOneRunThatTheyDoNotChange) {
  const auto both = times_of(recipe_of("gtopk-tree", {kFree, kLine}));
  const auto alone = times_of(recipe_of("gtopk-tree", {kLine}));
  ASSERT_EQ(both.size(), alone.size());
  for (std::size_t t = 0; t < both.size(); ++t) {
    EXPECT_EQ(both[t].of_networks[0].total_s(), 0);
    EXPECT_EQ(both[t].of_networks[1].total_s(), alone[t].of_networks[0].total_s());
    EXPECT_EQ(both[t].of_networks[1].network, "line");
  }
}

TEST(VirtualTime, TellsGradientsFromMessages) {
  const auto protocol = make_protocol(Section(
      "protocol",
      Json{{"kind", "local"}, {"period", 3}, {"compute", 2}, {"speeds", {0.5, 0.5, 0.5, 0.5}}}));
  Recipe recipe = recipe_of("allgather", {kLine});
  recipe.protocol = protocol.get();
  const auto times = times_of(recipe);
  for (std::size_t t = 0; t < times.size(); ++t) {
    const NetworkTimes& one = times[t].of_networks.front();
    EXPECT_EQ(one.compute_s, 12.0 * static_cast<double>(t + 1)) << "three gradients of 4 s";
    EXPECT_EQ(one.wire_s, 28.0 * static_cast<double>(t + 1));
    EXPECT_EQ(one.select_s + one.merge_s, 0);
    EXPECT_EQ(times[t].version_s(), 40.0);
  }
}

TEST(VirtualTime, NeedsTheSecondsThatSpeedsAndStragglersChange) {
  const auto refusal = [](const Json& protocol) {
    return test::error_of([&] { make_protocol(Section("protocol", protocol)); });
  };

  EXPECT_EQ(
      refusal({{"kind", "bsp"}, {"speeds", {1, 2}}}),
      "'protocol.speeds' needs protocol.compute, the seconds of a gradient; give it, or leave "
      "the key out");
  EXPECT_THAT(refusal({{"kind", "bsp"}, {"compute", "measured"}, {"straggler_factor", 2}}),
              testing::HasSubstr("changes seconds that are given"));
  // One times as long is no change, so the default may be written out.
  EXPECT_NO_THROW(make_protocol(Section("protocol", {{"kind", "bsp"}, {"straggler_factor", 1}})));
}

TEST(VirtualTime, IsTheSameAtAnyNumberOfProcesses) {
  for (const Json& aggregator :
       {Json{{"kind", "allgather"}},
        Json{{"kind", "dense"}},
        dense_by_algorithm("ring"),
        dense_by_algorithm("tree"),
        dense_by_algorithm("recursive-doubling"),
        Json{{"kind", "dense"}, {"algorithm", "hierarchical"}, {"per_node", 5}},
        Json{{"kind", "gtopk-tree"}},
        Json{{"kind", "gtopk-exact"}},
        Json{{"kind", "gtopk-mask"}},
        Json{{"kind", "gtopk-doubling"}},
        Json{{"kind", "sparse-reduce-scatter"}},
        Json{{"kind", "parameter-server"}},
        Json{{"kind", "parameter-server"}, {"down", "top-k"}}}) {
    const auto protocol =
        make_protocol(Section("protocol", Json{{"kind", "bsp"}, {"compute", "exponential:3"}}));
    Recipe recipe = recipe_of("dense", {kLine, kFree});
    recipe.aggregator = aggregator;
    recipe.workers = 5;
    recipe.protocol = protocol.get();
    const auto alone = times_of(recipe);
    for (const int processes : {2, 3, 5}) {
      EXPECT_EQ(times_of(recipe, processes), alone) << aggregator << " on " << processes;
    }
  }
}

// On a ring of 4 each worker sends its model to two neighbours, one after the other, and receives
// two: alpha + 2 n beta.
TEST(VirtualTime, OfGossipIsThatOfTheMessagesToNeighbours) {
  const auto ring = make_protocol(Section("protocol", Json{{"kind", "gossip"}, {"graph", "ring"}}));
  Recipe recipe{.sparsifier = {{"kind", "none"}}, .feedback = {{"kind", "none"}}};
  recipe.workers = 4;
  recipe.iterations = 3;
  recipe.networks = {kLine};
  recipe.protocol = ring.get();
  for (const int processes : {1, 3}) {
    for (const VersionTimes& one : times_of(recipe, processes)) {
      EXPECT_EQ(one.version_s(), 0.5 + 2 * 12 * kDoubles * 0.25);
    }
  }
}

// 6 rounds of a quarter of 12 doubles; the mean of gradients every 2 exchanges, that of squares
// every 3.
TEST(VirtualTime, HasTheRingsOfAveragedMemories) {
  constexpr double kRing = 6 * (0.5 + 3 * kDoubles * 0.25);
  Recipe recipe = recipe_of("allgather", {kLine});
  recipe.local = {{"optimiser", "adamw"}};
  const auto plain = times_of(recipe);
  recipe.local["average_every"] = {2, 3};
  for (const int processes : {1, 2}) {
    const auto averaged = times_of(recipe, processes);
    constexpr int kRings[] = {0, 1, 1, 1, 0};
    for (std::size_t t = 0; t < averaged.size(); ++t) {
      EXPECT_DOUBLE_EQ(averaged[t].version_s(), plain[t].version_s() + kRings[t] * kRing) << t;
    }
  }
}

TEST(VirtualTime, HasWhatLocalWorkTookWhereItIsMeasured) {
  Recipe recipe = recipe_of("gtopk-tree", {kLine});
  const auto protocol =
      make_protocol(Section("protocol", Json{{"kind", "bsp"}, {"compute", "measured"}}));
  recipe.protocol = protocol.get();
  recipe.times_work = true;
  for (const int processes : {1, 2}) {
    const auto last = times_of(recipe, processes).back().of_networks.front();
    EXPECT_GT(last.compute_s, 0);
    EXPECT_GT(last.select_s, 0);
    EXPECT_GT(last.merge_s, 0);
    EXPECT_LT(last.compute_s + last.select_s + last.merge_s, 60);
    EXPECT_GT(last.wire_s, 5 * 4 * 0.5) << "the latencies alone";
  }
}

TEST(VirtualTime, IsNotKeptWhereNobodyAsksForIt) {
  for (const VersionTimes& one : times_of(recipe_of("gtopk-tree", {}))) {
    EXPECT_TRUE(one.of_networks.empty());
  }
}

}  // namespace
}  // namespace residuum
