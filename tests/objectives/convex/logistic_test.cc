// Logistic regression on data small enough to compute by hand, and its section's keys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "objectives/logistic_objective.h"
#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

TEST(LogisticLoss, IsStableForAnyMargin) {
  std::vector<double> margins{0, -800, -1e300, 700, 1e300, std::nan("")};
  std::vector<double> values(margins.size());
  std::vector<double> weights = margins;
  to_logistic_weights(weights);
  to_logistic_values(margins, values);

  const std::vector<double> expected{std::log(2.0), 800, 1e300, std::exp(-700.0), 0};
  const std::vector<double> expected_weights{0.5, 1, 1, std::exp(-700.0), 0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_DOUBLE_EQ(values[i], expected[i]);
    EXPECT_DOUBLE_EQ(weights[i], expected_weights[i]);
    EXPECT_EQ(margins[i], weights[i]);
  }
  EXPECT_TRUE(std::isnan(values.back()));
  EXPECT_TRUE(std::isnan(weights.back()));
}

/// Two samples: x_1 = (2, 0), y_1 = +1; x_2 = (1, -4), y_2 = -1.
constexpr const char* kTwoSamples = "+1 1:2\n-1 1:1 2:-4\n";

TEST(Logistic, IsItsFormula) {
  const TemporaryDirectory directory;
  const auto f = make("logistic", {{"data", directory.write("two", kTwoSamples)}, {"l2", 0.3}});
  // At w = (1, 0.5): margins 2 and 1; l2/2 |w|^2 = 0.1875.
  const auto at = evaluate(*f, std::vector{1.0, 0.5});
  const double s1 = 1 / (1 + std::exp(2.0));
  const double s2 = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(
      at.value, 0.5 * (std::log1p(std::exp(-2.0)) + std::log1p(std::exp(-1.0))) + 0.1875, 1e-15);
  EXPECT_NEAR(at.gradient[0], 0.5 * (-2 * s1 + 1 * s2) + 0.3, 1e-15);
  EXPECT_NEAR(at.gradient[1], 0.5 * (-4 * s2) + 0.15, 1e-15);
}

TEST(Logistic, InterceptIsTheLastCoordinateWithoutRidge) {
  const TemporaryDirectory directory;
  const auto f =
      make("logistic",
           {{"data", directory.write("two", kTwoSamples)}, {"l2", 0.3}, {"intercept", true}});
  ASSERT_EQ(f->dimension(), 3);
  EXPECT_EQ(f->data().features, 2);
  // At w = (1, 0.5), intercept 7: margins 9 and -6.
  const auto at = evaluate(*f, std::vector{1.0, 0.5, 7.0});
  EXPECT_NEAR(
      at.value, 0.5 * (std::log1p(std::exp(-9.0)) + std::log1p(std::exp(6.0))) + 0.1875, 1e-14);
  EXPECT_NEAR(at.gradient[2], 0.5 * (-1 / (1 + std::exp(9.0)) + 1 / (1 + std::exp(-6.0))), 1e-15);
  EXPECT_DOUBLE_EQ(f->facts().strong_convexity.value(), 0);
}

TEST(Logistic, MaxAbsDividesEveryFeatureByItsLargestMagnitude) {
  const TemporaryDirectory directory;
  const auto scaled =
      make("logistic",
           {{"data", directory.write("two", kTwoSamples)}, {"l2", 0.3}, {"scale", "max-abs"}});
  const auto by_hand =
      make("logistic", {{"data", directory.write("hand", "+1 1:1\n-1 1:0.5 2:-1\n")}, {"l2", 0.3}});
  const std::vector w = {0.7, -0.2};
  EXPECT_EQ(evaluate(*scaled, w).gradient, evaluate(*by_hand, w).gradient);
  EXPECT_EQ(evaluate(*scaled, w).value, evaluate(*by_hand, w).value);
}

// As scikit-learn writes digits: features from 0, labels of many classes.
TEST(Logistic, TakesAFileOfManyClassesThatCountsFromZero) {
  const TemporaryDirectory directory;
  const auto digits = directory.write("digits", "3 0:2\n0 0:1 1:-4\n7 1:5\n3 1:1\n");
  directory.write("digits.t", "3 0:1\n9 1:1\n");
  const auto f =
      make("logistic",
           {{"data", digits}, {"l2", 0.3}, {"zero_based", true}, {"classes", "one-vs-rest:3"}});
  const auto by_hand =
      make("logistic",
           {{"data", directory.write("hand", "+1 1:2\n-1 1:1 2:-4\n-1 2:5\n+1 2:1\n")},
            {"l2", 0.3},
            {"zero_based", false},
            {"classes", "two"}});
  const std::vector w = {0.7, -0.2};
  EXPECT_EQ(evaluate(*f, w).gradient, evaluate(*by_hand, w).gradient);
  EXPECT_EQ(f->test(w).value().accuracy, 1) << "x.w is 0.7 of the 3 and -0.2 of the 9";

  for (const char* wrong : {"3", "one-vs-rest:", "one-vs-rest:3x", "one-vs-all:3"}) {
    EXPECT_THAT(error_of([&] {
                  make("logistic", {{"data", digits}, {"classes", wrong}});
                }),
                testing::HasSubstr("'objective.classes' must be \"two\" or \"one-vs-rest:LABEL\""));
  }
  EXPECT_THAT(error_of([&] {
                make("logistic", {{"classes", "one-vs-rest:3"}});
              }),
              testing::HasSubstr("classes"))
      << "synthetic data have two classes";
}

