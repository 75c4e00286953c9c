// Least squares against numpy and by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kFiveTargets =
    "3.5 1:1 2:2\n-1 2:1 3:-1\n7 1:3 3:1\n2.25 1:1 2:1 3:1\n4 1:2 2:-1 3:0.5\n";

class LeastSquaresOfAFile : public ::testing::Test {
 protected:
  std::unique_ptr<Objective> of(const std::string& text, nlohmann::json settings) const {
    settings["data"] = directory_.write("rows", text);
    return make("least-squares", settings);
  }
  TemporaryDirectory directory_;
};

auto near(double value) { return DoubleNear(value, 1e-13 * (1 + std::abs(value))); }

TEST_F(LeastSquaresOfAFile, IsItsFormula) {
  // Two samples, x_1 = (2, 0), b_1 = 3, and x_2 = (1, -4), b_2 = -1; at w = (1, 0.5) they miss by
  // -1 and 0, so f = 1/4 + 0.15 * 1.25.
  const auto f = of("3 1:2\n-1 1:1 2:-4\n", {{"l2", 0.3}});
  const auto at = evaluate(*f, std::vector{1.0, 0.5});
  EXPECT_THAT(at.value, near(0.25 + 0.15 * 1.25));
  EXPECT_THAT(at.gradient, ElementsAre(near(-1 + 0.3), near(0.15)));
  EXPECT_EQ(f->data().note, "targets from -1 to 3");
  EXPECT_TRUE(f->labels().empty());
}

// numpy.linalg.lstsq of the five rows, and numpy.linalg.eigvalsh of A^T A / 5.
TEST_F(LeastSquaresOfAFile, WithoutRidgeHasTheMinimumOfNumpy) {
  const auto facts = of(kFiveTargets, {{"l2", 0}})->facts();
  EXPECT_THAT(
      facts.minimizer,
      ElementsAre(near(2.0911669367909234), near(0.35170178282009734), near(0.6061588330632092)));
  EXPECT_THAT(facts.minimum.value(), near(0.17242706645056724));
  EXPECT_THAT(facts.smoothness.value(), near(3.3798287851972546));
  EXPECT_THAT(facts.strong_convexity.value(), near(0.2586649973542435));
  EXPECT_EQ(facts.convex, true);
  EXPECT_EQ(facts.lower_bound, 0.0);
}

// numpy.linalg.solve of (A^T A / 5 + 0.3) w = A^T b / 5.
TEST_F(LeastSquaresOfAFile, WithARidgeHasTheMinimumOfTheNormalEquations) {
  const auto facts = of(kFiveTargets, {{"l2", 0.3}})->facts();
  EXPECT_THAT(
      facts.minimizer,
      ElementsAre(near(1.9025863294017338), near(0.31199374733551233), near(0.6090663635071769)));
  EXPECT_THAT(facts.minimum.value(), near(0.8410588674150917));
  EXPECT_THAT(facts.smoothness.value(), near(3.679828785197255));
  EXPECT_THAT(facts.strong_convexity.value(), near(0.5586649973542429));
}

// The same with a column of ones, which has no ridge.
TEST_F(LeastSquaresOfAFile, HasAnInterceptWithoutRidge) {
  const auto f = of(kFiveTargets, {{"l2", 0.3}, {"intercept", true}});
  ASSERT_EQ(f->dimension(), 4U);
  const auto facts = f->facts();
  EXPECT_THAT(facts.minimizer,
              ElementsAre(near(1.6877369668246451),
                          near(0.16931279620853115),
                          near(0.6668838862559245),
                          near(0.4855154028436008)));
  EXPECT_THAT(facts.minimum.value(), near(0.8127865817535546));
  EXPECT_THAT(facts.smoothness.value(), near(4.339103166738196));
  EXPECT_THAT(facts.strong_convexity.value(), near(0.1792387549877053));
}

// Feature 2 repeats feature 1: of all minimisers, numpy.linalg.lstsq takes the shortest.
TEST_F(LeastSquaresOfAFile, OfDependentFeaturesHasTheShortestMinimiser) {
  const auto facts = of("1 1:1 2:1\n2 1:2 2:2\n4 1:3 2:3\n", {{"l2", 0}})->facts();
  EXPECT_THAT(facts.minimizer, ElementsAre(near(0.6071428571428569), near(0.6071428571428571)));
  EXPECT_THAT(facts.minimum.value(), near(0.059523809523809514));
  EXPECT_EQ(facts.strong_convexity, 0.0);
}

// The first two rows: A^T A / 2 has the eigenvalues 0, 0.5 and 3.
TEST_F(LeastSquaresOfAFile, KnowsTheSmoothnessOfAShard) {
  const auto f = of(kFiveTargets, {{"l2", 0.3}});
  EXPECT_THAT(f->shard_smoothness(std::vector<std::uint32_t>{0, 1}).value(), near(3.3));
}

// d orthogonal rows sqrt(n) e_i with b_i = sqrt(n): f separates, w_i = 1 / (1 + l2). 1200
// coordinates are beyond the dense solver.
TEST_F(LeastSquaresOfAFile, BeyondTheDenseSolverIsSolvedByConjugateGradients) {
  constexpr int kCoordinates = 1200;
  const double scale = std::sqrt(static_cast<double>(kCoordinates));
  std::string text;
  for (int i = 1; i <= kCoordinates; ++i) {
    text += fmt::format("{0} {1}:{0}\n", scale, i);
  }
  const auto facts = of(text, {{"l2", 0.25}})->facts();
  for (const double w_j : facts.minimizer) {
    EXPECT_NEAR(w_j, 0.8, 1e-11);  // |grad| / mu
  }
  // (1/2) sum (1 - 0.8)^2 + (0.25/2) 0.8^2, 1200 times
  EXPECT_NEAR(facts.minimum.value(), kCoordinates * (0.02 + 0.08), 1e-9);
  EXPECT_NEAR(facts.smoothness.value(), 1.25, 1.25e-4);
  EXPECT_EQ(facts.strong_convexity, 0.25);
}

TEST_F(LeastSquaresOfAFile, TestsHeldOutRowsWithoutAnAccuracy) {
  directory_.write("rows.t", "1 1:1\n3 1:2\n");
  const auto f = of("1 1:1 2:1\n2 1:2 2:2\n4 1:3 2:3\n", {{"l2", 0}});
  const auto result = f->test(std::vector{1.0, 0.0});
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->loss, near(0.25));  // misses 0 and -1
  EXPECT_TRUE(std::isnan(result->accuracy));
}

TEST_F(LeastSquaresOfAFile, RefusesTargetsThatAreNoNumbers) {
  for (const char* const target : {"inf", "nan", "x", "1e39"}) {
    EXPECT_THAT(error_of([&] { of(std::string(target) + " 1:1\n", {}); }),
                AllOf(HasSubstr("rows:1:1: target '"), HasSubstr("is not a finite number")));
  }
}

}  // namespace
}  // namespace residuum::test
