// The tight theory of error feedback on quadratics: it is never violated, attained in two
// dimensions, and violated by methods that are wrong by little.

#include <gtest/gtest.h>

#include "tests/assumptions/rotated_quadratics.h"

namespace residuum {
namespace {

using test::convex;
using test::Json;
using test::TightRun;

/// A = R(theta) diag(1, 0.01) R(theta)^T from (cos phi, sin phi): the worst cases of the one-step
/// rate for Top-1, found by a search.
std::unique_ptr<Objective> two_dimensional(double theta, double phi) {
  return convex("matrix-quadratic",
                {{"matrix", test::rotated(theta, 1, 0.01)},
                 {"minimizers", {0, 0}},
                 {"start", {std::cos(phi), std::sin(phi)}}},
                1);
}
std::unique_ptr<Objective> worst_of_ef14() {
  return two_dimensional(1.22429406109376, 3.9987943603201006);
}
std::unique_ptr<Objective> worst_of_ef21() {
  return two_dimensional(0.2806426829193135, 0.9440247438184727);
}

TEST(LyapunovProbe, AttainsTheRateInTwoDimensions) {
  struct Case {
    std::string feedback;
    std::unique_ptr<Objective> objective;
    double largest;
  };
  std::vector<Case> cases;
  cases.push_back({"ef14", worst_of_ef14(), 0.9932259733});
  cases.push_back({"ef21", worst_of_ef21(), 0.9932259326});
  for (const auto& [feedback, objective, largest] : cases) {
    const auto recipe = test::tight_recipe({.feedback = feedback, .mu = 0.01}, *objective, 1);
    EXPECT_NEAR(*recipe.lyapunov->rate, 0.9932261130402541, 1e-15);
    const auto seen = test::ratios_of(*objective, recipe);
    EXPECT_NEAR(seen.largest, largest, 5e-10) << feedback;
    EXPECT_EQ(seen.above, 0U) << feedback;
    EXPECT_GE(seen.judged, 149U) << feedback;
  }
}

TEST(LyapunovProbe, FirstValuesAreThoseByHand) {
  // d = 2, k = 1, A = diag(1, 1/2), x_0 = (1, 1): s = sqrt(1/2). With eta* = eta the accumulator is
  // eta (1, 1/2): x_1 = (1 - eta, 1), e_1 = (0, eta/2).
  const auto objective =
      convex("matrix-quadratic",
             {{"matrix", {{1, 0}, {0, 0.5}}}, {"minimizers", {0, 0}}, {"start", {1, 1}}},
             1);
  auto recipe = test::tight_recipe({.mu = 0.5, .iterations = 1}, *objective, 1);
  const double eta = recipe.step["value"];
  const auto row = test::measure(*objective, recipe, {"lyapunov"}).rows[0];
  const double e = eta / 2;
  const double value = e * e / std::sqrt(0.5) + (1 - eta) * (1 - eta) + (1 - e) * (1 - e);
  EXPECT_NEAR(row[Column::lyapunov], value, 1e-14);
  EXPECT_NEAR(row[Column::lyapunov_ratio], value / 2, 1e-13);

  // EF21: g_0 = (1, 0), so that V_0 = s |(1, 1/2)|^2 + |(0, 1/2)|^2.
  recipe.feedback = {{"kind", "ef21"}};
  const auto of_estimates = test::measure(*objective, recipe, {"lyapunov"}).rows[0];
  EXPECT_NEAR(of_estimates[Column::lyapunov], std::sqrt(0.5) * 1.25 + 0.25, 1e-14);
  EXPECT_FALSE(of_estimates.has(Column::lyapunov_ratio));
}

TEST(LyapunovProbe, IsNeverAboveTheRateOnRandomQuadratics) {
  RandomStream random(7, Purpose::test, 0, 0);
  // 224 problems.
  for (const int workers : {1, 2, 3, 4, 5, 6, 7, 8}) {
    for (const std::size_t d : {2U, 3U, 4U, 5U, 10U, 20U, 50U}) {
      for (const std::size_t k : {std::size_t{1}, d / 2}) {
        for (const std::string feedback : {"ef14", "ef21"}) {
          // EF14 needs a common minimiser; EF21 takes any.
          const double apart = feedback == "ef14" ? 0 : 1;
          const auto objective = test::random_quadratics(d, workers, 0.05, apart, random);
          const auto seen = test::ratios_of(
              *objective, test::tight_recipe({.feedback = feedback, .k = k}, *objective, workers));
          EXPECT_EQ(seen.above, 0U)
              << feedback << " P=" << workers << " d=" << d << " k=" << k << ": " << seen.largest;
          EXPECT_GE(seen.judged, 100U) << feedback << " P=" << workers << " d=" << d;
        }
      }
    }
  }
}

TEST(LyapunovProbe, HoldsInSinglePrecisionAndStopsJudgingAtRounding) {
  RandomStream random(8, Purpose::test, 0, 0);
  for (const std::string feedback : {"ef14", "ef21"}) {
    for (int problem = 0; problem < 10; ++problem) {
      // The model does not go to 0, so that its rounding does not fall.
      const Json minimizers = feedback == "ef14" ? Json{{1, 2}, {1, 2}} : Json{{1, 2}, {0, 1}};
      const auto objective = convex(
          "matrix-quadratic",
          {{"matrix",
            {test::random_curvature(2, 0.2, random), test::random_curvature(2, 0.2, random)}},
           {"minimizers", minimizers}},
          2);
      const auto seen = test::ratios_of(*objective,
                                        test::tight_recipe({.feedback = feedback,
                                                            .mu = 0.2,
                                                            .iterations = 2000,
                                                            .precision = Precision::float32},
                                                           *objective,
                                                           2));
      EXPECT_EQ(seen.above, 0U) << feedback << ": " << seen.largest;
      EXPECT_GE(seen.judged, 10U) << feedback;
      EXPECT_LT(seen.judged, 1999U) << feedback;
    }
  }
}

/// E V'/V of one iteration with unscaled rand-1, by each of the d^P draws, from a random state of
/// random quadratics with the minimiser 0.
class EnumeratedDraws {
 public:
  EnumeratedDraws(std::size_t d, std::size_t workers, RandomStream& random)
      : d_(d),
        problem_{
            .smoothness = 1, .strong_convexity = 0.1, .contraction = 1.0 / static_cast<double>(d)},
        x_(test::normals(d, random)) {
    for (std::size_t p = 0; p < workers; ++p) {
      curvatures_.push_back(test::random_curvature(d, 0.1, random));
      memories_.push_back(test::normals(d, random));
    }
  }

