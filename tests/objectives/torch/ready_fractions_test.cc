// When the gradients of layers are ready, as a network measures it for overlapping exchanges.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "objectives/torch/models.h"
#include "objectives/torch/network_objective.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

NetworkObjective digits(const Networks& network, std::size_t samples) {
  return {ImageData{.train = random_images(samples, network.shape, 1), .test = {}}, network};
}

/// The fractions of the layers of each module, e.g. of conv1.weight and conv1.bias.
std::vector<std::vector<double>> by_module(const NetworkObjective& objective,
                                           const std::vector<double>& fractions) {
  std::vector<std::vector<double>> modules;
  std::string last;
  const auto layers = objective.layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const std::string module = layers[l].name.substr(0, layers[l].name.rfind('.'));
    if (module != last) {
      modules.emplace_back();
    }
    modules.back().push_back(fractions[l]);
    last = module;
  }
  return modules;
}

TEST(ReadyFractions, FallFromTheLastLayerToTheFirstAndHaveTheForwardPassBeforeThem) {
  const auto objective = digits(lenet(), 64);
  const auto fractions = objective.ready_fractions(64);
  ASSERT_EQ(fractions.size(), objective.layers().size());
  for (const double fraction : fractions) {
    EXPECT_GT(fraction, 0.05) << "nothing is ready before the forward pass is over";
    EXPECT_LE(fraction, 1);
  }
  const auto modules = by_module(objective, fractions);
  ASSERT_EQ(modules.size(), 5U);
  for (std::size_t m = 1; m < modules.size(); ++m) {
    EXPECT_LT(*std::max_element(modules[m].begin(), modules[m].end()),
              *std::min_element(modules[m - 1].begin(), modules[m - 1].end()))
        << "module " << m;
  }
}

// A batch of 256 goes through the network in parts of 64, and its gradient is whole in the last.
TEST(ReadyFractions, OfALargeBatchLieInItsLastPart) {
  for (const double fraction : digits(lenet(), 256).ready_fractions(256)) {
    EXPECT_GT(fraction, 0.75);
    EXPECT_LE(fraction, 1);
  }
}

TEST(ReadyFractions, AreThereForNormalisedNetworksToo) {
  for (const double fraction : digits(resnet(20), 4).ready_fractions(4)) {
    EXPECT_GT(fraction, 0);
    EXPECT_LE(fraction, 1);
  }
}

TEST(ReadyFractions, ChangeNoGradientThatIsTakenAfterwards) {
  const auto objective = digits(mlp(kTiny, {5}), 8);
  const auto w = start(objective, 3);
  const auto samples = all_samples(objective);
  const auto before = batch_gradient<double>(objective, samples, w);
  EXPECT_EQ(objective.ready_fractions(1'000'000).size(), 4U) << "more samples than there are";
  EXPECT_EQ(batch_gradient<double>(objective, samples, w), before);
}

}  // namespace
}  // namespace residuum::testing
