// The matrix quadratic: facts by hand, and one line for matrices that are none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

TEST(MatrixQuadratic, KnowsItsFacts) {
  // Eigenvalues of [[2, 1], [1, 2]] are 3 and 1, of diag(4, 2) 4 and 2. Minimisers (1, 0), (0, 1):
  // the mean [[3, 1/2], [1/2, 2]] has 5/2 +- sqrt(1/2).
  const auto f = make("matrix-quadratic",
                      {{"matrix", {{{2, 1}, {1, 2}}, {{4, 0}, {0, 2}}}},
                       {"minimizers", {{1, 0}, {0, 1}}},
                       {"start", {3, 4}}},
                      {},
                      2);
  const Facts facts = f->facts();
  EXPECT_NEAR(*facts.smoothness, 2.5 + std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(*facts.strong_convexity, 2.5 - std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(*f->shard_smoothness({}), 4, 1e-12);
  EXPECT_NEAR(*f->shard_strong_convexity({}), 1, 1e-12);
  EXPECT_FALSE(facts.shares_minimizer);
  EXPECT_FALSE(facts.workers_are_alike);
  // Mean of A_p m_p = (1, 3/2): x* = [[3, 1/2], [1/2, 2]]^-1 (1, 3/2) = (5/23, 16/23).
  EXPECT_NEAR(facts.minimizer[0], 5.0 / 23, 1e-12);
  EXPECT_NEAR(facts.minimizer[1], 16.0 / 23, 1e-12);
  EXPECT_EQ(facts.noise_variance, 0);
  std::vector<double> w(2);
  f->initial_point(1, w);
  EXPECT_EQ(w, (std::vector<double>{3, 4}));
  std::vector<double> gradient(2);
  f->stochastic_gradient({.worker = 0}, w, gradient);  // A_1 (2, 4)
  EXPECT_EQ(gradient, (std::vector<double>{8, 10}));
}

TEST(MatrixQuadratic, SharesAMinimiser) {
  const auto f = make("matrix-quadratic",
                      {{"matrix", {{{2, 1}, {1, 2}}, {{4, 0}, {0, 2}}}}, {"minimizers", {1, 2}}},
                      {},
                      2);
  EXPECT_TRUE(f->facts().shares_minimizer);
  EXPECT_EQ(f->facts().minimizer, (std::vector<double>{1, 2}));
  EXPECT_NEAR(*f->facts().minimum, 0, 1e-15);
}

TEST(MatrixQuadratic, RefusesWhatIsNoMatrix) {
  const auto message = [](const nlohmann::json& values) {
    return error_of([&] { make("matrix-quadratic", values, {}, 3); });
  };
  EXPECT_THAT(message({{"matrix", {{1, 2}, {3, 4}}}}), testing::HasSubstr("must be symmetric"));
  EXPECT_THAT(message({{"matrix", {{1, 2}, {2, 1}}}}),
              testing::HasSubstr("must be positive definite"));
  EXPECT_THAT(message({{"matrix", {{1, 0, 0}, {0, 1, 0}}}}),
              testing::HasSubstr("as many as the matrix has rows"));
  EXPECT_THAT(message({{"matrix", 3}}), testing::HasSubstr("d rows of d numbers"));
  EXPECT_THAT(message({{"matrix", {{{1}}, {{2}}}}}),
              testing::HasSubstr("has 2 entries, but must have one, or one per worker (3)"));
  EXPECT_THAT(message({{"matrix", {{1, 0}, {0, 1}}}, {"start", {1, 2, 3}}}),
              testing::HasSubstr("'objective.start'"));
}

}  // namespace
}  // namespace residuum::test
