#pragma once
// Small image sets for the tests of the networks.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/objective.h"
#include "core/random/random.h"
#include "objectives/data/dataset.h"
#include "objectives/torch/network.h"

namespace residuum::testing {

/// Bytes and labels drawn uniformly.
inline ImageDataset random_images(std::size_t rows, const ImageShape& shape, std::uint64_t seed) {
  ImageDataset images;
  images.name = "random";
  images.channels = shape.channels;
  images.height = shape.height;
  images.width = shape.width;
  images.classes = shape.classes;
  RandomStream random(seed, Purpose::test, 0, 0);
  for (std::size_t i = 0; i < rows * shape.pixels(); ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    images.labels.push_back(
        static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(shape.classes))));
  }
  return images;
}

constexpr ImageShape kTiny{.channels = 2, .height = 3, .width = 2, .classes = 3};
constexpr ImageShape kDigits{.channels = 1, .height = 28, .width = 28, .classes = 10};

inline std::vector<std::uint32_t> all_samples(const Objective& objective) {
  std::vector<std::uint32_t> samples(objective.samples());
  std::iota(samples.begin(), samples.end(), 0U);
  return samples;
}

inline std::vector<double> start(const Objective& objective, std::uint64_t seed) {
  std::vector<double> w(objective.dimension());
  objective.initial_point(seed, w);
  return w;
}

inline double full_loss(const Objective& objective, std::span<const double> w) {
  return objective.evaluate(0, 1, all_samples(objective), w, {});
}

inline std::vector<double> full_gradient(const Objective& objective, std::span<const double> w) {
  std::vector<double> gradient(objective.dimension());
  objective.evaluate(0, 1, all_samples(objective), w, gradient);
  return gradient;
}

template <class Real>
std::vector<Real> batch_gradient(const Objective& objective,
                                 std::span<const std::uint32_t> samples,
                                 const std::vector<Real>& w) {
  std::vector<Real> gradient(w.size());
  objective.stochastic_gradient({.samples = samples}, std::span<const Real>(w), gradient);
  return gradient;
}

/// Runs `action`, which must fail as a user's mistake, and returns what it said.
template <class Action>
std::string mistake(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected a usage error";
  return {};
}

}  // namespace residuum::testing
