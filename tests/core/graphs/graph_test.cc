// The graphs against their definitions, and what a bad request is told.

#include "core/graphs/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kGraphSeed = 7;

Graph graph_named(const std::string& text, int workers) {
  return make_graph(text, workers, kGraphSeed);
}

std::string graph_refusal(const std::string& text, int workers) {
  return error_of([&] { make_graph(text, workers, kGraphSeed); });
}

/// Neighbours increase, are others, and know each other.
void expect_well_formed(const Graph& graph) {
  std::size_t ends = 0;
  for (int v = 0; v < graph.vertices(); ++v) {
    const auto neighbours = graph.neighbours(v);
    ends += neighbours.size();
    EXPECT_EQ(graph.degree(v), static_cast<int>(neighbours.size()));
    for (std::size_t at = 0; at < neighbours.size(); ++at) {
      EXPECT_NE(neighbours[at], v);
      EXPECT_TRUE(at == 0 || neighbours[at - 1] < neighbours[at]);
      EXPECT_THAT(graph.neighbours(neighbours[at]), testing::Contains(v));
    }
  }
  EXPECT_EQ(2 * graph.edges().size(), ends);
}

TEST(Graph, KeepsItsEdgesWhateverTheirOrder) {
  const Graph graph(4, {{2, 3}, {0, 2}, {0, 1}});
  expect_well_formed(graph);
  EXPECT_THAT(graph.neighbours(0), ElementsAre(1, 2));
  EXPECT_THAT(graph.neighbours(1), ElementsAre(0));
  EXPECT_THAT(graph.neighbours(2), ElementsAre(0, 3));
  EXPECT_THAT(graph.edges(), ElementsAre(Link{0, 1}, Link{0, 2}, Link{2, 3}));
}

TEST(Graph, KnowsWhetherItIsConnected) {
  EXPECT_TRUE(Graph(1, {}).is_connected());
  EXPECT_FALSE(Graph(2, {}).is_connected());
  EXPECT_TRUE(Graph(4, {{2, 3}, {0, 2}, {0, 1}}).is_connected());
  EXPECT_FALSE(Graph(4, {{2, 3}, {0, 1}}).is_connected());
  EXPECT_FALSE(Graph(4, {{1, 2}, {2, 3}, {1, 3}}).is_connected());
  EXPECT_FALSE(Graph(4, {{0, 1}, {1, 2}, {0, 2}}).is_connected());
}

TEST(Graph, OfEveryWordIsWellFormedAndConnected) {
  for (const std::string& word : graph_words()) {
    for (const int workers : {1, 2, 4, 16, 64}) {
      if (word == "torus" && workers == 4) {
        continue;
      }
      const Graph graph = graph_named(word, workers);
      EXPECT_EQ(graph.vertices(), workers);
      EXPECT_TRUE(graph.is_connected()) << word << " of " << workers;
      expect_well_formed(graph);
    }
  }
}

TEST(Graph, OfOneOrTwoWorkersIsTheOnlyConnectedOne) {
  for (const std::string& word : graph_words()) {
    EXPECT_THAT(graph_named(word, 1).edges(), IsEmpty()) << word;
    EXPECT_THAT(graph_named(word, 2).edges(), ElementsAre(Link{0, 1})) << word;
  }
  EXPECT_THAT(graph_named("erdos-renyi:1e-9", 2).edges(), ElementsAre(Link{0, 1}));
}

TEST(Graph, OfThreeWorkersInARingIsComplete) {
  EXPECT_EQ(graph_named("ring", 3).edges(), graph_named("complete", 3).edges());
}

TEST(Ring, JoinsNeighboursModuloN) {
  const Graph ring = graph_named("ring", 5);
  EXPECT_THAT(ring.neighbours(0), ElementsAre(1, 4));
  EXPECT_THAT(ring.neighbours(2), ElementsAre(1, 3));
  EXPECT_THAT(ring.neighbours(4), ElementsAre(0, 3));
}

TEST(Torus, HasFourNeighboursInTheMostSquareRectangle) {
  const Graph torus = graph_named("torus", 12);  // 3 rows of 4
  EXPECT_THAT(torus.neighbours(0), ElementsAre(1, 3, 4, 8));
  EXPECT_THAT(torus.neighbours(6), ElementsAre(2, 5, 7, 10));
  EXPECT_THAT(torus.neighbours(11), ElementsAre(3, 7, 8, 10));
  EXPECT_THAT(graph_named("torus", 36).neighbours(0),
              ElementsAre(1, 5, 6, 30));  // 6 x 6, not 4 x 9
}

TEST(Hypercube, JoinsNumbersThatDifferInOneBit) {
  const Graph cube = graph_named("hypercube", 16);
  for (int v = 0; v < 16; ++v) {
    EXPECT_EQ(cube.degree(v), 4);
    for (const int neighbour : cube.neighbours(v)) {
      EXPECT_EQ(std::popcount(static_cast<unsigned>(v ^ neighbour)), 1);
    }
  }
}

