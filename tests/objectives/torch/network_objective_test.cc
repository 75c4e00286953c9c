#include "objectives/torch/network_objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "objectives/torch/models.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using ::testing::HasSubstr;

NetworkObjective softmax_regression(ImageDataset test) {
  return {{.train = random_images(5, kTiny, 1), .test = std::move(test)}, mlp(kTiny, {})};
}

double share(const ImageDataset& images, std::int32_t label) {
  return static_cast<double>(std::count(images.labels.begin(), images.labels.end(), label)) /
         static_cast<double>(images.rows());
}

TEST(NetworkObjective, LaysTheParametersOneAfterAnotherInTheOrderOfTheLayers) {
  const NetworkObjective objective({.train = random_images(1, kDigits, 1), .test = {}}, lenet());
  std::vector<std::string> names;
  std::vector<std::size_t> sizes;
  std::size_t end = 0;
  for (const Layer& layer : objective.layers()) {
    names.push_back(layer.name);
    sizes.push_back(layer.size);
    EXPECT_EQ(layer.offset, end);
    end += layer.size;
  }

  EXPECT_EQ(end, objective.dimension());
  EXPECT_THAT(names,
              ::testing::ElementsAre("conv1.weight",
                                     "conv1.bias",
                                     "conv2.weight",
                                     "conv2.bias",
                                     "fc1.weight",
                                     "fc1.bias",
                                     "fc2.weight",
                                     "fc2.bias",
                                     "fc3.weight",
                                     "fc3.bias"));
  EXPECT_THAT(sizes, ::testing::ElementsAre(150, 6, 2400, 16, 48000, 120, 10080, 84, 840, 10));
  EXPECT_THAT(objective.layers()[2].shape, ::testing::ElementsAre(16, 6, 5, 5));
}

TEST(NetworkObjective, StartsUniformlyWithinOneOverTheRootOfTheFanIn) {
  const NetworkObjective objective({.train = random_images(1, kDigits, 1), .test = {}}, lenet());
  const std::vector<double> fan_in{25, 25, 150, 150, 400, 400, 120, 120, 84, 84};

  const auto w = start(objective, 7);
  const auto layers = objective.layers();

  for (std::size_t l = 0; l < fan_in.size(); ++l) {
    const Layer& layer = layers[l];
    const double bound = 1 / std::sqrt(fan_in[l]);
    double sum = 0;
    double squares = 0;
    for (std::size_t i = layer.offset; i < layer.offset + layer.size; ++i) {
      EXPECT_LE(std::abs(w[i]), static_cast<float>(bound)) << layer.name;
      sum += w[i] / bound;
      squares += w[i] * w[i] / (bound * bound);
    }
    // Uniform on [-1, 1]: mean 0, variance 1/3; of the square mean 1/3, variance 4/45. Six standard
    // errors.
    const auto n = static_cast<double>(layer.size);
    EXPECT_NEAR(sum / n, 0, 6 * std::sqrt(1 / (3 * n))) << layer.name;
    EXPECT_NEAR(squares / n, 1.0 / 3, 6 * std::sqrt(4 / (45 * n))) << layer.name;
  }
}

TEST(NetworkObjective, StartsAtTheSamePointForTheSameSeedOnly) {
  const NetworkObjective objective({.train = random_images(1, kTiny, 1), .test = {}},
                                   mlp(kTiny, {12, 12}));
  const NetworkObjective other({.train = random_images(9, kTiny, 2), .test = {}},
                               mlp(kTiny, {12, 12}));
  const auto w = start(objective, 7);

  EXPECT_EQ(start(other, 7), w);
  EXPECT_NE(start(objective, 8), w);
  // Layers of the same shape have streams of their own.
  EXPECT_FALSE(std::equal(w.begin(), w.begin() + 144, w.begin() + 156));
}

TEST(NetworkObjective, StartsAtAPointThatFloatHoldsExactly) {
  const NetworkObjective objective({.train = random_images(1, kTiny, 1), .test = {}},
                                   mlp(kTiny, {12}));

  for (const double value : start(objective, 7)) {
    EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
  }
}

TEST(NetworkObjective, TestsWithTheBiasesAloneAsTheirSoftmaxSays) {
  const ImageDataset held_out = random_images(200, kTiny, 2);
  const auto objective = softmax_regression(held_out);
  std::vector<double> w(objective.dimension());
  w[w.size() - 2] = 1;  // class 1 has logit 1, the others 0
  const double total = 2 + std::exp(1.0);

  const auto result = objective.test(w);

  ASSERT_TRUE(result.has_value());
  EXPECT_DOUBLE_EQ(result->accuracy, share(held_out, 1));
  EXPECT_NEAR(result->loss, std::log(total) - share(held_out, 1), 1e-14);
}

TEST(NetworkObjective, TestGivesEqualLogitsToTheLowestClass) {
  const ImageDataset held_out = random_images(200, kTiny, 2);
  const auto objective = softmax_regression(held_out);

  const auto result = objective.test(std::vector<double>(objective.dimension()));

  EXPECT_DOUBLE_EQ(result->accuracy, share(held_out, 0));
  EXPECT_NEAR(result->loss, std::log(3.0), 1e-15);
}