TEST(Logistic, TestDataAreScaledAndExtendedLikeTheTrainingData) {
  const TemporaryDirectory directory;
  const auto data = directory.write("two", kTwoSamples);
  // Feature 3 is in no training sample, so no model has a weight for it.
  directory.write("two.t", "+1 2:4 3:5\n-1 1:4\n-1 1:-2\n");
  const auto f = make("logistic", {{"data", data}, {"scale", "max-abs"}, {"intercept", true}});
  // w = (1, 3), intercept -0.5; scaled samples (0, 1), (2, 0), (-1, 0): x.w = 2.5, 1.5, -1.5.
  const auto result = f->test(std::vector{1.0, 3.0, -0.5});
  ASSERT_TRUE(result.has_value());
  EXPECT_DOUBLE_EQ(result->accuracy, 2.0 / 3);
  const double loss =
      std::log1p(std::exp(-2.5)) + std::log1p(std::exp(1.5)) + std::log1p(std::exp(-1.5));
  EXPECT_NEAR(result->loss, loss / 3, 1e-15);
  const std::string note = f->data().note;
  EXPECT_NE(note.find("1 entries of features beyond the training data's 2"), std::string::npos)
      << note;
}

// Label 2 of the training file is +1, so both held-out samples are, although their file has no
// other: x.w = 1 and -1.
TEST(Logistic, TestDataOfOneClassHaveTheLabelsOfTheTrainingData) {
  const TemporaryDirectory directory;
  const auto data = directory.write("pair", "2 1:1\n1 1:-1\n");
  directory.write("pair.t", "2 1:1\n2 1:-1\n");
  const auto result = make("logistic", {{"data", data}})->test(std::vector{1.0}).value();
  EXPECT_DOUBLE_EQ(result.accuracy, 0.5);
  EXPECT_NEAR(result.loss, (std::log1p(std::exp(-1.0)) + std::log1p(std::exp(1.0))) / 2, 1e-15);
}

TEST(Logistic, HasNoTestResultWithoutTestData) {
  const TemporaryDirectory directory;
  const auto f = make("logistic", {{"data", directory.write("two", kTwoSamples)}});
  EXPECT_FALSE(f->test(std::vector{1.0, 0.5}).has_value());
}

TEST(Logistic, SyntheticDataHaveHeldOutDataThatTheMinimumPredicts) {
  const auto f = make("logistic", {{"rows", 1000}, {"features", 10}});
  const auto result = f->test(f->facts().minimizer);
  ASSERT_TRUE(result.has_value());
  EXPECT_GT(result->accuracy, 0.7);
  EXPECT_LT(result->loss, std::log(2.0));
}

TEST(Logistic, L2IsANumberOrAShareOfNOrOfL) {
  const TemporaryDirectory directory;
  const auto data = directory.write("two", kTwoSamples);
  const auto mu = [&](const nlohmann::json& l2) {
    return make("logistic", {{"data", data}, {"l2", l2}})->facts().strong_convexity.value();
  };
  // A^T A = ((5, -4), (-4, 16)): lambda_max = 10.5 + sqrt(5.5^2 + 16) = 17.300735254367721.
  const double smoothness = (10.5 + std::sqrt(46.25)) / 8;
  EXPECT_DOUBLE_EQ(mu(0.25), 0.25);
  EXPECT_DOUBLE_EQ(mu(3), 3);
  EXPECT_DOUBLE_EQ(mu("1/n"), 0.5);
  EXPECT_NEAR(mu("L/1e4"), smoothness / 1e4, 1e-15);
  EXPECT_NEAR(mu("L/2.5"), smoothness / 2.5, 1e-12);
  EXPECT_NEAR(make("logistic", {{"data", data}, {"l2", 0.25}})->facts().smoothness.value(),
              smoothness + 0.25,
              1e-14);
}

TEST(Logistic, DefaultsToOneOverN) {
  const auto f = make("logistic", {{"rows", 64}, {"features", 3}});
  EXPECT_DOUBLE_EQ(f->facts().strong_convexity.value(), 1.0 / 64);
}

