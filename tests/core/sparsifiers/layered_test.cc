// scope = "layer": every layer is selected from by itself.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/support.h"
#include "tests/core/vectors/adversarial.h"

namespace residuum {
namespace {

using test::Json;
using Indices = std::vector<std::uint32_t>;

const std::vector<Segment> three_layers{
    {.begin = 0, .size = 4}, {.begin = 4, .size = 2}, {.begin = 6, .size = 10}};

std::unique_ptr<Sparsifier> layered(Json values,
                                    const std::vector<Segment>& layers = three_layers) {
  values["scope"] = "layer";
  const Section section("sparsifier", values);
  auto sparsifier = make_sparsifier(section, layers);
  section.finish();
  return sparsifier;
}

template <class Real = double>
Message<Real> message_of(const Sparsifier& rule, const std::vector<Real>& x, int worker = 0) {
  SelectWorkspace workspace;
  Message<Real> message;
  rule.select(std::span<const Real>(x),
              {.seed = 3, .worker = worker, .iteration = 5, .step_size = 1},
              workspace,
              message);
  return message;
}

/// Layers of 4, 2 and 10 entries.
const std::vector<double> of_sixteen{1, -5, 2, 5, 0, 0.5, 9, 8, -7, 6, 5, 4, 3, 2, 1, 0};

TEST(Layered, TakesTheTopKOfEveryLayer) {
  const auto rule = layered({{"kind", "top-k"}, {"k", 2}});
  const auto message = message_of(*rule, of_sixteen);

  // The second layer has one entry that is not zero.
  EXPECT_EQ(message.entries.indices, (Indices{1, 3, 5, 6, 7}));
  EXPECT_EQ(message.entries.values, (std::vector<double>{-5, 5, 0.5, 9, 8}));
  EXPECT_FALSE(message.everything);
}

TEST(Layered, TakesAShareOfEveryLayerAndAtLeastOneEntry) {
  const auto rule = layered({{"kind", "top-k"}, {"density", 0.25}});

  EXPECT_EQ(message_of(*rule, of_sixteen).entries.indices, (Indices{1, 5, 6, 7}));
  EXPECT_EQ(rule->k(16), 1 + 1 + 2);
}

/// Layers have blocks of their own, and no block goes from one into the next.
TEST(Layered, SelectsFromBlocksOfEveryLayerAndListsTheIndices) {
  const auto rule = layered({{"kind", "chunk-top-k"}, {"density", 0.25}, {"block", 5}});
  const auto message = message_of(*rule, of_sixteen);
  EXPECT_EQ(message.entries.indices, (Indices{1, 5, 6, 11}));
  EXPECT_EQ(message.bytes(16), 4 * (4 + 8));
  EXPECT_EQ(rule->law(16, 1).contraction, 0.2);

  const auto blocks = layered({{"kind", "random-block"}, {"k", 1}, {"block", 20}});
  const auto whole = message_of(*blocks, of_sixteen);
  EXPECT_EQ(whole.entries.size(), 14) << "all that is not zero";
  EXPECT_EQ(whole.bytes(16), 14 * (4 + 8));
}

TEST(Layered, SendsEverythingIfEveryLayerDoes) {
  EXPECT_TRUE(message_of(*layered({{"kind", "none"}}), of_sixteen).everything);
  EXPECT_EQ(layered({{"kind", "none"}})->k(16), 16U);
}

TEST(Layered, AppliesOneThresholdToAllLayers) {
  const auto rule = layered({{"kind", "hard-threshold"}, {"threshold", 5}});

  EXPECT_EQ(message_of(*rule, of_sixteen).entries.indices, (Indices{1, 3, 6, 7, 8, 9, 10}));
  EXPECT_EQ(rule->k(16), std::nullopt);
  EXPECT_EQ(rule->law(16, 1).threshold, 5);
}

TEST(Layered, HasTheLawOfItsWorstLayer) {
  const auto law = layered({{"kind", "top-k"}, {"k", 2}})->law(16, 1);

  EXPECT_EQ(law.contraction, 2.0 / 10);
  EXPECT_TRUE(law.pathwise);
  EXPECT_EQ(law.threshold, std::nullopt);
  EXPECT_FALSE(layered({{"kind", "rand-k"}, {"k", 1}})->law(16, 1).pathwise);
  // The rule 1/(2 sqrt k): the layer of fewest entries has the largest threshold.
  const auto by_share = layered({{"kind", "hard-threshold"}, {"density", 0.5}});
  EXPECT_EQ(by_share->law(16, 1).threshold, 0.5);  // k = 1 of the second
}

// Two equal layers: with the same numbers both would always keep the same positions.
TEST(Layered, ClaimsWhatHoldsForAllLayersTogether) {
  const auto top = layered({{"kind", "top-k"}, {"k", 2}})->law(16, 1);
  EXPECT_TRUE(top.deterministic);
  EXPECT_FALSE(top.keeps_largest) << "those of a layer are not those of the model";

  const auto random = layered({{"kind", "rand-k"}, {"k", 1}})->law(16, 1);
  EXPECT_TRUE(random.shares_support);
  EXPECT_FALSE(random.exact) << "layers of other sizes keep other shares of theirs";
}

TEST(Layered, OfOneLayerIsTheRuleItself) {
  const auto rule = layered({{"kind", "top-k"}, {"k", 2}}, {{.begin = 0, .size = 16}});
  EXPECT_TRUE(rule->law(16, 1).keeps_largest);
}

TEST(Layered, DrawsTheSubsetsOfLayersIndependently) {
  const std::vector<Segment> twins{{.begin = 0, .size = 4}, {.begin = 4, .size = 4}};
  const auto rule = layered({{"kind", "rand-k"}, {"k", 1}, {"mask", "per-worker"}}, twins);
  const std::vector<double> ones(8, 1.0);
  constexpr int kDraws = 4000;
  int same = 0;
  for (int worker = 0; worker < kDraws; ++worker) {
    const auto indices = message_of(*rule, ones, worker).entries.indices;
    ASSERT_EQ(indices.size(), 2U);
    ASSERT_LT(indices[0], 4U);
    ASSERT_GE(indices[1], 4U);
    same += indices[0] + 4 == indices[1] ? 1 : 0;
  }
  // Binomial with probability 1/4.
  EXPECT_NEAR(same, kDraws / 4.0, 6 * std::sqrt(kDraws * 3.0 / 16));
}

TEST(Layered, AsksAPilotForTheThresholdOfAllLayersTogether) {
  const auto rule =
      layered({{"kind", "hard-threshold"}, {"threshold", "matched"}, {"density", 0.5}});

  EXPECT_EQ(rule->pilot(16), (Pilot{.rule = Pilot::Rule::matched_budget, .k = 2 + 1 + 5}));
  const auto found = rule->with_threshold(8);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(message_of(*found, of_sixteen).entries.indices, (Indices{6, 7}));
  EXPECT_EQ(found->pilot(16), std::nullopt);
  EXPECT_EQ(layered({{"kind", "top-k"}, {"k", 1}})->pilot(16), std::nullopt);
}

TEST(Layered, NeedsLayers) {
  EXPECT_EQ(test::error_of([] {
              layered({{"kind", "top-k"}, {"k", 1}}, {});
            }),
            "'sparsifier.scope': these vectors have no layers; use scope \"model\"");
}

TEST(Layered, TellsAPassWhichSegmentsToLookThrough) {
  const auto rule = layered({{"kind", "top-k"}, {"k", 1}});
  const auto segments = rule->segments();

  EXPECT_EQ(std::vector<Segment>(segments.begin(), segments.end()), three_layers);
}

/// Returns the k largest entries of every layer, by sorting.
SparseVector<double> sorted_by_layer(const std::vector<double>& x,
                                     const std::vector<Segment>& layers,
                                     std::size_t k) {
  SparseVector<double> all;
  for (const auto& [begin, size] : layers) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<double> part(first, first + static_cast<std::ptrdiff_t>(size));
    const auto selected = test::sorted_top_k(part, k);
    for (std::size_t i = 0; i < selected.size(); ++i) {
      all.push_back(static_cast<std::uint32_t>(begin + selected.indices[i]), selected.values[i]);
    }
  }
  return all;
}

TEST(Layered, SelectsFromWhatAPassHasFoundOfEveryLayer) {
  const std::vector<Segment> layers{{.begin = 0, .size = 3},
                                    {.begin = 3, .size = 777},
                                    {.begin = 780, .size = 5001},
                                    {.begin = 5781, .size = 4}};
  const auto rule = layered({{"kind", "top-k"}, {"k", 3}}, layers);
  std::vector<double> x(5785);
  SelectWorkspace workspace;
  workspace.parts.resize(layers.size());
  Message<double> message;
  std::size_t warm = 0;
  for (std::uint64_t t = 0; t < 20; ++t) {
    const auto gradient = test::normal_vector(x.size(), t);
    accumulate<double>(x, gradient, 0.1, {.segments = layers, .candidates = workspace.parts});
    for (const auto& part : workspace.parts) {
      warm += part.complete && part.indices.size() >= 3 ? 1 : 0;
    }
    rule->select(std::span<const double>(x), {}, workspace, message);
    ASSERT_EQ(message.entries, sorted_by_layer(x, layers, 3)) << "t = " << t;
    for (const std::uint32_t i : message.entries.indices) {
      x[i] = 0;
    }
  }
  EXPECT_GE(warm, 30U);  // of the two long layers, nearly always
}

TEST(Layered, TakesNothingThatWasFoundOfTheWholeVector) {
  // As where a pass knew of no layers: candidates of the whole are not those of the first layer.
  const auto rule = layered({{"kind", "top-k"}, {"k", 1}});
  auto x = of_sixteen;
  SelectWorkspace workspace;
  const Segment whole{.begin = 0, .size = x.size()};
  workspace.found().bound = 4;
  accumulate<double>(x,
                     std::vector<double>(x.size()),
                     1,
                     {.segments = {&whole, 1}, .candidates = workspace.parts});
  Message<double> message;

  rule->select(std::span<const double>(x), {}, workspace, message);

  EXPECT_EQ(message.entries.indices, (Indices{1, 5, 6}));
}

}  // namespace
}  // namespace residuum
