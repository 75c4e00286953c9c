// L, f* and x* of logistic regression against published values, closed forms and other methods.

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>

#include "objectives/data/catalogue.h"
#include "objectives/newton.h"
#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

/// f and its gradient in long double, straight from the file: no code of the objective is used.
struct Certificate {
  long double value = 0;
  long double gradient_norm = 0;
};

Certificate certify(const SparseDataset& data, double l2, std::span<const double> w) {
  const auto n = static_cast<long double>(data.rows());
  std::vector<long double> gradient(w.begin(), w.end());
  Certificate result;
  for (long double& g : gradient) {
    result.value += l2 * g * g / 2;
    g *= l2;
  }
  for (std::size_t i = 0; i < data.rows(); ++i) {
    long double margin = 0;
    for (auto entry = data.row_begin[i]; entry < data.row_begin[i + 1]; ++entry) {
      margin +=
          static_cast<long double>(data.labels[i]) * data.values[entry] * w[data.columns[entry]];
    }
    result.value += std::log1p(std::exp(-margin)) / n;
    for (auto entry = data.row_begin[i]; entry < data.row_begin[i + 1]; ++entry) {
      gradient[data.columns[entry]] -=
          data.labels[i] * data.values[entry] / (1 + std::exp(margin)) / n;
    }
  }
  for (const long double g : gradient) {
    result.gradient_norm += g * g;
  }
  result.gradient_norm = std::sqrt(result.gradient_norm);
  return result;
}

