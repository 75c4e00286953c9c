// ResNets, VGG-16 and AlexNet: sizes, starts, gradients, running statistics.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "objectives/torch/models.h"
#include "objectives/torch/network_objective.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using ::testing::HasSubstr;

constexpr ImageShape kPhotographs{.channels = 3, .height = 32, .width = 32, .classes = 10};

NetworkObjective on_photographs(const Networks& networks,
                                std::size_t rows,
                                const NetworkOptions& options = {}) {
  return {ImageData{.train = random_images(rows, kPhotographs, 1), .test = std::nullopt},
          networks,
          options};
}

const Layer& layer_named(const std::vector<Layer>& layers, const std::string& name) {
  const auto found = std::find_if(
      layers.begin(), layers.end(), [&](const Layer& layer) { return layer.name == name; });
  EXPECT_NE(found, layers.end()) << name;
  return *found;
}

double root_mean_square(const std::vector<double>& w, const Layer& layer) {
  double sum = 0;
  for (std::size_t i = layer.offset; i < layer.offset + layer.size; ++i) {
    sum += w[i] * w[i];
  }
  return std::sqrt(sum / static_cast<double>(layer.size));
}

TEST(Resnet20, HasThePapersParametersAndStatistics) {
  const auto objective = on_photographs(resnet(20), 1);

  EXPECT_EQ(objective.dimension(), 269722U);
  EXPECT_EQ(objective.statistics(), 1376U);  // 2 for each of 16 + 6 * (16 + 32 + 64) maps
  EXPECT_EQ(objective.layers().front().name, "conv1.weight");
  EXPECT_THAT(layer_named(objective.layers(), "stage2block1.conv1.weight").shape,
              ::testing::ElementsAre(32, 16, 3, 3));
  EXPECT_EQ(objective.layers().size(), 59U);  // 19 convolutions, 2 * 19 of normalisation, 2 linear
}

TEST(Resnet8, HasOneBlockInEveryStage) {
  const auto objective = on_photographs(resnet(8), 1);

  // A convolution, two of each block, twice the maps of each, a linear layer.
  EXPECT_EQ(objective.dimension(),
            9U * (3 * 16 + 16 * 16 + 16 * 16 + 16 * 32 + 32 * 32 + 32 * 64 + 64 * 64) +
                2 * (16 + 2 * (16 + 32 + 64)) + 64 * 10 + 10);
  EXPECT_EQ(objective.dimension(), 75290U);
  EXPECT_EQ(objective.statistics(), 480U);
  EXPECT_EQ(objective.layers().size(), 23U);
}

/// Kernels for float keep the channels of a pixel side by side, those for double do not.
TEST(Resnet8, HasTheGradientOfDoublePrecisionInSinglePrecision) {
  const auto objective = on_photographs(resnet(8), 8);
  const auto w = start(objective, 3);
  const auto samples = all_samples(objective);
  const auto single = batch_gradient(objective, samples, std::vector<float>(w.begin(), w.end()));

  const auto wide = batch_gradient(objective, samples, w);

  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    error += std::pow(wide[i] - static_cast<double>(single[i]), 2);
    norm += std::pow(wide[i], 2);
  }
  // Rounding, 6e-8, is magnified by normalisation and by sums over 8192 pixels.
  EXPECT_LT(std::sqrt(error / norm), 1e-4);
}

TEST(Vgg16, HasThePapersParametersAndStatistics) {
  const auto objective = on_photographs(vgg16(), 1);

  EXPECT_EQ(objective.dimension(), 14728266U);
  EXPECT_EQ(objective.statistics(), 2U * 4224);
}

TEST(Alexnet, HasTheParametersOfItsLayers) {
  const auto objective = on_photographs(alexnet(), 1);

  EXPECT_EQ(objective.dimension(),
            64U * 3 * 121 + 64 + 192 * 64 * 25 + 192 + 384 * 192 * 9 + 384 + 256 * 384 * 9 + 256 +
                256 * 256 * 9 + 256 + 2560 + 10);
  EXPECT_EQ(objective.dimension(), 2472266U);
  EXPECT_EQ(objective.statistics(), 0U);
}

