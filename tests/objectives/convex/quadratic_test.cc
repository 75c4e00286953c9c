// The reference quadratic against its definition, written out here a second time.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

/// The definition, term by term.
struct Definition {
  std::vector<double> h;
  std::vector<std::vector<double>> b;  // one per worker

  Definition(std::size_t d, int workers, double smoothness, double ratio, double heterogeneity) {
    for (std::size_t j = 0; j < d; ++j) {
      const double exponent = d == 1 ? 0 : static_cast<double>(j) / static_cast<double>(d - 1);
      h.push_back(smoothness * std::pow(ratio, exponent));
    }
    for (int p = 0; p < workers; ++p) {
      RandomStream random(1, Purpose::synthetic, static_cast<std::uint32_t>(p), 0);
      b.emplace_back();
      for (std::size_t j = 0; j < d; ++j) {
        b.back().push_back(h[j] +
                           heterogeneity * random.normal() / std::sqrt(static_cast<double>(d)));
      }
    }
  }

  double value(std::span<const double> w) const {
    double sum = 0;
    for (const auto& b_p : b) {
      for (std::size_t j = 0; j < h.size(); ++j) {
        sum += 0.5 * h[j] * w[j] * w[j] - b_p[j] * w[j];
      }
    }
    return sum / static_cast<double>(b.size());
  }
};

TEST(Quadratic, IsItsDefinition) {
  const auto f =
      make("quadratic", {{"dimension", 7}, {"smoothness", 3}, {"curvature_ratio", 0.2}}, {}, 4);
  const Definition definition(7, 4, 3, 0.2, 0.5);
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto w = normal_vector(7, i);
    EXPECT_NEAR(evaluate(*f, w, 4).value, definition.value(w), 1e-13);
  }
}

TEST(Quadratic, KnowsItsFactsExactly) {
  const auto f = make("quadratic", nlohmann::json::object(), {}, 4);
  const Definition definition(200, 4, 1, 0.01, 0.5);
  const Facts facts = f->facts();
  EXPECT_DOUBLE_EQ(facts.smoothness.value(), 1);
  EXPECT_DOUBLE_EQ(facts.strong_convexity.value(), 0.01);
  EXPECT_DOUBLE_EQ(facts.noise_variance.value(), 4);
  double minimum = 0;
  for (std::size_t j = 0; j < 200; ++j) {
    double mean = 0;
    for (const auto& b : definition.b) {
      mean += b[j] / 4;
    }
    EXPECT_NEAR(facts.minimizer[j], mean / definition.h[j], 1e-12);
    minimum -= mean * mean / (2 * definition.h[j]);
  }
  EXPECT_NEAR(facts.minimum.value(), minimum, 1e-12);
  EXPECT_LE(norm(evaluate(*f, facts.minimizer, 4).gradient), 1e-15);
}

TEST(Quadratic, OneDimensionAndOneWorkerWork) {
  // Without heterogeneity b = h, so f = L (w^2/2 - w): x* = 1, f* = -L/2.
  const auto f = make("quadratic", {{"dimension", 1}, {"smoothness", 2}, {"heterogeneity", 0}});
  const Facts facts = f->facts();
  EXPECT_DOUBLE_EQ(facts.minimizer.at(0), 1);
  EXPECT_DOUBLE_EQ(facts.minimum.value(), -1);
  EXPECT_DOUBLE_EQ(facts.strong_convexity.value(), 2);
}

TEST(Quadratic, HeterogeneityIsThatOfTheReferenceProblem) {
  // (1/P) sum_p |b^p - mean b|^2 has mean 0.25 (1 - 1/P) = 0.1875; with (P-1) d = 600 degrees of
  // freedom its standard deviation is sqrt(2/600) = 5.8 % of that.
  const auto f = make("quadratic", nlohmann::json::object(), {}, 4);
  const std::vector<double> w(200, 0.0);
  const auto mean = evaluate(*f, w, 4).gradient;
  double zeta_sq = 0;
  for (int p = 0; p < 4; ++p) {
    std::vector<double> share(200, 0.0);
    f->evaluate(p, 4, {}, w, share);
    for (double& g : share) {
      g *= 4;
    }
    zeta_sq += distance(share, mean) * distance(share, mean) / 4;
  }
  EXPECT_NEAR(zeta_sq, 0.1875, 6 * 0.058 * 0.1875);
}