TEST(NetworkObjective, TestFindsNothingCorrectWhereLogitsAreNaN) {
  const auto objective = softmax_regression(random_images(20, kTiny, 2));

  const auto result = objective.test(
      std::vector<double>(objective.dimension(), std::numeric_limits<double>::quiet_NaN()));

  EXPECT_EQ(result->accuracy, 0);
  EXPECT_TRUE(std::isnan(result->loss));
}

TEST(NetworkObjective, NormalisesHeldOutImagesAsItDoesTheTrainingImages) {
  const ImageDataset images = random_images(5, kTiny, 1);
  ImageDataset first = images;
  first.pixels.resize(first.features());
  first.labels.resize(1);
  const NetworkObjective objective({.train = images, .test = first}, mlp(kTiny, {4}));
  const auto w = start(objective, 1);
  const std::vector<std::uint32_t> shard{0};

  const double loss = 5 * objective.evaluate(0, 1, shard, w, {});

  EXPECT_NEAR(objective.test(w)->loss, loss, 1e-14);
}

TEST(NetworkObjective, HasNoTestWithoutHeldOutImages) {
  const NetworkObjective objective({.train = random_images(1, kTiny, 1), .test = {}},
                                   mlp(kTiny, {}));

  EXPECT_FALSE(objective.test(start(objective, 1)).has_value());
}

TEST(NetworkObjective, DescribesItsDataAndKnowsThatALossIsNeverNegative) {
  const ImageDataset images = random_images(5, kTiny, 1);
  const NetworkObjective objective({.train = images, .test = {}}, mlp(kTiny, {}));

  EXPECT_EQ(objective.data().name, "random");
  EXPECT_EQ(objective.data().samples, 5U);
  EXPECT_EQ(objective.data().features, 12U);
  EXPECT_EQ(objective.data().fingerprint, fingerprint(images));
  EXPECT_THAT(objective.data().note, HasSubstr("channel 1 normalised by mean 0."));
  EXPECT_TRUE(std::equal(images.labels.begin(),
                         images.labels.end(),
                         objective.labels().begin(),
                         objective.labels().end()));
  EXPECT_FALSE(objective.facts().smoothness.has_value());
  EXPECT_FALSE(objective.facts().minimum.has_value());
  EXPECT_FALSE(objective.facts().convex.has_value());
  EXPECT_EQ(objective.facts().lower_bound, 0);
}

TEST(NetworkObjective, StartsFromTheSeedAndSaysSo) {
  const auto objective = softmax_regression(random_images(5, kTiny, 1));

  EXPECT_TRUE(objective.facts().starts_from_seed);
  EXPECT_NE(start(objective, 1), start(objective, 2));
}

TEST(NetworkObjective, SaysWhyGradientsAreBiasedAndOnlyThen) {
  const auto bias = [](bool augment, const NetworkOptions& options, const Networks& network) {
    ImageData data{.train = random_images(40, network.shape, 1), .test = {}};
    const NetworkObjective objective(
        image_samples(std::move(data), network.shape, augment), network, options);
    return objective.facts().gradient_bias;
  };

  EXPECT_EQ(bias(false, {}, mlp(kTiny, {4})), "");
  EXPECT_EQ(bias(false, {.test_samples = 3, .evaluate_in_float = true}, mlp(kTiny, {4})), "");
  EXPECT_EQ(bias(true, {}, mlp(kTiny, {4})), "batches are augmented, the samples of f are not");
  EXPECT_EQ(bias(false, {.evaluate_samples = 9}, mlp(kTiny, {4})),
            "f is evaluated on 9 of 40 samples");
  EXPECT_EQ(bias(false, {.evaluate_samples = 40}, mlp(kTiny, {4})), "");
  EXPECT_EQ(bias(true, {.evaluate_samples = 9}, resnet(20)),
            "batch normalisation in training mode; batches are augmented, the samples of f are "
            "not; f is evaluated on 9 of 40 samples");
}

TEST(NetworkObjective, NamesBothShapesWhenImagesDoNotFitTheNetwork) {
  const auto message = mistake([] {
    const NetworkObjective objective({.train = random_images(1, kTiny, 1), .test = {}}, lenet());
  });

  EXPECT_EQ(message,
            "'random' has images of 2x3x2 (channels x height x width) in 3 classes, the network "
            "takes 1x28x28 in 10; change one of them");
}

TEST(NetworkObjective, RejectsHeldOutImagesOfAnotherShape) {
  ImageShape other = kTiny;
  other.classes = 4;

  EXPECT_THAT(mistake([&] { softmax_regression(random_images(1, other, 1)); }),
              HasSubstr("in 4 classes, the network takes 2x3x2 in 3"));
}

TEST(NetworkObjective, RejectsLabelsThatAreNoClass) {
  for (const std::int32_t label : {-1, 3}) {
    ImageDataset images = random_images(5, kTiny, 1);
    images.labels[2] = label;

    EXPECT_THAT(mistake([&] { softmax_regression(images); }),
                HasSubstr(fmt::format("image 2 of 'random' has label {}", label)));
  }
}

TEST(NetworkObjective, RejectsAnEmptyOrIncompleteImageSet) {
  ImageDataset incomplete = random_images(5, kTiny, 1);
  incomplete.pixels.pop_back();

  EXPECT_EQ(mistake([] { softmax_regression(random_images(0, kTiny, 1)); }),
            "'random' has no images");
  EXPECT_EQ(mistake([&] { softmax_regression(incomplete); }),
            "'random' has 59 pixels, its 5 images of 12 need 60");
}

}  // namespace
}  // namespace residuum::testing