TEST(Resnet20, StartsAsHeEtAlDo) {
  const auto objective = on_photographs(resnet(20), 1);
  const auto w = start(objective, 1);

  for (const Layer& layer : objective.layers()) {
    const auto n = static_cast<double>(layer.size);
    if (layer.shape.size() == 4) {
      const double deviation = std::sqrt(2.0 / static_cast<double>(layer.shape[0] * 9));
      // The root mean square of n normals has standard error 1/sqrt(2 n); six of them.
      EXPECT_NEAR(root_mean_square(w, layer) / deviation, 1, 6 / std::sqrt(2 * n)) << layer.name;
    } else if (layer.name.starts_with("fc")) {
      EXPECT_LE(root_mean_square(w, layer), 0.125) << layer.name;  // 1/sqrt(64)
      EXPECT_GT(root_mean_square(w, layer), 0.02) << layer.name;
    } else {
      const double value = layer.name.ends_with("weight") ? 1 : 0;
      const auto begin = w.begin() + static_cast<std::ptrdiff_t>(layer.offset);
      EXPECT_TRUE(std::all_of(begin,
                              begin + static_cast<std::ptrdiff_t>(layer.size),
                              [&](double x) { return x == value; }))
          << layer.name;
    }
  }
}

TEST(DeepNetworks, WithoutWeightsLoseTheLogarithmOfTheClasses) {
  for (const auto& networks : {resnet(20), alexnet()}) {
    const auto objective = on_photographs(networks, 2);

    EXPECT_NEAR(
        full_loss(objective, std::vector<double>(objective.dimension())), std::log(10.0), 1e-14);
  }
}

TEST(Alexnet, LosesAboutTheLogarithmOfTheClassesAtItsStart) {
  const auto objective = on_photographs(alexnet(), 20);

  EXPECT_NEAR(full_loss(objective, start(objective, 1)), std::log(10.0), 0.05);
}

/// All images of a data set, normalised.
Batch<double> batch_of(const ImageDataset& images) {
  const auto data = image_samples({.train = images, .test = {}}, kPhotographs);
  std::vector<std::uint32_t> all(images.rows());
  std::iota(all.begin(), all.end(), 0U);
  Batch<double> batch;
  data.train->assemble(all, nullptr, batch);
  return batch;
}

/// The largest |difference quotient - gradient| over coordinates, one in each of `names`, against
/// the largest gradient among them.
double gradient_error(const Networks& networks,
                      Phase phase,
                      const std::vector<std::string>& names,
                      std::size_t images) {
  constexpr double kStep = 1e-6;
  const auto network = networks.make_double({});
  auto w = start(on_photographs(networks, 1), 3);
  auto batch = batch_of(random_images(images, kPhotographs, 1));
  const auto loss_at = [&](const std::vector<double>& point) {
    network->load(point);
    return phase == Phase::training ? network->add_gradient(batch, 1, phase)
                                    : network->loss(batch).sum;
  };
  network->load(w);
  network->add_gradient(batch, 1, phase);
  const std::vector<double> gradient(network->gradient().begin(), network->gradient().end());
  double largest = 0;
  double error = 0;
  for (const auto& name : names) {
    const Layer& layer = layer_named(network->layers(), name);
    const std::size_t i = layer.offset + layer.size / 2;
    const double at = w[i];
    w[i] = at + kStep;
    const double above = loss_at(w);
    w[i] = at - kStep;
    const double below = loss_at(w);
    w[i] = at;
    largest = std::max(largest, std::abs(gradient[i]));
    error = std::max(error, std::abs((above - below) / (2 * kStep) - gradient[i]));
  }
  EXPECT_GT(largest, 1e-4);
  return error / largest;
}

// Rounding of the losses, 1e-15 / step, is 1e-9; steps over the kinks of ReLU add to that.
TEST(Resnet20, GradientIsTheDifferenceQuotientInEveryKindOfLayerAndBothPhases) {
  const std::vector<std::string> names{"conv1.weight",
                                       "bn1.weight",
                                       "bn1.bias",
                                       "stage1block2.conv1.weight",
                                       "stage2block1.conv1.weight",
                                       "stage2block1.bn2.weight",
                                       "stage3block1.conv2.weight",
                                       "stage3block3.bn2.bias",
                                       "fc.weight",
                                       "fc.bias"};
  EXPECT_LE(gradient_error(resnet(20), Phase::training, names, 3), 1e-5);
  EXPECT_LE(gradient_error(resnet(20), Phase::evaluation, names, 3), 1e-5);
}

