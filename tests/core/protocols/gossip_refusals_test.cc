// Gossip refuses what it cannot work with, and says why.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/graphs/mixing.h"
#include "tests/core/protocols/gossip_support.h"

namespace residuum {
namespace {

using test::choco_on;
using test::error_of;
using test::gossip_of;
using test::gossip_recipe;
using test::Json;
using test::plain_on;
using test::Recipe;

std::string key_refusal(const Json& keys) {
  return error_of([&] { gossip_of(keys); });
}

TEST(GossipKeys, ThatMakeNoSenseAreRefused) {
  EXPECT_EQ(key_refusal(Json::object()), "missing key 'protocol.graph'");
  EXPECT_EQ(key_refusal({{"graph", "rnig"}}),
            "'protocol.graph': unknown graph 'rnig'; did you mean 'ring'?");
  EXPECT_THAT(key_refusal({{"graph", "ring"}, {"mixing", "chco"}}),
              testing::HasSubstr("did you mean 'choco'"));
  EXPECT_EQ(key_refusal({{"graph", "ring"}, {"mixing", "choco"}}),
            "missing key 'protocol.consensus_step'");
  for (const double step : {0.0, -0.5, 1.5}) {
    EXPECT_THAT(key_refusal({{"graph", "ring"}, {"mixing", "choco"}, {"consensus_step", step}}),
                testing::HasSubstr("must lie in (0, 1]"));
  }
  EXPECT_THAT(key_refusal({{"graph", "ring"}, {"graph_seed", -1}}),
              testing::HasSubstr("must not be negative"));
}

std::string graph_refusal_of(const std::string& graph, int workers) {
  const auto gossip = plain_on(graph);
  const Recipe recipe = gossip_recipe(*gossip, workers, 1);
  return error_of([&] { gossip->check(test::method_of(recipe, 4), 4, workers); });
}

TEST(GossipGraph, ThatDoesNotFitTheWorkersIsRefused) {
  EXPECT_EQ(graph_refusal_of("ring", 6), "");
  EXPECT_THAT(graph_refusal_of("hypercube", 6),
              testing::StartsWith("'protocol.graph': graph 'hypercube' needs a power of two"));
  EXPECT_THAT(graph_refusal_of("torus", 6),
              testing::StartsWith("'protocol.graph': graph 'torus' needs r x c workers"));
  EXPECT_THAT(graph_refusal_of("erdos-renyi:0.001", 50),
              testing::HasSubstr("was not connected in 100 draws"));
  EXPECT_THAT(graph_refusal_of("ring", kMostSpectrumWorkers + 1),
              testing::HasSubstr("for at most 1024 workers"));
}

std::string method_refusal(const Protocol& protocol, const Recipe& recipe) {
  return error_of([&] { protocol.check(test::method_of(recipe, 4), 4, 4); });
}

TEST(GossipMethod, ThatNeedsASharedUpdateIsRefused) {
  const auto gossip = plain_on("ring");
  const auto refused = [&](auto change, const char* reason) {
    Recipe recipe = gossip_recipe(*gossip, 4, 1);
    change(recipe);
    const std::string message = method_refusal(*gossip, recipe);
    EXPECT_THAT(message, testing::HasSubstr(reason));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  refused([](Recipe& recipe) { recipe.momentum = 0.9; }, "set step.momentum = 0");
  refused([](Recipe& recipe) { recipe.outer_step = 0.7; }, "leave out [outer]");
  refused([](Recipe& recipe) { recipe.update_rule = UpdateRule::signs; }, "leave out [outer]");
  refused([](Recipe& recipe) { recipe.weight_decay = 0.1; }, "objective.l2");
  refused(
      [](Recipe& recipe) {
        recipe.clip = Clip::update;
        recipe.clip_norm = 1;
      },
      "step.clip_at = \"worker\"");
  refused(
      [](Recipe& recipe) {
        recipe.aggregator = {{"kind", "gtopk-tree"}};
      },
      "no aggregator selects");
  refused(
      [](Recipe& recipe) {
        recipe.feedback = {{"kind", "dgc"}, {"momentum", 0.5}};
      },
      "feedback.kind = \"none\"");
  refused([](Recipe& recipe) { recipe.feedback = {{"kind", "ef21"}}; }, "feedback.kind = \"none\"");
  refused(
      [](Recipe& recipe) {
        recipe.feedback = {{"kind", "ef14"}, {"units", "gradient"}};
      },
      "feedback.units = \"step\"");
}

TEST(GossipMethod, HasOneMemoryAndNoSparsifiedModels) {
  const auto plain = plain_on("ring");
  Recipe recipe = gossip_recipe(*plain, 4, 1);
  recipe.feedback = {{"kind", "ef14"}};
  EXPECT_EQ(method_refusal(*plain, recipe), "") << "nothing is left out that it could remember";
  for (const Json& sparsifier : {Json{{"kind", "top-k"}, {"k", 2}},
                                 Json{{"kind", "top-k"}, {"density", 0.5}},
                                 Json{{"kind", "hard-threshold"}, {"threshold", 0.1}},
                                 Json{{"kind", "rand-k"}, {"k", 1}}}) {
    recipe.sparsifier = sparsifier;
    EXPECT_THAT(method_refusal(*plain, recipe),
                testing::HasSubstr("a sparsified model is no model"));
  }
  const auto choco = choco_on("ring", 0.5);
  EXPECT_THAT(method_refusal(*choco, recipe), testing::HasSubstr("set feedback.kind = \"none\""));
  recipe.feedback = {{"kind", "none"}};
  EXPECT_EQ(method_refusal(*choco, recipe), "");
}

}  // namespace
}  // namespace residuum
