// Losses and gradients of the networks against closed forms, a direct computation and differences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_objective.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using ::testing::Each;
using ::testing::Le;

NetworkObjective tiny_mlp(const std::vector<std::int64_t>& hidden, std::size_t rows) {
  return {{.train = random_images(rows, kTiny, 1), .test = std::nullopt}, mlp(kTiny, hidden)};
}

NetworkObjective small_lenet(std::size_t rows) {
  return {{.train = random_images(rows, kDigits, 1), .test = std::nullopt}, lenet()};
}

/// |central difference - gradient| at coordinates first, first + stride, ...
std::vector<double> difference_errors(const Objective& objective, std::size_t stride) {
  constexpr double kStep = 1e-5;
  std::vector<double> w = start(objective, 3);
  const auto gradient = full_gradient(objective, w);
  std::vector<double> errors;
  for (std::size_t i = 0; i < w.size(); i += stride) {
    const double at = w[i];
    w[i] = at + kStep;
    const double above = full_loss(objective, w);
    w[i] = at - kStep;
    const double below = full_loss(objective, w);
    w[i] = at;
    errors.push_back(std::abs((above - below) / (2 * kStep) - gradient[i]));
  }
  return errors;
}

double largest_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

// The difference quotient errs by step^2 f'''/6, about 1e-10 here, and by rounding, 1e-16 / step =
// 1e-11; gradients are of order 0.1.
TEST(Mlp, GradientIsTheDifferenceQuotientInEveryCoordinate) {
  const auto objective = tiny_mlp({5, 4}, 7);

  EXPECT_THAT(difference_errors(objective, 1), Each(Le(1e-8)));
}

TEST(Lenet, GradientIsTheDifferenceQuotientInCoordinatesOfEveryLayer) {
  const auto objective = small_lenet(3);

  EXPECT_THAT(difference_errors(objective, 997), Each(Le(1e-8)));  // 62 of them
}

/// Loss and gradient of softmax regression, computed directly: weights row by row, then biases.
struct SoftmaxRegression {
  double loss = 0;
  std::vector<double> gradient;

  SoftmaxRegression(const ImageDataset& images, const std::vector<double>& w) : gradient(w.size()) {
    const auto moments = channel_moments(images);
    const std::size_t plane = images.height * images.width;
    for (std::size_t row = 0; row < images.rows(); ++row) {
      std::vector<double> x(images.features());
      for (std::size_t j = 0; j < x.size(); ++j) {
        const auto& channel = moments[j / plane];
        x[j] = (images.pixels[row * x.size() + j] / 255.0 - channel.mean) / channel.deviation;
      }
      add(x, static_cast<std::size_t>(images.labels[row]), w);
    }
    loss /= static_cast<double>(images.rows());
    for (double& entry : gradient) {
      entry /= static_cast<double>(images.rows());
    }
  }

  void add(const std::vector<double>& x, std::size_t label, const std::vector<double>& w) {
    const std::size_t features = x.size();
    const std::size_t classes = w.size() / (features + 1);
    const std::size_t biases = classes * features;
    std::vector<double> power(classes);
    for (std::size_t c = 0; c < classes; ++c) {
      const auto row = w.begin() + static_cast<std::ptrdiff_t>(c * features);
      power[c] = std::exp(std::inner_product(x.begin(), x.end(), row, w[biases + c]));
    }
    const double total = std::accumulate(power.begin(), power.end(), 0.0);
    loss -= std::log(power[label] / total);
    for (std::size_t c = 0; c < classes; ++c) {
      const double slope = power[c] / total - (c == label ? 1 : 0);
      gradient[biases + c] += slope;
      for (std::size_t j = 0; j < features; ++j) {
        gradient[c * features + j] += slope * x[j];
      }
    }
  }
};

TEST(Mlp, WithoutHiddenLayersIsSoftmaxRegression) {
  const auto objective = tiny_mlp({}, 150);
  const std::vector<double> w = start(objective, 5);

  const SoftmaxRegression direct(random_images(150, kTiny, 1), w);

  EXPECT_NEAR(full_loss(objective, w), direct.loss, 1e-14);
  EXPECT_LE(largest_distance(full_gradient(objective, w), direct.gradient), 1e-14);
}

