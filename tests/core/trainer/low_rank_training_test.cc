// Trainings whose gradients are exchanged at low rank end where those of dense sums end.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

/// The minimiser of test::noisy_quadratic: the mean of the workers' centres.
std::vector<double> mean_centre(std::size_t d, int workers) {
  std::vector<double> mean(d);
  for (int worker = 0; worker < workers; ++worker) {
    RandomStream centres(7, Purpose::test, static_cast<std::uint32_t>(worker), 0);
    for (double& value : mean) {
      value += centres.normal() / workers;
    }
  }
  return mean;
}

double distance_at_the_end(const Recipe& recipe) {
  const auto objective = test::noisy_quadratic(27, 0, test::matrix_and_bias());
  const auto frames = test::train(objective, recipe).frames;
  const auto centre = mean_centre(27, recipe.workers);
  double distance_sq = 0;
  for (std::size_t j = 0; j < centre.size(); ++j) {
    distance_sq += std::pow(frames.back().model[j] - centre[j], 2);
  }
  return std::sqrt(distance_sq);
}

TEST(LowRankTraining, FindsTheMinimiserOfWorkersWhoDiffer) {
  for (const bool warm_start : {true, false}) {
    for (const Json& feedback : {Json{{"kind", "ef14"}},
                                 Json{{"kind", "ef14"}, {"units", "gradient"}},
                                 Json{{"kind", "ef21"}}}) {
      Recipe recipe{.aggregator = {{"kind", "powersgd"}, {"rank", 1}, {"warm_start", warm_start}},
                    .feedback = feedback};
      recipe.workers = 3;
      recipe.iterations = 2000;
      recipe.measured = 1999;
      EXPECT_LE(distance_at_the_end(recipe), 1e-8) << warm_start << feedback;
    }
  }
}

TEST(SketchedRows, FindTheMinimiserOfWorkersWhoDiffer) {
  for (const Json& feedback : {Json{{"kind", "ef14"}}, Json{{"kind", "ef21"}}}) {
    Recipe recipe{.aggregator = {{"kind", "arc-top-k"}, {"rank", 1}, {"density", 0.34}},
                  .feedback = feedback};
    recipe.workers = 3;
    recipe.iterations = 2000;
    recipe.measured = 1999;
    EXPECT_LE(distance_at_the_end(recipe), 1e-8) << feedback;
  }
}

// The rounding of every hop is in the residuals, so that no mass is lost.
TEST(QuantisedRingTraining, LosesNothing) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const bool rotate : {false, true}) {
    Recipe recipe{.aggregator = {{"kind", "quantised-ring"}, {"bits", 4}, {"rotate", rotate}},
                  .feedback = {{"kind", "ef14"}}};
    recipe.workers = 3;
    recipe.iterations = 40;
    for (const auto& frame : test::train(objective, recipe).frames) {
      EXPECT_TRUE(frame.conserves);
      EXPECT_LE(frame.conservation_defect(), 1e-13) << rotate << " at " << frame.iteration;
      EXPECT_EQ(static_cast<double>(frame.traffic.bytes), frame.traffic_model.bytes);
    }
  }
}

/// A matrix of 6 x 4 has a sketch of 6 numbers and 2 rows of 4, the vector 3 numbers.
TEST(SketchedRows, LoseNothing) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const Json& feedback : {Json{{"kind", "ef14"}}, Json{{"kind", "ef21"}}}) {
    Recipe recipe{.aggregator = {{"kind", "arc-top-k"}, {"rank", 1}, {"density", 0.34}},
                  .feedback = feedback};
    recipe.workers = 3;
    recipe.iterations = 40;
    for (const auto& frame : test::train(objective, recipe).frames) {
      EXPECT_TRUE(frame.conserves);
      EXPECT_LE(frame.conservation_defect(), 1e-13) << feedback << " at " << frame.iteration;
      EXPECT_EQ(static_cast<double>(frame.traffic.bytes), frame.traffic_model.bytes);
      EXPECT_EQ(frame.traffic.bytes, 2U * 2 * (6 + 3 + 8) * 8);
    }
  }
}

TEST(LowRankTraining, KeepsWhatWorkersDifferByAndLosesNothing) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const Json& feedback : {Json{{"kind", "ef14"}},
                               Json{{"kind", "ef21"}},
                               Json{{"kind", "dgc"}, {"masking", false}, {"momentum", 0.5}}}) {
    Recipe recipe{.aggregator = {{"kind", "powersgd"}, {"rank", 1}}, .feedback = feedback};
    recipe.workers = 3;
    recipe.iterations = 40;
    for (const auto& frame : test::train(objective, recipe).frames) {
      EXPECT_TRUE(frame.conserves);
      EXPECT_LE(frame.conservation_defect(), 1e-13) << feedback << " at " << frame.iteration;
      EXPECT_EQ(static_cast<double>(frame.traffic.bytes), frame.traffic_model.bytes);
      // The chain of three workers carries 6 + 3 numbers and 4 numbers.
      EXPECT_EQ(frame.traffic.bytes, 2U * 2 * (9 + 4) * 8);
    }
  }
}

/// Two workers whose gradients cancel: nothing is applied if the layer is a matrix, and each
/// keeps all of its gradients. If layers are summed as they are, nothing is kept.
TEST(LowRankTraining, LetsWhatWorkersDifferByAddUpInTheirResiduals) {
  const test::TinyObjective objective(
      std::vector<double>(27),
      [](const Draw& draw, std::span<const double>, std::span<double> gradient) {
        for (std::size_t j = 0; j < gradient.size(); ++j) {
          gradient[j] = (draw.worker == 0 ? 1.0 : -1.0) * static_cast<double>(j % 5);
        }
      },
      0,
      test::matrix_and_bias());
  double norm_sq = 0;  // of the matrix in a gradient
  for (std::size_t j = 0; j < 24; ++j) {
    norm_sq += std::pow(j % 5, 2);
  }
  Recipe recipe{.aggregator = {{"kind", "powersgd"}, {"rank", 1}},
                .feedback = {{"kind", "ef14"}, {"units", "gradient"}}};
  recipe.workers = 2;
  recipe.iterations = 10;
  for (const auto& frame : test::train(objective, recipe).frames) {
    const auto t = static_cast<double>(frame.iteration + 1);
    for (const auto& scalars : frame.scalars) {
      EXPECT_DOUBLE_EQ(scalars.residual_norm_sq, t * t * norm_sq);
    }
    EXPECT_EQ(frame.mean_residual, std::vector<double>(27));
    EXPECT_EQ(frame.model, std::vector<double>(27));
  }
}

TEST(LowRankTraining, WithoutFeedbackLosesWhatItDoesNotSend) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const Json& feedback :
       {Json{{"kind", "none"}}, Json{{"kind", "ef14"}, {"putback", "discard"}}}) {
    Recipe recipe{.aggregator = {{"kind", "powersgd"}, {"rank", 1}}, .feedback = feedback};
    recipe.workers = 3;
    recipe.iterations = 10;
    const auto frame = test::train(objective, recipe).frames.back();
    EXPECT_FALSE(frame.conserves);
    EXPECT_GE(frame.conservation_defect(), 1e-3);
  }
}

}  // namespace
}  // namespace residuum
