// Workers' optimisers against those of libtorch, step by step on the same gradients.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/optimisers/optimiser.h"

namespace residuum::testing {
namespace {

constexpr std::size_t kNumbers = 50;
constexpr double kLearningRate = 0.03;
constexpr int kSteps = 40;

/// A gradient that depends on the model and on the step.
std::vector<double> gradient_at(const std::vector<double>& w, int step) {
  std::vector<double> gradient(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    gradient[i] = std::sin(static_cast<double>(i) + 0.7 * step) + 0.2 * w[i];
  }
  return gradient;
}

std::vector<double> start_of_steps() {
  std::vector<double> w(kNumbers);
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] = std::cos(static_cast<double>(3 * i));
  }
  return w;
}

std::vector<double> after_own_steps(const nlohmann::json& keys) {
  const auto optimiser = make_optimiser(Section("local", keys));
  std::vector<double> w = start_of_steps();
  std::vector<double> memory(optimiser->vectors() * w.size());
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> direction = gradient_at(w, step);
    optimiser->direct(OptimiserStep<double>{.before = static_cast<std::uint64_t>(step),
                                            .model = w,
                                            .gradient = direction,
                                            .memory = memory});
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] -= kLearningRate * direction[i];
    }
  }
  return w;
}

template <class Optim, class Options>
std::vector<double> after_torch_steps(const Options& options) {
  std::vector<double> w = start_of_steps();
  auto parameter =
      torch::from_blob(w.data(), {static_cast<std::int64_t>(w.size())}, torch::kFloat64).clone();
  parameter.set_requires_grad(true);
  Optim optim({parameter}, options);
  for (int step = 0; step < kSteps; ++step) {
    auto gradient = gradient_at(w, step);
    parameter.mutable_grad() =
        torch::from_blob(gradient.data(), {static_cast<std::int64_t>(w.size())}, torch::kFloat64)
            .clone();
    optim.step();
    const auto values = parameter.detach();
    std::copy_n(values.template data_ptr<double>(), w.size(), w.begin());
  }
  return w;
}

void expect_close(const std::vector<double>& own, const std::vector<double>& of_torch) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    ASSERT_NEAR(own[i], of_torch[i], 1e-13) << i;
  }
}

TEST(WorkersOptimisers, OfMomentumAreThoseOfLibtorch) {
  for (const bool looks_ahead : {false, true}) {
    expect_close(after_own_steps({{"optimiser", "momentum"},
                                  {"momentum", 0.8},
                                  {"nesterov", looks_ahead},
                                  {"weight_decay", 0.05}}),
                 after_torch_steps<torch::optim::SGD>(torch::optim::SGDOptions(kLearningRate)
                                                          .momentum(0.8)
                                                          .nesterov(looks_ahead)
                                                          .weight_decay(0.05)));
  }
}

TEST(WorkersOptimisers, AdamWIsThatOfLibtorch) {
  expect_close(after_own_steps({{"optimiser", "adamw"}}),
               after_torch_steps<torch::optim::AdamW>(torch::optim::AdamWOptions(kLearningRate)));
  expect_close(
      after_own_steps(
          {{"optimiser", "adamw"}, {"beta1", 0.9}, {"beta2", 0.95}, {"weight_decay", 0.1}}),
      after_torch_steps<torch::optim::AdamW>(
          torch::optim::AdamWOptions(kLearningRate).betas({0.9, 0.95}).weight_decay(0.1)));
}

}  // namespace
}  // namespace residuum::testing