TEST(Logistic, RejectsAnL2ThatIsNone) {
  for (const nlohmann::json l2 : {"L/", "L/0", "L/-3", "L/1e4x", "L/nan", "L/inf", "1/m", ""}) {
    EXPECT_EQ(error_of([&] {
                make("logistic", {{"rows", 9}, {"features", 2}, {"l2", l2}});
              }),
              "'objective.l2' must be a number, \"1/n\" or \"L/NUMBER\" such as \"L/1e4\", got " +
                  l2.get<std::string>());
  }
  EXPECT_EQ(error_of([] {
              make("logistic", {{"rows", 9}, {"l2", true}});
            }),
            "'objective.l2' must be a number, \"1/n\" or \"L/NUMBER\" such as \"L/1e4\", got true");
  EXPECT_EQ(error_of([] {
              make("logistic", {{"rows", 9}, {"l2", -0.1}});
            }),
            "'objective.l2' must not be negative, got -0.1");
}

TEST(Logistic, RejectsOtherMistakesWithTheCure) {
  EXPECT_EQ(error_of([] {
              make("logistic", {{"scale", "maxabs"}});
            }),
            "unknown value 'maxabs' of 'objective.scale'; did you mean 'max-abs'?");
  EXPECT_EQ(error_of([] {
              make("logistic", {{"rows", 0}});
            }),
            "'objective.rows' must be from 1 to 2^32 - 1, got 0");
  EXPECT_NE(error_of([] { make("logistic", {{"data", "./none"}}); }), "");
  const TemporaryDirectory directory;
  const auto empty = directory.write("empty", "");
  EXPECT_NE(error_of([&] { make("logistic", {{"data", empty}}); }), "");
  // `rows` belongs to synthetic data alone.
  const auto data = directory.write("two", kTwoSamples);
  EXPECT_EQ(error_of([&] {
              make("logistic", {{"data", data}, {"rows", 3}});
            }).substr(0, 26),
            "unknown key 'objective.row");
}

TEST(Logistic, DescribesItsData) {
  const TemporaryDirectory directory;
  const auto data = directory.write("two", "1 1:2\n2 1:1 2:-4\n");
  const auto plain = make("logistic", {{"data", data}})->data();
  EXPECT_EQ(plain.samples, 2);
  EXPECT_EQ(plain.features, 2);
  EXPECT_EQ(plain.fingerprint.size(), 16);
  EXPECT_NE(plain.note.find("1, 2"), std::string::npos) << plain.note;
  const auto scaled = make("logistic", {{"data", data}, {"scale", "max-abs"}})->data();
  EXPECT_EQ(plain.fingerprint, scaled.fingerprint) << "it is that of the data as loaded";
}

// A study whose held-out data were replaced has two kinds of accuracies.
TEST(Logistic, TheFingerprintIsOfHeldOutDataToo) {
  const TemporaryDirectory directory;
  const auto data = directory.write("two", "1 1:2\n2 1:1 2:-4\n");
  const auto print = [&] { return make("logistic", {{"data", data}})->data().fingerprint; };
  const auto alone = print();
  directory.write("two.t", "1 1:3\n");
  const auto with_test = print();
  directory.write("two.t", "1 1:4\n");
  EXPECT_EQ(with_test.size(), 16);
  EXPECT_NE(with_test, alone);
  EXPECT_NE(with_test, print());
}

TEST(NonconvexLogistic, IsItsFormula) {
  const TemporaryDirectory directory;
  const auto f = make("nonconvex-logistic",
                      {{"data", directory.write("two", kTwoSamples)}, {"regulariser", 0.3}});
  // At w = (1, 0.5): margins 2 and 1; 0.3 (1/2 + 0.25/1.25) = 0.21; slopes 0.3 (1/2, 1/1.5625).
  const auto at = evaluate(*f, std::vector{1.0, 0.5});
  const double s1 = 1 / (1 + std::exp(2.0));
  const double s2 = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(
      at.value, 0.5 * (std::log1p(std::exp(-2.0)) + std::log1p(std::exp(-1.0))) + 0.21, 1e-15);
  EXPECT_NEAR(at.gradient[0], 0.5 * (-2 * s1 + 1 * s2) + 0.15, 1e-15);
  EXPECT_NEAR(at.gradient[1], 0.5 * (-4 * s2) + 0.192, 1e-15);
  EXPECT_NEAR(f->facts().smoothness.value(), (10.5 + std::sqrt(46.25)) / 8 + 0.6, 1e-14);
  EXPECT_FALSE(f->facts().minimum.has_value());
  EXPECT_FALSE(f->facts().strong_convexity.has_value());
}

TEST(NonconvexLogistic, DiffersFromLogisticByItsRegulariserAlone) {
  const nlohmann::json data = {{"rows", 50}, {"features", 6}, {"intercept", true}};
  auto ridge = data;
  ridge["l2"] = 0;
  auto bounded = data;
  bounded["regulariser"] = 0;
  const auto w = normal_vector(7, 1);
  EXPECT_EQ(evaluate(*make("logistic", ridge), w).gradient,
            evaluate(*make("nonconvex-logistic", bounded), w).gradient);
}

TEST(NonconvexLogistic, RejectsANegativeRegulariser) {
  EXPECT_EQ(error_of([] {
              make("nonconvex-logistic", {{"rows", 9}, {"regulariser", -1}});
            }),
            "'objective.regulariser' must not be negative, got -1");
}

}  // namespace
}  // namespace residuum::test
