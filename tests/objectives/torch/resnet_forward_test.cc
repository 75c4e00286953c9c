// ResNets' losses against a direct computation of every layer from its definition.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "objectives/torch/models.h"
#include "objectives/torch/network_objective.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using Values = std::vector<double>;

/// Channels of size x size numbers, row by row.
struct Planes {
  std::size_t channels = 0;
  std::size_t size = 0;
  Values values;

  /// Beyond the edges there are zeros.
  double at(std::size_t channel, std::ptrdiff_t row, std::ptrdiff_t column) const {
    const auto end = static_cast<std::ptrdiff_t>(size);
    if (row < 0 || column < 0 || row >= end || column >= end) {
      return 0;
    }
    return values[(channel * size + static_cast<std::size_t>(row)) * size +
                  static_cast<std::size_t>(column)];
  }
};

/// Numbers one after another.
class Numbers {
 public:
  explicit Numbers(const Values& numbers) : numbers_(numbers) {}
  double next() { return numbers_.at(position_++); }
  Values next(std::size_t count) {
    Values values(count);
    for (double& value : values) {
      value = next();
    }
    return values;
  }
  bool at_end() const { return position_ == numbers_.size(); }

 private:
  const Values& numbers_;
  std::size_t position_ = 0;
};

Planes convolved(const Planes& in, std::size_t outputs, std::size_t stride, Numbers& w) {
  const Values weights = w.next(outputs * in.channels * 9);
  Planes out{.channels = outputs, .size = in.size / stride, .values = {}};
  for (std::size_t i = 0; i < outputs * out.size * out.size; ++i) {
    const std::size_t output = i / (out.size * out.size);
    const auto row = static_cast<std::ptrdiff_t>(i / out.size % out.size * stride);
    const auto column = static_cast<std::ptrdiff_t>(i % out.size * stride);
    double sum = 0;
    for (std::size_t tap = 0; tap < in.channels * 9; ++tap) {
      const auto down = static_cast<std::ptrdiff_t>(tap % 9 / 3) - 1;
      const auto right = static_cast<std::ptrdiff_t>(tap % 3) - 1;
      sum += weights[output * in.channels * 9 + tap] * in.at(tap / 9, row + down, column + right);
    }
    out.values.push_back(sum);
  }
  return out;
}

Planes normalised(Planes in, Numbers& w, Numbers& statistics) {
  const Values weights = w.next(in.channels);
  const Values biases = w.next(in.channels);
  const Values means = statistics.next(in.channels);
  const Values variances = statistics.next(in.channels);
  for (std::size_t i = 0; i < in.values.size(); ++i) {
    const std::size_t c = i / (in.size * in.size);
    in.values[i] =
        (in.values[i] - means[c]) / std::sqrt(variances[c] + 1e-5) * weights[c] + biases[c];
  }
  return in;
}

Planes rectified(Planes in) {
  for (double& value : in.values) {
    value = std::max(value, 0.0);
  }
  return in;
}

Planes block(const Planes& in, std::size_t outputs, Numbers& w, Numbers& statistics) {
  const std::size_t stride = outputs == in.channels ? 1 : 2;
  const Planes inner = rectified(normalised(convolved(in, outputs, stride, w), w, statistics));
  Planes out = normalised(convolved(inner, outputs, 1, w), w, statistics);
  for (std::size_t c = 0; c < in.channels; ++c) {  // further maps get nothing added
    for (std::size_t i = 0; i < out.size * out.size; ++i) {
      out.values[c * out.size * out.size + i] +=
          in.at(c,
                static_cast<std::ptrdiff_t>(i / out.size * stride),
                static_cast<std::ptrdiff_t>(i % out.size * stride));
    }
  }
  return rectified(out);
}

double cross_entropy(const Planes& maps, std::size_t label, Numbers& w) {
  Values pooled;
  for (std::size_t c = 0; c < maps.channels; ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      sum += maps.values[c * 64 + i];
    }
    pooled.push_back(sum / 64);
  }
  Values logits(10);
  for (double& logit : logits) {
    for (const double value : pooled) {
      logit += w.next() * value;
    }
  }
  double total = 0;
  for (double& logit : logits) {
    logit += w.next();
    total += std::exp(logit);
  }
  return std::log(total) - logits[label];
}

class Resnet : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Resnet, LosesWhatItsLayersGiveWhenComputedOneByOne) {
  const std::int64_t blocks_per_stage = (GetParam() - 2) / 6;
  constexpr ImageShape kPhotograph{.channels = 3, .height = 32, .width = 32, .classes = 10};
  const ImageDataset image = random_images(1, kPhotograph, 5);
  const NetworkObjective objective(ImageData{.train = image, .test = {}}, resnet(GetParam()));
  RandomStream random(5, Purpose::test, 1, 0);
  Values w = start(objective, 6);
  for (double& value : w) {
    value += 0.02 * random.normal();  // no weight of a normalisation is 1, no bias 0
  }
  Values statistics(objective.statistics());
  for (double& value : statistics) {
    value = 0.5 + random.uniform();
  }

  const auto source = image_samples({.train = image, .test = {}}, kPhotograph);
  Batch<double> batch;
  source.train->assemble(std::vector<std::uint32_t>{0}, nullptr, batch);
  Numbers of(w);
  Numbers running(statistics);
  Planes maps{.channels = 3, .size = 32, .values = batch.pixels};
  maps = rectified(normalised(convolved(maps, 16, 1, of), of, running));
  for (const std::size_t outputs : {16U, 32U, 64U}) {
    for (std::int64_t i = 0; i < blocks_per_stage; ++i) {
      maps = block(maps, outputs, of, running);
    }
  }
  const double loss = cross_entropy(maps, static_cast<std::size_t>(image.labels[0]), of);

  EXPECT_TRUE(of.at_end());
  EXPECT_TRUE(running.at_end());
  EXPECT_NEAR(
      objective.evaluate(0, 1, all_samples(objective), {w, statistics}, {}), loss, 1e-11 * loss);
}

INSTANTIATE_TEST_SUITE_P(OfDepth, Resnet, ::testing::Values(8, 20));

}  // namespace
}  // namespace residuum::testing
