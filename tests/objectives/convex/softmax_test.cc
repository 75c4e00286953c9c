// Softmax regression against a computation in numpy, logistic regression and differences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three classes with the labels 4, 7 and 9.
constexpr const char* kSixRows = "4 1:1 2:2\n7 2:1\n4 1:3\n9 1:1 2:-1\n7 1:-2 2:1\n9 1:-1 2:-2\n";

class SoftmaxOfAFile : public ::testing::Test {
 protected:
  std::unique_ptr<Objective> of(const std::string& text, nlohmann::json settings) const {
    settings["data"] = directory_.write("rows", text);
    return make("softmax", settings);
  }
  TemporaryDirectory directory_;
};

auto close_to(double value) { return DoubleNear(value, 1e-14); }

// The weights of a feature stand side by side: (w_11, w_12, w_13, w_21, ...). Values by numpy, from
// the formula.
TEST_F(SoftmaxOfAFile, IsItsFormula) {
  const auto f = of(kSixRows, {{"l2", 0.2}});
  ASSERT_EQ(f->dimension(), 6U);
  EXPECT_THAT(f->labels(), ElementsAre(0, 1, 0, 2, 1, 2));
  EXPECT_THAT(f->layers().front().shape, ElementsAre(2, 3));
  EXPECT_EQ(f->data().note, "3 classes, labels 4 to 9 numbered from 0 in their order");
  const auto at = evaluate(*f, std::vector{0.5, -1.0, 0.25, 1.0, 0.75, -0.5});
  EXPECT_THAT(at.value, close_to(0.6755408636627009));
  EXPECT_THAT(at.gradient,
              ElementsAre(close_to(-0.07725022206169552),
                          close_to(-0.17627456080949339),
                          close_to(0.20352478287118897),
                          close_to(0.19897761608689632),
                          close_to(-0.00886719230034402),
                          close_to(0.05988957621344776)));
}

// Newton's method with the whole Hessian, in numpy, to a gradient of 2e-17.
TEST_F(SoftmaxOfAFile, HasTheMinimumOfNewtonsMethodInNumpy) {
  const auto facts = of(kSixRows, {{"l2", 0.2}})->facts();
  EXPECT_NEAR(facts.minimum.value(), 0.5346074876080611, 1e-14);
  const std::vector<double> expected{0.5727511234983029,
                                     -0.5490744184513148,
                                     -0.02367670504698824,
                                     0.38926695653749405,
                                     0.44051234074273954,
                                     -0.8297792972802338};
  EXPECT_LE(distance(facts.minimizer, expected), 1e-11);             // |grad| / mu
  EXPECT_NEAR(facts.smoothness.value(), 1.5493818669639374, 1e-13);  // lambda_max(A^T A)/12 + 0.2
  EXPECT_EQ(facts.strong_convexity, 0.2);
}

// With two classes and v = w_2 - w_1 the loss is that of logistic regression at v, and the best
// weights are +-v/2: (l2/2)(|v|^2/4 + |v|^2/4) is the ridge of l2/2.
TEST_F(SoftmaxOfAFile, OfTwoClassesIsLogisticRegressionWithHalfTheRidge) {
  const std::string text = "-1 1:1 2:2\n1 1:0.5\n-1 2:1\n1 1:3 2:-1\n-1 1:1\n1 1:-1 2:0.25\n";
  const auto f = of(text, {{"l2", 0.2}});
  const auto logistic = make("logistic", {{"data", directory_.write("rows", text)}, {"l2", 0.1}});
  const Facts own = f->facts();
  const Facts other = logistic->facts();

  EXPECT_NEAR(own.minimum.value(), other.minimum.value(), 1e-14);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(own.minimizer[2 * j], -other.minimizer[j] / 2, 1e-11);
    EXPECT_NEAR(own.minimizer[2 * j + 1], other.minimizer[j] / 2, 1e-11);
  }
  // L: (lambda/(2n) + l2) is twice (lambda/(4n) + l2/2)
  EXPECT_NEAR(own.smoothness.value(), 2 * other.smoothness.value(), 1e-13);
}

TEST_F(SoftmaxOfAFile, IsStableForLargeWeights) {
  const auto f = of(kSixRows, {{"l2", 0}});
  const std::vector<double> w{800, 0, 0, 0, 800, 0};
  const auto at = evaluate(*f, w);
  EXPECT_TRUE(std::isfinite(at.value));
  // z of the rows: (800, 1600, 0), (0, 800, 0), (2400, 0, 0), (800, -800, 0), (-1600, 800, 0),
  // (-800, -1600, 0): they cost 800, 0, 0, 800, 0, 0.
  EXPECT_NEAR(at.value, 1600.0 / 6, 1e-12);
  EXPECT_FALSE(f->facts().minimum.has_value());
}

TEST_F(SoftmaxOfAFile, HasAnInterceptWithoutRidge) {
  const auto f = of(kSixRows, {{"l2", 0.2}, {"intercept", true}});
  ASSERT_EQ(f->dimension(), 9U);
  const Facts facts = f->facts();
  EXPECT_EQ(facts.strong_convexity, 0.0);
  std::vector<double> gradient(9, 0.0);
  f->evaluate(0, 1, all_samples(*f), facts.minimizer, gradient);
  EXPECT_LE(norm(gradient), 1e-11);
  auto w = facts.minimizer;
  for (std::size_t c = 6; c < 9; ++c) {
    w[c] += 5;  // alike in all classes
  }
  EXPECT_NEAR(evaluate(*f, w).value, *facts.minimum, 1e-14);
}

TEST_F(SoftmaxOfAFile, CountsHeldOutRowsThatAreRight) {
  directory_.write("rows.t", "4 1:1\n9 1:1\n7 2:1\n");
  const auto f = of(kSixRows, {{"l2", 0}});
  const auto result = f->test(std::vector<double>{1, 0, 0, 0, 1, 0});
  ASSERT_TRUE(result.has_value());
  EXPECT_DOUBLE_EQ(result->accuracy, 2.0 / 3);
  const double right = std::log(std::exp(1.0) + 2) - 1;
  EXPECT_NEAR(result->loss, (2 * right + right + 1) / 3, 1e-15);
}

TEST_F(SoftmaxOfAFile, RefusesLabelsThatAreNoClasses) {
  EXPECT_THAT(error_of([&] { of("0.5 1:1\n", {}); }), HasSubstr("label '0.5' is no class"));
  EXPECT_THAT(error_of([&] { of("3 1:1\n3 1:2\n", {}); }),
              HasSubstr("label 3 is the only class in all 2 rows"));
  directory_.write("rows.t", "5 1:1\n");
  EXPECT_THAT(error_of([&] { of(kSixRows, {}); }),
              HasSubstr("label 5 is none of the training data's 3 classes"));
}

}  // namespace
}  // namespace residuum::test
