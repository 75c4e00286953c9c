// Exchanges can be divided by layers where nothing that is sent or summed depends on other layers;
// the rest is refused with the reason.

#include "core/training/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using testing::HasSubstr;

constexpr std::size_t kOverlapSize = 8;

struct OverlapRefusal {
  Recipe recipe = {.sparsifier = {{"kind", "top-k"}, {"density", 0.5}, {"scope", "layer"}},
                   .aggregator = {{"kind", "allgather"}}};
  ProtocolLaw protocol = {};
  std::vector<std::size_t> layers = {2, 6};
  std::vector<double> ready = {};
  OverlapRule rule = OverlapRule::merged;

  std::string message() const {
    auto objective = test::constant_gradient(std::vector<double>(kOverlapSize), {});
    objective.cut_into_layers(layers);
    Recipe own = recipe;
    own.layers = {{.begin = 0, .size = 2}, {.begin = 2, .size = 6}};
    return test::error_of([&] {
      check_overlap({.rule = rule, .ready = ready, .place = "PLACE", .place_of_ready = "TIMES"},
                    test::method_of(own, kOverlapSize),
                    objective,
                    protocol);
    });
  }
};

TEST(OverlapCheck, LetsMethodsPassWhoseLayersAreSentAndSummedOneByOne) {
  EXPECT_EQ(OverlapRefusal{}.message(), "");
  EXPECT_EQ((OverlapRefusal{.ready = {1, 0.5}}).message(), "");
  for (const char* aggregator : {"dense", "allgather", "sparse-reduce-scatter"}) {
    EXPECT_EQ((OverlapRefusal{.recipe = {.aggregator = {{"kind", aggregator}}}}).message(), "");
  }
}

TEST(OverlapCheck, SaysWhyTheOthersCannotOverlap) {
  OverlapRefusal global;
  global.recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
  EXPECT_THAT(global.message(), HasSubstr("set sparsifier.scope = \"layer\""));
  OverlapRefusal threshold;
  threshold.recipe.sparsifier = {{"kind", "hard-threshold"}, {"threshold", 1}, {"scope", "layer"}};
  EXPECT_THAT(threshold.message(), HasSubstr("use one with a k"));
  for (const char* cuts : {"gtopk-tree", "gtopk-exact", "gtopk-mask", "gtopk-doubling"}) {
    OverlapRefusal tree;
    tree.recipe.aggregator = {{"kind", cuts}};
    EXPECT_THAT(tree.message(), HasSubstr("use aggregator \"allgather\""));
  }
  OverlapRefusal coded;
  coded.recipe.quantiser = {{"kind", "sign"}};
  EXPECT_THAT(coded.message(), HasSubstr("set quantiser.kind = \"none\""));
  OverlapRefusal clipped;
  clipped.recipe.clip = Clip::worker;
  EXPECT_THAT(clipped.message(), HasSubstr("set step.clip_at = \"update\""));
  for (const auto synchrony : {Synchrony::periodic, Synchrony::late, Synchrony::neighbours}) {
    EXPECT_THAT((OverlapRefusal{.protocol = {.synchrony = synchrony}}).message(),
                HasSubstr("PLACE: messages hide behind back-propagation"));
  }
  EXPECT_THAT((OverlapRefusal{.layers = {}}).message(), HasSubstr("this objective has one layer"));
  EXPECT_THAT((OverlapRefusal{.ready = {1, 1, 1}}).message(),
              HasSubstr("TIMES has 3 numbers for 2 layers"));
}

TEST(OverlapCheck, RefusesNothingWhereNothingOverlaps) {
  OverlapRefusal global{.protocol = {.synchrony = Synchrony::late}, .rule = OverlapRule::none};
  global.recipe.aggregator = {{"kind", "gtopk-tree"}};
  EXPECT_EQ(global.message(), "");
}

TEST(NumbersByLayer, AreThoseThatAreSent) {
  auto objective = test::constant_gradient(std::vector<double>(kOverlapSize), {});
  objective.cut_into_layers({2, 6});
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"density", 0.5}, {"scope", "layer"}},
                .aggregator = {{"kind", "allgather"}}};
  recipe.layers = {{.begin = 0, .size = 2}, {.begin = 2, .size = 6}};
  const auto numbers = [&] {
    return numbers_by_layer(test::method_of(recipe, kOverlapSize), objective, 0);
  };
  EXPECT_EQ(numbers(), (std::vector<std::size_t>{1, 3}));
  recipe.sparsifier["schedule"] = Json::array({1.0});
  recipe.sparsifier["schedule_iterations"] = 1;
  recipe.iterations = 5;
  EXPECT_EQ(numbers(), (std::vector<std::size_t>{2, 6})) << "the warm-up of the density";
  recipe.aggregator = {{"kind", "dense"}};
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}, {"scope", "layer"}};
  EXPECT_EQ(numbers(), (std::vector<std::size_t>{2, 6})) << "vectors travel";
  recipe.aggregator = {{"kind", "allgather"}};
  recipe.sparsifier = {{"kind", "none"}};
  EXPECT_EQ(numbers(), (std::vector<std::size_t>{2, 6}));
}

}  // namespace
}  // namespace residuum