double brute_force_smoothness(const SparseDataset& data) {
  const auto d = static_cast<Eigen::Index>(data.features);
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(d, d);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (auto a = data.row_begin[i]; a < data.row_begin[i + 1]; ++a) {
      for (auto b = data.row_begin[i]; b < data.row_begin[i + 1]; ++b) {
        gram(data.columns[a], data.columns[b]) += data.values[a] * data.values[b];
      }
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().maxCoeff() / (4 * static_cast<double>(data.rows()));
}

TEST(LogisticFacts, OfA9aAreProvedByAnIndependentGradient) {
  RESIDUUM_NEEDS_DATA("a9a");
  const auto f = make("logistic", {{"data", "a9a"}, {"l2", "1/n"}});
  const Facts facts = f->facts();
  const auto data = load_sparse("a9a", data_dir());
  const double l2 = 1.0 / 32561;
  EXPECT_DOUBLE_EQ(facts.strong_convexity.value(), l2);
  const double smoothness = brute_force_smoothness(data) + l2;
  EXPECT_NEAR(facts.smoothness.value(), smoothness, 1e-12 * smoothness);
  // Strong convexity: f(x) - f* <= |grad f(x)|^2 / (2 mu), here below 1e-19.
  const auto certificate = certify(data, l2, facts.minimizer);
  EXPECT_LE(static_cast<double>(certificate.gradient_norm), 1e-12);
  EXPECT_NEAR(facts.minimum.value(), static_cast<double>(certificate.value), 1e-14);
}

double row_norm_sq(const SparseDataset& data, std::size_t row) {
  double sum = 0;
  for (auto entry = data.row_begin[row]; entry < data.row_begin[row + 1]; ++entry) {
    sum += data.values[entry] * data.values[entry];
  }
  return sum;
}

// Rows (2, 0), (0, 1), (0, 3), (0, 0): their Gram matrices are diagonal.
TEST(LogisticFacts, OfAShardAreThoseOfItsRowsAlone) {
  const TemporaryDirectory directory;
  const auto data = directory.write("four", "+1 1:2\n-1 2:1\n+1 2:3\n-1 1:0\n");
  const auto f = make("logistic", {{"data", data}, {"l2", 0.5}});
  const auto smoothness = [&](const std::vector<std::uint32_t>& shard) {
    return f->shard_smoothness(shard).value();
  };
  EXPECT_NEAR(smoothness({0, 1}), 4.0 / (4 * 2) + 0.5, 1e-14);
  EXPECT_NEAR(smoothness({1, 2}), 10.0 / (4 * 2) + 0.5, 1e-14);
  EXPECT_NEAR(smoothness({2}), 9.0 / 4 + 0.5, 1e-14);
  EXPECT_NEAR(smoothness({3}), 0.5, 1e-14);
  EXPECT_NEAR(smoothness({0, 1, 2, 3}), *f->facts().smoothness, 1e-14);
}

// One row x has |x|^2 as its only eigenvalue; (1, 1, 1, 1, 0) and (1, 1, -1, -1, 2) are orthogonal.
TEST(LogisticFacts, OfAShardAreFoundInMoreDimensionsThanItHasRows) {
  const TemporaryDirectory directory;
  const auto data =
      directory.write("two", "+1 1:1 2:1 3:1 4:1\n-1 1:1 2:1 3:-1 4:-1 5:2\n+1 5:5\n");
  const auto f = make("logistic", {{"data", data}, {"l2", 0}});
  EXPECT_NEAR(f->shard_smoothness(std::vector<std::uint32_t>{0}).value(), 1, 1e-12);
  EXPECT_NEAR(f->shard_smoothness(std::vector<std::uint32_t>{0, 1}).value(), 1, 1e-12);
}

// One worker for each row, as EF21 and EControl need it: |x|^2 / 4.
TEST(LogisticFacts, OfShardsOfOneRowAreItsSquaredNorm) {
  RESIDUUM_NEEDS_DATA("heart_scale");
  const auto data = load_sparse("heart_scale", data_dir());
  for (const char* const kind : {"logistic", "nonconvex-logistic"}) {
    const auto f = make(kind, {{"data", "heart_scale"}});
    const double regulariser =
        f->shard_smoothness(std::vector<std::uint32_t>{0}).value() - row_norm_sq(data, 0) / 4;
    for (std::uint32_t i = 0; i < data.rows(); ++i) {
      EXPECT_NEAR(f->shard_smoothness(std::vector<std::uint32_t>{i}).value(),
                  row_norm_sq(data, i) / 4 + regulariser,
                  1e-13);
    }
  }
}

TEST(LogisticFacts, OfMadelonAreThePublishedOnes) {
  RESIDUUM_NEEDS_DATA("madelon");
  // Unscaled, as in the total-error experiments: L, f* and f(x* + 1e-4) as published.
  const auto f =
      make("logistic", {{"data", "madelon"}, {"l2", "L/1e4"}, {"start", "minimizer + 1e-4"}});
  const Facts facts = f->facts();
  const double l2 = facts.strong_convexity.value();
  EXPECT_NEAR(facts.smoothness.value() - l2, 29790805.649, 5e-4);
  EXPECT_NEAR(l2, 2979.0805649, 5e-8);
  EXPECT_NEAR(facts.minimum.value(), 0.667920, 5e-7);
  std::vector<double> start(f->dimension());
  f->initial_point(1, start);
  EXPECT_NEAR(evaluate(*f, start).value, 12.170929, 5e-7);
  const auto certificate = certify(load_sparse("madelon", data_dir()), l2, facts.minimizer);
  EXPECT_LE(static_cast<double>(certificate.gradient_norm), 1e-9);
}

TEST(LogisticFacts, OfHeartScaleAreWhereGradientDescentEnds) {
  RESIDUUM_NEEDS_DATA("heart_scale");
  const auto f = make("logistic", {{"data", "heart_scale"}});
  const Facts facts = f->facts();
  std::vector<double> w(f->dimension(), 0.0);
  for (int t = 0; t < 20000; ++t) {
    const auto gradient = evaluate(*f, w).gradient;
    for (std::size_t j = 0; j < w.size(); ++j) {
      w[j] -= gradient[j] / *facts.smoothness;
    }
  }
  EXPECT_NEAR(evaluate(*f, w).value, facts.minimum.value(), 1e-12);
  EXPECT_LE(distance(w, facts.minimizer), 1e-9);
}

TEST(LogisticFacts, OfScaledMadelonReachAGradientOf1e12) {
  RESIDUUM_NEEDS_DATA("madelon");
  const auto f = make("logistic", {{"data", "madelon"}, {"scale", "max-abs"}});
  EXPECT_LE(norm(evaluate(*f, f->facts().minimizer).gradient), 1e-12);
}

/// d samples x_i = scale * e_i with labels +1: f separates into d equal functions of one variable.
LogisticLoss one_hot_loss(std::uint32_t d, double scale) {
  SparseDataset data;
  data.features = d;
  for (std::uint32_t i = 0; i < d; ++i) {
    data.columns.push_back(i);
    data.values.push_back(scale);
    data.row_begin.push_back(i + 1);
    data.labels.push_back(1);
  }
  auto labels = data.labels;
  return {std::make_unique<FeatureMatrix>(std::move(data)), std::move(labels)};
}

/// The root of l2 w = scale / (n (1 + exp(scale w))), by bisection.
double one_hot_minimizer(std::uint32_t n, double scale, double l2) {
  double low = 0;
  double high = scale / (n * l2);
  for (int i = 0; i < 200; ++i) {
    const double w = 0.5 * (low + high);
    (l2 * w < scale / (n * (1 + std::exp(scale * w))) ? low : high) = w;
  }
  return low;
}

TEST(Newton, SolvesWhatSeparatesByCholeskyAndByConjugateGradients) {
  for (const std::uint32_t d : {1U, 50U, 3500U}) {  // the last is beyond Cholesky's limit
    const auto loss = one_hot_loss(d, 2);
    const RidgeRegulariser ridge{.weight = 0.5 / d, .penalised = d};
    const auto minimum = minimise_ridge_logistic(loss, ridge);
    ASSERT_TRUE(minimum.has_value());
    EXPECT_LE(minimum->gradient_norm, accepted_gradient_norm(loss));
    const double expected = one_hot_minimizer(d, 2, 0.5 / d);
    for (const double w : minimum->point) {
      EXPECT_NEAR(w, expected, 1e-7);  // |grad| / mu
    }
    const double value = std::log1p(std::exp(-2 * expected)) + 0.25 * expected * expected;
    EXPECT_NEAR(minimum->value, value, 1e-13);
  }
}

TEST(Newton, GivesTheSameByCholeskyAndByConjugateGradients) {
  RESIDUUM_NEEDS_DATA("heart_scale");
  // The same data with 3000 features more that are always zero.
  const TemporaryDirectory directory;
  const auto small = make("logistic", {{"data", "heart_scale"}, {"intercept", true}});
  const auto data = load_sparse("heart_scale", data_dir());
  std::string text;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    text += fmt::format("{}", data.labels[i]);
    for (auto entry = data.row_begin[i]; entry < data.row_begin[i + 1]; ++entry) {
      text += fmt::format(" {}:{}", data.columns[entry] + 1, data.values[entry]);
    }
    text += i == 0 ? " 3013:1e-300\n" : "\n";
  }
  const auto large =
      make("logistic", {{"data", directory.write("large", text)}, {"intercept", true}});
  ASSERT_EQ(large->dimension(), 3014);
  EXPECT_NEAR(small->facts().minimum.value(), large->facts().minimum.value(), 1e-14);
}