std::vector<double> noise(const Objective& f, const Draw& draw) {
  const std::vector<double> w(f.dimension(), 0.25);
  std::vector<double> gradient(w.size());
  f.stochastic_gradient(draw, w, gradient);
  std::vector<double> exact(w.size(), 0.0);
  f.evaluate(draw.worker, 4, {}, w, exact);
  for (std::size_t j = 0; j < w.size(); ++j) {
    gradient[j] -= 4 * exact[j];
  }
  return gradient;
}

TEST(Quadratic, NoiseHasMeanZeroAndTheVarianceThatIsClaimed) {
  const auto f = make("quadratic", {{"dimension", 20}, {"noise_variance", 4}}, {}, 4);
  constexpr int kDraws = 20000;
  double sum_sq = 0;
  std::vector<double> sum(20, 0.0);
  for (std::uint64_t t = 0; t < kDraws; ++t) {
    const auto xi = noise(*f, {.seed = 5, .worker = 3, .iteration = t, .samples = {}});
    sum_sq += norm(xi) * norm(xi);
    for (std::size_t j = 0; j < xi.size(); ++j) {
      sum[j] += xi[j];
    }
  }
  // |xi|^2 = 4/20 chi^2(20): mean 4, variance 16 * 2/20.
  EXPECT_NEAR(sum_sq / kDraws, 4, 6 * std::sqrt(1.6 / kDraws));
  for (const double s : sum) {
    EXPECT_NEAR(s / kDraws, 0, 6 * std::sqrt(4.0 / 20 / kDraws));
  }
}

TEST(Quadratic, NoiseIsKeyedBySeedWorkerAndIterationAlone) {
  const auto f = make("quadratic", nlohmann::json::object(), {}, 4);
  const auto g = make("quadratic", nlohmann::json::object(), {}, 4);
  const Draw draw{.seed = 5, .worker = 1, .iteration = 70, .samples = {}};
  const auto reference = noise(*f, draw);
  for (std::uint64_t t = 0; t < 3; ++t) {
    noise(*g,
          {.seed = 5,
           .worker = 2,
           .iteration = t,
           .samples = {}});  // another process has done other work
  }
  EXPECT_EQ(reference, noise(*g, draw));
  EXPECT_GT(
      distance(reference, noise(*f, {.seed = 6, .worker = 1, .iteration = 70, .samples = {}})), 1);
  EXPECT_GT(
      distance(reference, noise(*f, {.seed = 5, .worker = 2, .iteration = 70, .samples = {}})), 1);
  EXPECT_GT(
      distance(reference, noise(*f, {.seed = 5, .worker = 1, .iteration = 71, .samples = {}})), 1);
}

TEST(Quadratic, RejectsWhatCannotBe) {
  EXPECT_EQ(error_of([] {
              make("quadratic", {{"dimension", 0}});
            }),
            "'objective.dimension' must be from 1 to 2^32 - 1, got 0");
  EXPECT_EQ(error_of([] {
              make("quadratic", {{"noise_variance", -1}});
            }),
            "'objective.noise_variance' must be at least 0, got -1");
  EXPECT_EQ(error_of([] {
              make("quadratic", {{"curvature_ratio", 1.5}});
            }),
            "'objective.curvature_ratio' must lie in (0, 1], got 1.5");
  EXPECT_EQ(error_of([] {
              make("quadratic", {{"smoothness", 0}});
            }),
            "'objective.smoothness' must be positive, got 0");
  EXPECT_EQ(error_of([] {
              make("quadratic", {{"data", "a9a"}});
            }).substr(0, 37),
            "unknown key 'objective.data'; known: ");
}

}  // namespace
}  // namespace residuum::test