TEST(Complete, HasAllPairs) { EXPECT_EQ(graph_named("complete", 9).edges().size(), 36U); }

TEST(ErdosRenyi, IsAFunctionOfTheSeed) {
  const auto drawn = [](std::uint64_t seed) {
    return make_graph("erdos-renyi:0.3", 20, seed).edges();
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

TEST(ErdosRenyi, HasTheFrequencyOfEdgesThatWasAskedFor) {
  // With p far above ln(n)/n = 0.08, nearly every draw is connected, so that the condition changes
  // nothing that could be seen.
  constexpr int kWorkers = 60;
  constexpr double kProbability = 0.25;
  double count = 0;
  double pairs = 0;
  double first_pair = 0;
  constexpr int kDraws = 200;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const Graph graph = make_graph("erdos-renyi:0.25", kWorkers, seed);
    count += static_cast<double>(graph.edges().size());
    pairs += kWorkers * (kWorkers - 1) / 2.0;
    first_pair += graph.neighbours(0).front() == 1 ? 1 : 0;
  }
  const double variance = kProbability * (1 - kProbability);
  EXPECT_NEAR(count / pairs, kProbability, 4 * std::sqrt(variance / pairs));
  EXPECT_NEAR(first_pair / kDraws, kProbability, 4 * std::sqrt(variance / kDraws));
}

TEST(ErdosRenyi, IsDrawnAnewUntilItIsConnected) {
  // Most draws of 20 workers at p = 0.12 leave a worker alone.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = make_graph("erdos-renyi:0.12", 20, seed);
    EXPECT_TRUE(graph.is_connected());
    expect_well_formed(graph);
  }
}

TEST(ErdosRenyi, OfProbabilityOneIsComplete) {
  EXPECT_EQ(graph_named("erdos-renyi:1", 11).edges(), graph_named("complete", 11).edges());
}

TEST(ErdosRenyi, ThatIsNeverConnectedSaysWhichProbabilityWouldDo) {
  EXPECT_EQ(graph_refusal("erdos-renyi:0.01", 50),
            "graph 'erdos-renyi:0.01' of 50 workers was not connected in 100 draws; a probability "
            "of ln(n)/n = 0.0782 or more would do");
}

TEST(ErdosRenyi, AtTheProbabilityThatTheMessageNamesIsConnected) {
  for (const int workers : {3, 4, 10, 50, 200}) {
    const std::string word = fmt::format("erdos-renyi:{:.3g}", std::log(workers) / workers);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      EXPECT_TRUE(make_graph(word, workers, seed).is_connected());
    }
  }
}

TEST(MakeGraph, NamesTheNumbersOfWorkersThatFit) {
  EXPECT_EQ(
      graph_refusal("torus", 8),
      "graph 'torus' needs r x c workers with r and c at least 3, which 8 is not; next to it: "
      "9 (3 x 3)");
  EXPECT_EQ(graph_refusal("torus", 13),
            "graph 'torus' needs r x c workers with r and c at least 3, which 13 is not; next to "
            "it: 12 (3 x 4) and 15 (3 x 5)");
  EXPECT_EQ(graph_refusal("hypercube", 12),
            "graph 'hypercube' needs a power of two as number of workers, which 12 is not; next to "
            "it: 8 and 16");
  EXPECT_EQ(graph_refusal("ring", 0), "graph 'ring' needs at least 1 worker, not 0");
}

TEST(MakeGraph, AnswersAnUnknownWordWithTheNearest) {
  EXPECT_EQ(graph_refusal("rign", 4), "unknown graph 'rign'; did you mean 'ring'?");
  EXPECT_EQ(graph_refusal("erdos-reny:0.3", 4),
            "unknown graph 'erdos-reny:0.3'; did you mean 'erdos-renyi'?");
  EXPECT_EQ(graph_refusal("", 4),
            "unknown graph ''; known: ring, torus, hypercube, complete, erdos-renyi:0.3");
}

TEST(MakeGraph, RefusesABadArgument) {
  for (const char* word : {"erdos-renyi",
                           "erdos-renyi:",
                           "erdos-renyi:0",
                           "erdos-renyi:-0.5",
                           "erdos-renyi:1.5",
                           "erdos-renyi:nan",
                           "erdos-renyi:0.3x",
                           "erdos-renyi:0.3:2"}) {
    for (const int workers : {1, 8}) {
      EXPECT_EQ(graph_refusal(word, workers),
                fmt::format("graph '{}' needs the probability of an edge, above 0 and at most 1, "
                            "after a colon, as in 'erdos-renyi:0.3'",
                            word));
    }
  }
  EXPECT_EQ(graph_refusal("ring:3", 4), "graph 'ring:3' takes nothing after a colon; write 'ring'");
}

}  // namespace
}  // namespace residuum