TEST(Vgg16, GradientIsTheDifferenceQuotientInEveryKindOfLayer) {
  const std::vector<std::string> names{"conv1.weight", "bn6.weight", "conv13.weight", "fc.bias"};
  EXPECT_LE(gradient_error(vgg16(), Phase::evaluation, names, 1), 1e-5);
}

TEST(Alexnet, GradientIsTheDifferenceQuotientInEveryKindOfLayer) {
  const std::vector<std::string> names{"conv1.weight", "conv2.bias", "conv5.weight", "fc.weight"};
  EXPECT_LE(gradient_error(alexnet(), Phase::evaluation, names, 3), 1e-5);
}

/// Mean and unbiased variance of every map of the first convolution over a batch.
std::vector<double> first_moments(const Batch<double>& batch, const std::vector<double>& w) {
  std::vector<double> means;
  std::vector<double> variances;
  const std::size_t images = batch.labels.size();
  for (std::size_t map = 0; map < 16; ++map) {
    std::vector<double> values;
    for (std::size_t i = 0; i < images * 1024; ++i) {
      const auto row = static_cast<std::ptrdiff_t>(i % 1024 / 32);
      const auto column = static_cast<std::ptrdiff_t>(i % 32);
      double value = 0;
      for (std::size_t tap = 0; tap < 27; ++tap) {
        const std::ptrdiff_t y = row + static_cast<std::ptrdiff_t>(tap % 9 / 3) - 1;
        const std::ptrdiff_t x = column + static_cast<std::ptrdiff_t>(tap % 3) - 1;
        if (y >= 0 && y < 32 && x >= 0 && x < 32) {
          const auto pixel = (i / 1024 * 3 + tap / 9) * 1024 + static_cast<std::size_t>(y * 32 + x);
          value += w[map * 27 + tap] * batch.pixels[pixel];
        }
      }
      values.push_back(value);
    }
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) {
      squares += (value - mean) * (value - mean);
    }
    means.push_back(mean);
    variances.push_back(squares / (n - 1));
  }
  means.insert(means.end(), variances.begin(), variances.end());
  return means;
}

TEST(Resnet20, MovesRunningStatisticsByATenthOfEachBatchsMoments) {
  const ImageDataset images = random_images(6, kPhotographs, 1);
  const NetworkObjective objective(ImageData{.train = images, .test = {}}, resnet(20));
  const auto w = start(objective, 2);
  const std::vector<std::vector<std::uint32_t>> batches{{0, 1, 2}, {4, 3}};
  std::vector<double> statistics(objective.statistics());
  objective.initial_statistics(statistics);
  std::vector<double> expected(32);
  std::fill(expected.begin() + 16, expected.end(), 1);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), statistics.begin()));

  Batch<double> batch;
  const auto source = image_samples({.train = images, .test = {}}, kPhotographs);
  for (const auto& samples : batches) {
    std::vector<double> gradient(w.size());
    objective.stochastic_gradient(
        {.samples = samples, .statistics = statistics}, std::span<const double>(w), gradient);
    source.train->assemble(samples, nullptr, batch);
    const auto moments = first_moments(batch, w);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = 0.9 * expected[i] + 0.1 * moments[i];
    }
  }

  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(statistics[i], expected[i], 1e-12) << i;
  }
}

TEST(Resnet20, EvaluatesWithTheStatisticsItIsGivenWhateverWasComputedBefore) {
  const auto objective = on_photographs(resnet(20), 4);
  const auto w = start(objective, 2);
  std::vector<double> moved(objective.statistics(), 0.5);
  const auto loss_at = [&](const Point& at) {
    return objective.evaluate(0, 1, all_samples(objective), at, {});
  };
  const double at_start = loss_at(w);
  const double at_moved = loss_at({w, moved});

  batch_gradient(objective, all_samples(objective), w);  // without statistics of its own

  EXPECT_EQ(loss_at(w), at_start);
  EXPECT_EQ(loss_at({w, moved}), at_moved);
  EXPECT_NE(at_moved, at_start);
}

