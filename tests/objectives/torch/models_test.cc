// The networks as a study names them.

#include "objectives/torch/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "objectives/registry.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using ::testing::HasSubstr;

ObjectiveContext no_files() { return {.data_dir = {}, .cache_dir = {}, .workers = 4}; }

Section section(nlohmann::json values) {
  if (!values.contains("data")) {
    values["rows"] = 60;
  }
  return {"objective", values};
}

std::size_t mlp_dimension(const nlohmann::json& hidden) {
  return make_mlp(section({{"hidden", hidden}}), no_files())->dimension();
}

TEST(Lenet, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(make_lenet(section(nlohmann::json::object()), no_files())->dimension(), 61706U);
}

TEST(Mlp, HasTheParametersOfItsWidths) {
  EXPECT_EQ(make_mlp(section(nlohmann::json::object()), no_files())->dimension(), 101770U);
  EXPECT_EQ(mlp_dimension(128), 784U * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(mlp_dimension({20, 30}), 784U * 20 + 20 + 20 * 30 + 30 + 30 * 10 + 10);
  EXPECT_EQ(mlp_dimension(nlohmann::json::array()), 7850U);
}

TEST(Mlp, RejectsWidthsThatAreNone) {
  for (const char* hidden : {"0", "-3", "1.5", "\"wide\"", "[8, 0]", "2000000", "{\"a\": 1}"}) {
    EXPECT_THAT(mistake([&] { mlp_dimension(nlohmann::json::parse(hidden)); }),
                HasSubstr("'objective.hidden' must be a layer width between 1 and 1000000"));
  }
}

TEST(Mlp, RejectsMoreParametersThanCanBeNumbered) {
  EXPECT_EQ(
      mistake([] {
        mlp_dimension({100000, 100000});
      }),
      "an mlp of widths 784-100000-100000-10 has 10079600010 parameters, at most 2^32 - 1 can "
      "be numbered");
}

TEST(Models, ReadEveryKeyTheyDocument) {
  const auto all = section({{"train_samples", 50}, {"data_seed", 3}, {"hidden", 4}});

  make_mlp(all, no_files());

  EXPECT_NO_THROW(all.finish());
  EXPECT_EQ(all.resolved()["data"], "synthetic-images");
}

TEST(Models, TrainOnTheFirstSamplesWhereAskedTo) {
  const auto whole = make_mlp(section({{"hidden", 4}}), no_files());
  const auto first = make_mlp(section({{"hidden", 4}, {"train_samples", 7}}), no_files());

  EXPECT_EQ(whole->samples(), 60U);
  EXPECT_EQ(first->samples(), 7U);
  EXPECT_TRUE(std::equal(first->labels().begin(), first->labels().end(), whole->labels().begin()));
  EXPECT_NE(first->data().fingerprint, whole->data().fingerprint);
  EXPECT_THAT(first->data().note, HasSubstr("the first 7 of 60 images"));
}

TEST(Models, RejectMoreTrainingSamplesThanThereAre) {
  EXPECT_EQ(mistake([] {
              make_lenet(section({{"train_samples", 61}}), no_files());
            }),
            "'objective.train_samples' must be between 1 and the 60 training images of "
            "'synthetic-images', or 0 for all, got 61");
  EXPECT_THAT(mistake([] {
                make_lenet(section({{"train_samples", -1}}), no_files());
              }),
              HasSubstr("got -1"));
}

TEST(Models, MakeOtherImagesFromAnotherDataSeed) {
  const auto one = make_lenet(section({{"data_seed", 1}}), no_files());
  const auto two = make_lenet(section({{"data_seed", 2}}), no_files());

  EXPECT_NE(one->data().fingerprint, two->data().fingerprint);
}

TEST(Models, KnowRealDigitsByTheirSizesAndMoments) {
  const std::filesystem::path data_dir = RESIDUUM_TEST_DATA;
  if (!std::filesystem::exists(data_dir / "mnist")) {
    GTEST_SKIP() << "no mnist in " << data_dir;
  }
  const ObjectiveContext context{.data_dir = data_dir, .cache_dir = {}, .workers = 1};

  const auto objective = make_lenet(section({{"data", "mnist"}}), context);
  const auto test = objective->test(std::vector<double>(objective->dimension()));

  EXPECT_EQ(objective->samples(), 60000U);
  EXPECT_THAT(objective->data().note,
              HasSubstr("normalised by mean 0.1307 and standard deviation 0.3081"));
  EXPECT_DOUBLE_EQ(test->accuracy, 980.0 / 10000);  // equal logits: every image is called a 0
}

TEST(Models, RejectSizeKeysOfSyntheticImagesOnRealOnes) {
  const std::filesystem::path data_dir = RESIDUUM_TEST_DATA;
  if (!std::filesystem::exists(data_dir / "mnist")) {
    GTEST_SKIP() << "no mnist in " << data_dir;
  }
  const auto wrong = section({{"data", "mnist"}, {"rows", 100}});

  make_mlp(wrong, {.data_dir = data_dir, .cache_dir = {}, .workers = 1});

  EXPECT_THAT(mistake([&] { wrong.finish(); }), HasSubstr("unknown key 'objective.rows'"));
}

/// 100 plain SGD steps of 32 samples at step size 0.1.
std::vector<double> trained(const Objective& objective) {
  const auto w0 = start(objective, 1);
  std::vector<float> w(w0.begin(), w0.end());
  std::vector<std::uint32_t> samples(32);
  for (std::uint32_t t = 0; t < 100; ++t) {
    RandomStream random(1, Purpose::batch, 0, t);
    for (auto& sample : samples) {
      sample = random.below(static_cast<std::uint32_t>(objective.samples()));
    }
    const auto gradient = batch_gradient(objective, samples, w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] -= 0.1F * gradient[i];
    }
  }
  return {w.begin(), w.end()};
}

TEST(Mlp, LearnsSyntheticImages) {
  const auto objective = make_mlp({"objective", {{"rows", 2000}, {"hidden", 64}}}, no_files());

  const auto w = trained(*objective);

  EXPECT_LT(full_loss(*objective, w), std::log(10.0) / 2);
  EXPECT_GT(objective->test(w)->accuracy, 0.5);
}

TEST(Lenet, LearnsSyntheticImages) {
  const auto objective = make_lenet({"objective", {{"rows", 2000}}}, no_files());

  const auto w = trained(*objective);

  EXPECT_LT(full_loss(*objective, w), std::log(10.0) / 2);
  EXPECT_GT(objective->test(w)->accuracy, 0.5);
}

}  // namespace
}  // namespace residuum::testing
