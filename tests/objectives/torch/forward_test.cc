// The networks' losses against a direct computation of every layer from its definition.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_objective.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

/// Channels of size x size numbers, row by row.
struct Maps {
  std::size_t channels = 0;
  std::size_t size = 0;
  std::vector<double> values;

  double at(std::size_t channel, std::ptrdiff_t row, std::ptrdiff_t column) const {
    const auto end = static_cast<std::ptrdiff_t>(size);
    if (row < 0 || column < 0 || row >= end || column >= end) {
      return 0;  // padding
    }
    return values[(channel * size + static_cast<std::size_t>(row)) * size +
                  static_cast<std::size_t>(column)];
  }
};

/// Reads parameters one after another, as the flat vector promises to hold them.
class Reader {
 public:
  explicit Reader(std::vector<double> w) : w_(std::move(w)) {}

  std::vector<double> next(std::size_t count) {
    const auto begin = w_.begin() + static_cast<std::ptrdiff_t>(position_);
    position_ += count;
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  bool at_end() const { return position_ == w_.size(); }

 private:
  std::vector<double> w_;
  std::size_t position_ = 0;
};

struct Filters {
  std::size_t inputs = 0;
  std::vector<double> weights;  // output, input, 5, 5
  std::vector<double> biases;

  double response(const Maps& in, std::size_t output, std::size_t row, std::size_t column) const {
    double sum = biases[output];
    for (std::size_t i = 0; i < inputs * 25; ++i) {
      const std::size_t r = row + i % 25 / 5;
      const std::size_t c = column + i % 5;
      sum += weights[output * inputs * 25 + i] *
             in.at(i / 25, static_cast<std::ptrdiff_t>(r), static_cast<std::ptrdiff_t>(c));
    }
    return sum;
  }
};

/// With `padding` zeros around.
Maps padded(const Maps& in, std::size_t padding) {
  Maps out{.channels = in.channels, .size = in.size + 2 * padding, .values = {}};
  const auto shift = static_cast<std::ptrdiff_t>(padding);
  const auto end = static_cast<std::ptrdiff_t>(out.size);
  for (std::size_t channel = 0; channel < in.channels; ++channel) {
    for (std::ptrdiff_t i = 0; i < end * end; ++i) {
      out.values.push_back(in.at(channel, i / end - shift, i % end - shift));
    }
  }
  return out;
}

Maps convolved(const Maps& in, std::size_t outputs, Reader& parameters) {
  Filters filters{.inputs = in.channels, .weights = {}, .biases = {}};
  filters.weights = parameters.next(outputs * in.channels * 25);
  filters.biases = parameters.next(outputs);
  Maps out{.channels = outputs, .size = in.size - 4, .values = {}};
  for (std::size_t i = 0; i < outputs * out.size * out.size; ++i) {
    const std::size_t pixel = i % (out.size * out.size);
    out.values.push_back(
        filters.response(in, i / (out.size * out.size), pixel / out.size, pixel % out.size));
  }
  return out;
}

Maps pooled(const Maps& in) {
  Maps out{.channels = in.channels, .size = in.size / 2, .values = {}};
  for (std::size_t i = 0; i < out.channels * out.size * out.size; ++i) {
    const std::size_t channel = i / (out.size * out.size);
    const auto row = static_cast<std::ptrdiff_t>(2 * (i / out.size % out.size));
    const auto column = static_cast<std::ptrdiff_t>(2 * (i % out.size));
    out.values.push_back(std::max({in.at(channel, row, column),
                                   in.at(channel, row, column + 1),
                                   in.at(channel, row + 1, column),
                                   in.at(channel, row + 1, column + 1)}));
  }
  return out;
}

std::vector<double> rectified(std::vector<double> values) {
  for (double& value : values) {
    value = std::max(value, 0.0);
  }
  return values;
}

std::vector<double> linear(const std::vector<double>& in, std::size_t outputs, Reader& parameters) {
  const auto weights = parameters.next(outputs * in.size());
  std::vector<double> out = parameters.next(outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    const auto row = weights.begin() + static_cast<std::ptrdiff_t>(o * in.size());
    out[o] = std::inner_product(in.begin(), in.end(), row, out[o]);
  }
  return out;
}

double cross_entropy(const std::vector<double>& logits, std::int32_t label) {
  double total = 0;
  for (const double logit : logits) {
    total += std::exp(logit);
  }
  return std::log(total) - logits[static_cast<std::size_t>(label)];
}

std::vector<double> normalised(const ImageDataset& image) {
  const auto moments = channel_moments(image);
  const std::size_t plane = image.height * image.width;
  std::vector<double> x;
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const auto& channel = moments[i / plane];
    x.push_back((image.pixels[i] / 255.0 - channel.mean) / channel.deviation);
  }
  return x;
}

TEST(Lenet, LosesWhatItsLayersGiveWhenComputedOneByOne) {
  const ImageDataset image = random_images(1, kDigits, 5);
  const NetworkObjective objective({.train = image, .test = {}}, lenet());
  const auto w = start(objective, 6);
  Reader parameters(w);

  Maps maps{.channels = 1, .size = 28, .values = normalised(image)};
  maps = convolved(padded(maps, 2), 6, parameters);
  maps.values = rectified(maps.values);
  maps = convolved(pooled(maps), 16, parameters);
  maps.values = rectified(maps.values);
  const auto first = rectified(linear(pooled(maps).values, 120, parameters));
  const auto second = rectified(linear(first, 84, parameters));
  const auto logits = linear(second, 10, parameters);

  EXPECT_TRUE(parameters.at_end());
  EXPECT_NEAR(full_loss(objective, w), cross_entropy(logits, image.labels[0]), 1e-13);
}

TEST(Mlp, LosesWhatItsLayersGiveWhenComputedOneByOne) {
  const ImageDataset image = random_images(1, kTiny, 5);
  const NetworkObjective objective({.train = image, .test = {}}, mlp(kTiny, {9, 7}));
  const auto w = start(objective, 6);
  Reader parameters(w);

  const auto first = rectified(linear(normalised(image), 9, parameters));
  const auto second = rectified(linear(first, 7, parameters));
  const auto logits = linear(second, 3, parameters);

  EXPECT_TRUE(parameters.at_end());
  EXPECT_NEAR(full_loss(objective, w), cross_entropy(logits, image.labels[0]), 1e-13);
}

}  // namespace
}  // namespace residuum::testing