TEST(Resnet20, GivesTheSameGradientWithAndWithoutMovingStatistics) {
  const auto objective = on_photographs(resnet(20), 4);
  const auto w0 = start(objective, 2);
  const std::vector<float> w(w0.begin(), w0.end());
  const auto samples = all_samples(objective);
  std::vector<double> statistics(objective.statistics());
  objective.initial_statistics(statistics);
  std::vector<float> gradient(w.size());

  objective.stochastic_gradient(
      {.samples = samples, .statistics = statistics}, std::span<const float>(w), gradient);

  EXPECT_EQ(batch_gradient(objective, samples, w), gradient);
  EXPECT_EQ(batch_gradient(objective, samples, w), gradient);
}

TEST(DeepNetworks, AugmentDrawsByTheirKeyAndNeverEvaluations) {
  const ImageDataset images = random_images(4, kPhotographs, 1);
  const auto make = [&](bool augment) {
    return NetworkObjective(image_samples({.train = images, .test = {}}, kPhotographs, augment),
                            alexnet());
  };
  const auto plain = make(false);
  const auto augmented = make(true);
  const auto w0 = start(plain, 2);
  const std::vector<float> w(w0.begin(), w0.end());
  const auto samples = all_samples(plain);
  const auto gradient = [&](const Objective& objective, std::uint64_t seed, int worker, int t) {
    std::vector<float> g(w.size());
    objective.stochastic_gradient({.seed = seed,
                                   .worker = worker,
                                   .iteration = static_cast<std::uint64_t>(t),
                                   .samples = samples},
                                  std::span<const float>(w),
                                  g);
    return g;
  };

  EXPECT_EQ(full_loss(augmented, w0), full_loss(plain, w0));
  EXPECT_EQ(gradient(augmented, 1, 2, 3), gradient(augmented, 1, 2, 3));
  EXPECT_NE(gradient(augmented, 1, 2, 3), gradient(plain, 1, 2, 3));
  EXPECT_NE(gradient(augmented, 1, 2, 3), gradient(augmented, 2, 2, 3));
  EXPECT_NE(gradient(augmented, 1, 2, 3), gradient(augmented, 1, 1, 3));
  EXPECT_NE(gradient(augmented, 1, 2, 3), gradient(augmented, 1, 2, 4));
  EXPECT_THAT(augmented.data().note, HasSubstr("batches augmented"));
}

TEST(DeepNetworks, NameBothShapesWhenDigitsAreGivenToThem) {
  EXPECT_EQ(mistake([] {
              const NetworkObjective objective(
                  ImageData{.train = random_images(1, kDigits, 1), .test = {}}, resnet(20));
            }),
            "'random' has images of 1x28x28 (channels x height x width) in 10 classes, the network "
            "takes 3x32x32 in 10; change one of them");
}

/// Returns losses and models of a training of two workers on the given number of processes.
std::vector<double> history(const Objective& objective, int processes) {
  const test::Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 500}},
                            .aggregator = {{"kind", "gtopk-tree"}},
                            .step = {{"value", 0.05}},
                            .workers = 2,
                            .iterations = 2,
                            .precision = Precision::float32,
                            .evaluated = 1,
                            .batch = 2,
                            .shards = {{0, 2, 4}, {1, 3}}};
  std::vector<double> numbers;
  test::on_processes(processes, [&](World& world) {
    test::FrameKeeper keeper;
    const auto outcome = test::train(world, objective, recipe, keeper);
    if (world.is_root()) {
      for (const auto& frame : keeper.frames) {
        numbers.push_back(frame.evaluation->loss);
        numbers.insert(numbers.end(), frame.model.begin(), frame.model.end());
      }
      numbers.push_back(outcome.evaluation->loss);
    }
  });
  return numbers;
}

TEST(Resnet20, TrainsToTheSameBitsOnOneAndOnTwoProcesses) {
  const auto objective = on_photographs(resnet(20), 5, {.evaluate_in_float = true});

  const auto alone = history(objective, 1);

  EXPECT_EQ(history(objective, 1), alone);
  EXPECT_EQ(history(objective, 2), alone);
  EXPECT_TRUE(std::isfinite(alone.back()));
}

}  // namespace
}  // namespace residuum::testing