TEST(Networks, AtZeroLoseTheLogarithmOfTheClassesAndOnlyTheLastBiasMoves) {
  const auto objective = small_lenet(20);
  const std::vector<double> w(objective.dimension());
  std::vector<double> expected(objective.dimension());  // softmax - label, averaged
  for (std::size_t c = 0; c < 10; ++c) {
    expected[expected.size() - 10 + c] = 0.1;
  }
  for (const std::int32_t label : objective.labels()) {
    expected[expected.size() - 10 + static_cast<std::size_t>(label)] -= 1.0 / 20;
  }

  EXPECT_NEAR(full_loss(objective, w), std::log(10.0), 1e-15);
  EXPECT_LE(largest_distance(full_gradient(objective, w), expected), 1e-15);
}

TEST(Networks, MeanOfTheSamplesGradientsIsTheFullGradient) {
  const auto objective = tiny_mlp({6}, 150);
  const auto w = start(objective, 2);
  std::vector<double> mean(w.size());
  for (const std::uint32_t sample : all_samples(objective)) {
    const auto gradient = batch_gradient<double>(objective, std::vector{sample}, w);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += gradient[i] / 150;
    }
  }

  EXPECT_LE(largest_distance(mean, full_gradient(objective, w)), 1e-15);
}

// 300 samples pass through the network in several parts.
TEST(Networks, ABatchOfAllSamplesGivesTheFullGradient) {
  const auto objective = tiny_mlp({6}, 300);
  const auto w = start(objective, 2);

  const auto gradient = batch_gradient(objective, all_samples(objective), w);

  EXPECT_LE(largest_distance(gradient, full_gradient(objective, w)), 1e-15);
}

// A sum of a few hundred rounded products: some hundred times 6e-8, against entries up to 0.1.
TEST(Networks, GradientInFloatIsTheOneInDoubleRounded) {
  const auto objective = small_lenet(32);
  const auto w = start(objective, 2);

  const auto gradient =
      batch_gradient(objective, all_samples(objective), std::vector<float>(w.begin(), w.end()));

  EXPECT_LE(largest_distance({gradient.begin(), gradient.end()}, full_gradient(objective, w)),
            1e-5);
}

TEST(Networks, ShardsAddUpToTheObjective) {
  const auto objective = tiny_mlp({6}, 11);
  const auto w = start(objective, 4);
  const auto samples = all_samples(objective);
  const std::span<const std::uint32_t> all(samples);
  std::vector<double> sum(w.size());

  double loss = objective.evaluate(0, 3, all.first(4), w, sum);
  loss += objective.evaluate(1, 3, all.first(0), w, sum);
  loss += objective.evaluate(2, 3, all.subspan(4), w, sum);

  EXPECT_NEAR(loss, full_loss(objective, w), 1e-15);
  EXPECT_LE(largest_distance(sum, full_gradient(objective, w)), 1e-15);
}

TEST(Networks, RepeatTheSameBitsWhateverWasComputedBetween) {
  const auto objective = small_lenet(150);
  const auto again = small_lenet(150);
  const auto w = start(objective, 2);
  const std::vector<float> single(w.begin(), w.end());
  const auto samples = all_samples(objective);
  const auto loss = full_loss(objective, w);
  const auto gradient = full_gradient(objective, w);
  const auto stochastic = batch_gradient(objective, samples, single);
  batch_gradient(objective, std::span(samples).first(7), start(objective, 9));

  EXPECT_EQ(full_loss(objective, w), loss);
  EXPECT_EQ(full_gradient(objective, w), gradient);
  EXPECT_EQ(batch_gradient(objective, samples, single), stochastic);
  EXPECT_EQ(full_loss(again, w), loss);
  EXPECT_EQ(full_gradient(again, w), gradient);
  EXPECT_EQ(batch_gradient(again, samples, single), stochastic);
}

TEST(Networks, ShowANaNInTheParametersInLossAndGradient) {
  const auto objective = small_lenet(4);
  auto w = start(objective, 2);
  w[0] = std::numeric_limits<double>::quiet_NaN();  // a weight of the first convolution
  const std::vector<float> single(w.begin(), w.end());

  EXPECT_TRUE(std::isnan(full_loss(objective, w)));
  EXPECT_TRUE(std::isnan(full_gradient(objective, w)[0]));
  EXPECT_TRUE(std::isnan(batch_gradient(objective, all_samples(objective), single)[0]));
}

}  // namespace
}  // namespace residuum::testing