std::optional<double> minimum_of(const nlohmann::json& values, std::string* note = nullptr) {
  testing::internal::CaptureStderr();
  const auto minimum = make("logistic", values)->facts().minimum;
  const std::string said = testing::internal::GetCapturedStderr();
  if (note != nullptr) {
    *note = said;
  }
  EXPECT_EQ(said.empty(), minimum.has_value());
  return minimum;
}

TEST(LogisticFacts, OfSeparableDataWithoutRidgeHaveNoMinimumAndSaySo) {
  const TemporaryDirectory directory;
  const auto data = directory.write("separable", "+1 1:1\n+1 1:3\n-1 1:-2\n-1 1:-1\n");
  std::string note;
  EXPECT_FALSE(minimum_of({{"data", data}, {"l2", 0}}, &note).has_value());
  EXPECT_NE(note.find("has no minimum"), std::string::npos) << note;
  EXPECT_EQ(std::count(note.begin(), note.end(), '\n'), 1);
  EXPECT_TRUE(minimum_of({{"data", data}, {"l2", 1e-6}}).has_value());
}

TEST(LogisticFacts, OfSeparableDataHaveNoMinimumInAnyUnit) {
  const TemporaryDirectory directory;
  for (const double unit : {1e-3, 1.0, 1e3, 1e6}) {
    const auto data = directory.write(
        "separable", fmt::format("+1 1:{}\n+1 1:{}\n-1 1:{}\n", unit, 2 * unit, -unit));
    EXPECT_FALSE(minimum_of({{"data", data}, {"l2", 0}}).has_value()) << unit;
  }
}