  double rate() const { return tight_rate(problem_); }

  double expected_ratio(bool estimates) const {
    std::size_t draws = 1;
    for (std::size_t p = 0; p < memories_.size(); ++p) {
      draws *= d_;
    }
    double sum = 0;
    for (std::size_t draw = 0; draw < draws; ++draw) {
      sum += estimates ? after_estimates(draw) : after_residuals(draw);
    }
    const double before = estimates ? of_estimates(x_, memories_) : of_residuals(x_, memories_);
    return sum / static_cast<double>(draws) / before;
  }

 private:
  using Vectors = std::vector<std::vector<double>>;

  std::vector<double> gradient(std::size_t p, const std::vector<double>& x) const {
    std::vector<double> g(d_);
    for (std::size_t i = 0; i < d_; ++i) {
      for (std::size_t j = 0; j < d_; ++j) {
        g[i] += curvatures_[p][i][j] * x[j];
      }
    }
    return g;
  }

  /// The entry that worker p draws.
  std::size_t drawn(std::size_t draw, std::size_t p) const {
    return p == 0 ? draw % d_ : draw / d_;
  }

  /// V/P, e_p in units of the step.
  double of_residuals(const std::vector<double>& x, const Vectors& e) const {
    const auto workers = static_cast<double>(e.size());
    double value = 0;
    for (std::size_t j = 0; j < d_; ++j) {
      double mean = 0;
      for (const auto& e_p : e) {
        mean += e_p[j] / workers;
        value += (x[j] - e_p[j]) * (x[j] - e_p[j]) / workers;
      }
      value += mean * mean / problem_.root();
    }
    return value;
  }

  /// V/P, c_p = grad f_p(x) - g_p.
  double of_estimates(const std::vector<double>& x, const Vectors& c) const {
    const auto workers = static_cast<double>(c.size());
    std::vector<double> mean(d_);
    double value = 0;
    for (std::size_t p = 0; p < c.size(); ++p) {
      const auto g = gradient(p, x);
      for (std::size_t j = 0; j < d_; ++j) {
        mean[j] += g[j] / workers;
        value += c[p][j] * c[p][j] / workers;
      }
    }
    return value + problem_.root() * norm_sq<double>(mean);
  }

  double after_residuals(std::size_t draw) const {
    auto x = x_;
    auto e = memories_;
    for (std::size_t p = 0; p < e.size(); ++p) {
      const auto g = gradient(p, x_);
      for (std::size_t j = 0; j < d_; ++j) {
        e[p][j] += tight_step(problem_) * g[j];
      }
      const std::size_t sent = drawn(draw, p);
      x[sent] -= e[p][sent] / static_cast<double>(e.size());
      e[p][sent] = 0;
    }
    return of_residuals(x, e);
  }

  double after_estimates(std::size_t draw) const {
    auto x = x_;
    auto c = memories_;
    for (std::size_t p = 0; p < c.size(); ++p) {
      const auto g = gradient(p, x_);
      for (std::size_t j = 0; j < d_; ++j) {
        x[j] -= tight_step(problem_) * (g[j] - c[p][j]) / static_cast<double>(c.size());
      }
    }
    for (std::size_t p = 0; p < c.size(); ++p) {
      const auto before = gradient(p, x_);
      const auto after = gradient(p, x);
      for (std::size_t j = 0; j < d_; ++j) {
        c[p][j] += after[j] - before[j];
      }
      c[p][drawn(draw, p)] = 0;
    }
    return of_estimates(x, c);
  }

