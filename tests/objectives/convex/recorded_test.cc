// The objective of recorded gradients, by those that are drawn; files are in data/.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Objective> six_entries(const nlohmann::json& layers = nullptr) {
  nlohmann::json values{{"data", "synthetic-gradients"}, {"steps", 4}, {"dimension", 6}};
  if (!layers.is_null()) {
    values["layers"] = layers;
  }
  return make("recorded", values, {}, 2);
}

std::vector<double> gradient_at(const Objective& f, const Draw& draw, double w) {
  std::vector<double> gradient(f.dimension());
  f.stochastic_gradient(draw, std::vector<double>(f.dimension(), w), gradient);
  return gradient;
}

TEST(RecordedObjective, GivesItsGradientsWhateverModelAndSeedAre) {
  const auto f = six_entries();

  const auto g = gradient_at(*f, {.seed = 1, .worker = 1, .iteration = 2}, 0);

  EXPECT_EQ(g, gradient_at(*f, {.seed = 7, .worker = 1, .iteration = 2}, 5));
  EXPECT_NE(g, gradient_at(*f, {.seed = 1, .worker = 0, .iteration = 2}, 0));
  EXPECT_NE(g, gradient_at(*f, {.seed = 1, .worker = 1, .iteration = 3}, 0));
}

TEST(RecordedObjective, ClaimsNothingOfAFunction) {
  const auto f = six_entries();
  const Facts facts = f->facts();

  EXPECT_FALSE(f->has_function());
  EXPECT_EQ(f->recorded_steps(), 4U);
  EXPECT_FALSE(facts.smoothness || facts.minimum || facts.convex || facts.lower_bound);
  EXPECT_THAT(facts.gradient_bias, HasSubstr("f is unknown"));
}

TEST(RecordedObjective, EndsWithALineThatNamesWorkerAndSteps) {
  const auto f = six_entries();

  EXPECT_EQ(error_of([&] { gradient_at(*f, {.seed = 1, .worker = 1, .iteration = 4}, 0); }),
            "worker 1 is at gradient 5, but synthetic-gradients has 4 steps; give fewer "
            "'budget.iterations'");
}

TEST(RecordedObjective, HasTheLayersThatTheStudyNames) {
  const auto f = six_entries({{{"name", "w"}, {"shape", {2, 2}}}, {{"name", "b"}, {"size", 2}}});

  const auto layers = f->layers();

  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "w");
  EXPECT_EQ(layers[0].shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(layers[1].offset, 4U);
  EXPECT_EQ(layers[1].size, 2U);
  EXPECT_EQ(six_entries()->layers().size(), 1U);
}

TEST(RecordedObjective, RefusesLayersThatAreNotItsEntries) {
  const auto fault = [](const nlohmann::json& layers) {
    return error_of([&] { six_entries(layers); });
  };
  const auto fault_of_one = [&](const nlohmann::json& layer) {
    return fault(nlohmann::json::array({layer}));
  };
  const nlohmann::json two{{"name", "a"}, {"size", 2}};
  const nlohmann::json five{{"name", "b"}, {"size", 5}};

  EXPECT_THAT(fault_of_one(two), HasSubstr("the layers have 2 entries, but a gradient has 6"));
  EXPECT_THAT(fault(nlohmann::json::array({two, five})),
              HasSubstr("'b' ends behind the 6 entries"));
  EXPECT_THAT(fault(nlohmann::json::array({two, two, two})),
              HasSubstr("'a' is no name of a layer of its own"));
  EXPECT_THAT(fault_of_one({{"name", "a"}, {"size", 0}}), HasSubstr("a size of 0"));
  EXPECT_THAT(fault_of_one({{"name", "a"}, {"shape", nlohmann::json::array()}}),
              HasSubstr("list of sizes"));
  EXPECT_THAT(fault_of_one({{"name", "a"}}), HasSubstr("a layer is { name"));
  EXPECT_THAT(fault_of_one({{"name", "a"}, {"size", 6}, {"shape", {6}}}),
              HasSubstr("a layer is { name"));
  EXPECT_THAT(fault(nlohmann::json("a")), HasSubstr("must be a list of layers"));
}

}  // namespace
}  // namespace residuum::test