TEST(LogisticFacts, OfDataThatOneFeatureSeparatesInPartHaveNoMinimum) {
  // Feature 2 occurs with +1 alone: its weight grows for ever, although the classes overlap.
  const TemporaryDirectory directory;
  for (const double unit : {1.0, 1e3}) {
    const std::string lines = "+1 1:{0}\n-1 1:{0}\n+1 1:-{0} 2:1\n-1 1:-{0}\n-1 1:{0}\n";
    const auto data = directory.write("partly", fmt::format(fmt::runtime(lines), unit));
    EXPECT_FALSE(minimum_of({{"data", data}, {"l2", 0}}).has_value()) << unit;
  }
}

TEST(LogisticFacts, OfOverlappingDataWithoutRidgeAreExact) {
  // One feature, always 1; three of four labels +1: w* = log 3, f* = the entropy of (3/4, 1/4).
  const TemporaryDirectory directory;
  const auto data = directory.write("overlap", "+1 1:1\n+1 1:1\n+1 1:1\n-1 1:1\n");
  const auto facts = make("logistic", {{"data", data}, {"l2", 0}})->facts();
  EXPECT_NEAR(facts.minimum.value(), 0.75 * std::log(4.0 / 3) + 0.25 * std::log(4.0), 1e-14);
  EXPECT_NEAR(facts.minimizer.at(0), std::log(3.0), 1e-11);
}

TEST(LogisticFacts, OfDependentFeaturesWithoutRidgeHaveTheSameMinimum) {
  // Feature 2 repeats feature 1: f has a flat direction, and f* is that of one feature.
  const TemporaryDirectory directory;
  const auto data = directory.write("twice", "+1 1:1 2:1\n+1 1:1 2:1\n+1 1:1 2:1\n-1 1:1 2:1\n");
  const auto minimum = minimum_of({{"data", data}, {"l2", 0}});
  ASSERT_TRUE(minimum.has_value());
  EXPECT_NEAR(*minimum, 0.75 * std::log(4.0 / 3) + 0.25 * std::log(4.0), 1e-14);
}

TEST(Newton, FindsNoMinimumForTheInterceptOfOneClassDespiteTheRidge) {
  // Two samples of one class, x = 1 and -1, and a column of ones, which has no ridge.
  SparseDataset data;
  data.features = 2;
  data.row_begin = {0, 2, 4};
  data.columns = {0, 1, 0, 1};
  data.values = {1, 1, -1, 1};
  data.labels = {1, 1};
  const LogisticLoss loss(std::make_unique<FeatureMatrix>(std::move(data)), {1, 1});
  EXPECT_FALSE(minimise_ridge_logistic(loss, {.weight = 0.1, .penalised = 1}).has_value());
  EXPECT_TRUE(minimise_ridge_logistic(loss, {.weight = 0.1, .penalised = 2}).has_value());
}

TEST(LogisticFacts, OfDataThatAreAllZeroAreThoseOfTheRidge) {
  const TemporaryDirectory directory;
  const auto data = directory.write("zeros", "+1 1:0\n-1 2:0\n");
  const auto f = make("logistic", {{"data", data}, {"l2", 0.1}});
  EXPECT_DOUBLE_EQ(f->facts().smoothness.value(), 0.1);
  EXPECT_DOUBLE_EQ(f->facts().minimum.value(), std::log(2.0));
}

}  // namespace
}  // namespace residuum::test