  std::size_t d_;
  CompressedProblem problem_;
  std::vector<double> x_;
  std::vector<test::Matrix> curvatures_;
  Vectors memories_;  // e_p or c_p
};

TEST(LyapunovProbe, RandomSelectionsObeyTheRateInExpectationOverAllDraws) {
  RandomStream random(9, Purpose::test, 0, 0);
  double largest = 0;  // over the rate
  for (const std::size_t d : {2U, 3U, 4U}) {
    for (const std::size_t workers : {1U, 2U}) {
      for (int problem = 0; problem < 200; ++problem) {
        const EnumeratedDraws one(d, workers, random);
        for (const bool estimates : {false, true}) {
          const double ratio = one.expected_ratio(estimates);
          EXPECT_LE(ratio, one.rate() * (1 + 1e-12)) << d << workers << estimates;
          largest = std::max(largest, ratio / one.rate());
        }
      }
    }
  }
  EXPECT_GT(largest, 0.97);
}

TEST(LyapunovProbe, RandomSelectionsObeyTheRateInExpectation) {
  // rand-1 of d = 4 keeps 1/4 in expectation: E V_T <= rho*^T V_0. One draw may well be above.
  RandomStream random(9, Purpose::test, 0, 0);
  const auto objective = test::random_quadratics(4, 2, 0.2, 0, random);
  auto recipe = test::tight_recipe({.mu = 0.2, .iterations = 12}, *objective, 2);
  recipe.sparsifier = {{"kind", "rand-k"}, {"k", 1}};
  const double rate = *recipe.lyapunov->rate;
  recipe.lyapunov->rate.reset();
  constexpr int kSeeds = 400;
  double sum = 0;
  double start = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    recipe.seed = static_cast<std::uint64_t>(seed);
    const auto rows = test::measure(*objective, recipe, {"lyapunov"}).rows;
    sum += rows.back()[Column::lyapunov] / kSeeds;
    start = rows.front()[Column::lyapunov] / rows.front()[Column::lyapunov_ratio];
  }
  EXPECT_LE(sum, std::pow(rate, 12) * start);
  EXPECT_GT(sum, 0.01 * std::pow(rate, 12) * start);
}

TEST(LyapunovProbe, Ef14WithMinimisersOfTheirOwnIsAboveTheRate) {
  // Nothing of the kind holds there: the theorem is not applicable, and here it is forced.
  RandomStream random(10, Purpose::test, 0, 0);
  std::uint64_t above = 0;
  for (int problem = 0; problem < 10; ++problem) {
    const auto objective = test::random_quadratics(4, 3, 0.05, 1, random);
    above += test::ratios_of(*objective, test::tight_recipe({}, *objective, 3)).above;
  }
  EXPECT_GT(above, 10U);
}

TEST(LyapunovProbe, SeesAResidualThatLosesOneInAHundred) {
  const auto objective = worst_of_ef14();
  const auto seen = test::ratios_of(
      *objective, test::tight_recipe({.mu = 0.01, .further = {{"decay", 0.99}}}, *objective, 1));
  EXPECT_GT(seen.above, 0U);
  EXPECT_NEAR(seen.largest, 0.9932953273539125, 1e-9);  // by another program
}

TEST(LyapunovProbe, SeesASelectionThatSendsOneEntryLess) {
  // d = 2: a threshold that no entry reaches sends 0 entries, and 1 is claimed.
  for (const auto& objective : {worst_of_ef14(), worst_of_ef21()}) {
    for (const std::string feedback : {"ef14", "ef21"}) {
      auto recipe = test::tight_recipe({.feedback = feedback, .mu = 0.01}, *objective, 1);
      recipe.sparsifier = {{"kind", "hard-threshold"}, {"threshold", 1e9}};
      EXPECT_GT(test::ratios_of(*objective, recipe).above, 0U) << feedback;
    }
  }
}

TEST(LyapunovProbe, SeesAMergeThatIsLost) {
  // Two workers send an entry each, one of the two is applied, and both are removed.
  const auto above = [](const Json& further, const char* aggregator) {
    RandomStream random(11, Purpose::test, 0, 0);
    std::uint64_t sum = 0;
    for (int problem = 0; problem < 10; ++problem) {
      const auto objective = test::random_quadratics(2, 2, 0.05, 0, random);
      sum += test::ratios_of(
                 *objective,
                 test::tight_recipe(
                     {.aggregator = {{"kind", aggregator}}, .further = further}, *objective, 2))
                 .above;
    }
    return sum;
  };
  EXPECT_GT(above({{"putback", "discard"}}, "gtopk-exact"), 0U);
  EXPECT_EQ(above(Json::object(), "allgather"), 0U);
}

}  // namespace
}  // namespace residuum
