// Over which samples, and in which precision, networks are evaluated.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "objectives/torch/models.h"
#include "objectives/torch/network_objective.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using ::testing::HasSubstr;

NetworkObjective with_options(const NetworkOptions& options, std::size_t rows = 90) {
  return {ImageData{.train = random_images(rows, kTiny, 1), .test = random_images(70, kTiny, 2)},
          mlp(kTiny, {4}),
          options};
}

double loss_of(const Objective& objective,
               const std::vector<std::uint32_t>& samples,
               const std::vector<double>& w) {
  return objective.evaluate(0, 1, samples, w, {});
}

TEST(EvaluateSamples, AreOneChoiceOfSoManyAndFIsTheMeanOverThem) {
  const auto whole = with_options({});
  const auto part = with_options({.evaluate_samples = 20});
  const auto w = start(whole, 1);
  const std::vector<std::uint32_t> chosen(part.evaluated().begin(), part.evaluated().end());

  EXPECT_TRUE(whole.evaluated().empty());
  ASSERT_EQ(chosen.size(), 20U);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::set(chosen.begin(), chosen.end()).size(), 20U);
  EXPECT_NEAR(full_loss(part, w), loss_of(whole, chosen, w) * 90 / 20, 1e-14);
  const auto again = with_options({.evaluate_samples = 20});
  EXPECT_TRUE(std::equal(chosen.begin(), chosen.end(), again.evaluated().begin()));
  EXPECT_THAT(part.data().note, HasSubstr("f is estimated by 20 of the 90 training samples"));
}

TEST(EvaluateSamples, OfTheShardsAddUpToF) {
  const auto objective = with_options({.evaluate_samples = 20});
  const auto w = start(objective, 1);
  const auto all = all_samples(objective);
  std::vector<double> sum(w.size());

  double loss = objective.evaluate(0, 2, std::span(all).first(40), w, sum);
  loss += objective.evaluate(1, 2, std::span(all).subspan(40), w, sum);

  EXPECT_NEAR(loss, full_loss(objective, w), 1e-15);
  const auto gradient = full_gradient(objective, w);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(sum[i], gradient[i], 1e-15);
  }
}

TEST(EvaluateSamples, AsManyAsThereAreMeansAll) {
  EXPECT_TRUE(with_options({.evaluate_samples = 90}).evaluated().empty());
  EXPECT_TRUE(with_options({.evaluate_samples = 1000}).evaluated().empty());
}

// One choice is made per size of a data set; over many sizes no place may be preferred.
TEST(EvaluateSamples, PreferNoPlace) {
  double sum = 0;
  for (std::size_t rows = 101; rows < 161; ++rows) {
    const auto objective = with_options({.evaluate_samples = 50}, rows);
    for (const std::uint32_t sample : objective.evaluated()) {
      sum += (sample + 0.5) / static_cast<double>(rows);
    }
  }
  // 3000 numbers of mean 1/2 and standard deviation at most 0.29: six standard errors.
  EXPECT_NEAR(sum / 3000, 0.5, 6 * 0.29 / std::sqrt(3000));
}

TEST(TestSamples, AreSoManyOfTheHeldOutOnes) {
  const auto whole = with_options({});
  const auto part = with_options({.test_samples = 30});
  const auto w = start(whole, 1);

  EXPECT_NE(part.test(w)->loss, whole.test(w)->loss);
  EXPECT_EQ(part.test(w)->accuracy * 30, std::round(part.test(w)->accuracy * 30));
  EXPECT_THAT(part.data().note, HasSubstr("tested on 30 of 70 held-out samples"));
}

// Sums of some dozen products of numbers about 1, each rounded by 6e-8.
TEST(EvaluateInFloat, IsTheEvaluationInDoubleRounded) {
  const auto exact = with_options({});
  const auto quick = with_options({.evaluate_in_float = true});
  const auto w = start(exact, 1);

  EXPECT_NEAR(full_loss(quick, w), full_loss(exact, w), 1e-6);
  EXPECT_NE(full_loss(quick, w), full_loss(exact, w));
  EXPECT_NEAR(quick.test(w)->loss, exact.test(w)->loss, 1e-6);
  const auto gradient = full_gradient(exact, w);
  const auto rounded = full_gradient(quick, w);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(rounded[i], gradient[i], 1e-6);
  }
  EXPECT_THAT(quick.data().note, HasSubstr("f is evaluated in float32"));
}

}  // namespace
}  // namespace residuum::testing
