#pragma once
// Quadratics of several dimensions whose curvatures are not along the axes, and runs of error
// feedback on them at the step of the tight theory.

#include <cmath>
#include <vector>

#include "core/random/random.h"
#include "core/schedules/tight_rate.h"
#include "tests/assumptions/support.h"

namespace residuum::test {

using Matrix = std::vector<std::vector<double>>;

/// R(theta) diag(first, second) R(theta)^T.
inline Matrix rotated(double theta, double first, double second) {
  const double c = std::cos(theta);
  const double s = std::sin(theta);
  return {{c * c * first + s * s * second, c * s * (first - second)},
          {c * s * (first - second), s * s * first + c * c * second}};
}

/// A := H A H with the reflection H = I - 2 v v^T/|v|^2.
inline void reflect(const std::vector<double>& v, Matrix& matrix) {
  const std::size_t d = v.size();
  const double scale = 2 / norm_sq<double>(v);
  for (int side = 0; side < 2; ++side) {  // rows, then columns by symmetry
    for (std::size_t j = 0; j < d; ++j) {
      double dot = 0;
      for (std::size_t i = 0; i < d; ++i) {
        dot += v[i] * (side == 0 ? matrix[i][j] : matrix[j][i]);
      }
      for (std::size_t i = 0; i < d; ++i) {
        (side == 0 ? matrix[i][j] : matrix[j][i]) -= scale * dot * v[i];
      }
    }
  }
}

inline std::vector<double> normals(std::size_t d, RandomStream& random) {
  std::vector<double> x(d);
  for (double& x_j : x) {
    x_j = random.normal();
  }
  return x;
}

/// A random symmetric matrix with eigenvalues from mu to 1, both attained.
inline Matrix random_curvature(std::size_t d, double mu, RandomStream& random) {
  Matrix matrix(d, std::vector<double>(d));
  for (std::size_t j = 0; j < d; ++j) {
    matrix[j][j] = j == 0 ? 1 : mu + (1 - mu) * (random.below(1000) / 1000.0);
  }
  matrix[d - 1][d - 1] = mu;
  for (int times = 0; times < 3; ++times) {
    reflect(normals(d, random), matrix);
  }
  for (std::size_t i = 0; i < d; ++i) {  // exactly symmetric
    for (std::size_t j = 0; j < i; ++j) {
      matrix[j][i] = matrix[i][j];
    }
  }
  return matrix;
}

struct TightRun {
  std::string feedback = "ef14";
  std::size_t k = 1;
  double mu = 0.05;  // L = 1
  std::uint64_t iterations = 150;
  Json aggregator = {{"kind", "allgather"}};
  Json further = Json::object();  // of [feedback]
  Precision precision = Precision::float64;
};

/// How P workers with f_p = (1/2)(w - m_p)^T A_p (w - m_p) run at eta*. The theory's rate is
/// claimed whether or not the method is one that the theory is about.
inline Recipe tight_recipe(const TightRun& how, const Objective& objective, int workers) {
  const double contraction =
      static_cast<double>(how.k) / static_cast<double>(objective.dimension());
  const CompressedProblem problem{
      .smoothness = 1, .strong_convexity = how.mu, .contraction = contraction};
  Recipe recipe;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", how.k}};
  recipe.aggregator = how.aggregator;
  recipe.feedback = how.further;
  recipe.feedback["kind"] = how.feedback;
  recipe.step = {{"value", tight_step(problem)}};
  recipe.workers = workers;
  recipe.iterations = how.iterations;
  recipe.precision = how.precision;
  recipe.minimizer = objective.facts().minimizer;
  recipe.lyapunov =
      LyapunovFacts{.root = problem.root(), .smoothness = 1, .rate = tight_rate(problem)};
  return recipe;
}

/// A problem drawn from `random`; minimisers of their own if `apart` > 0.
inline std::unique_ptr<Objective> random_quadratics(
    std::size_t d, int workers, double mu, double apart, RandomStream& random) {
  Json matrices = Json::array();
  Json minimizers = Json::array();
  for (int p = 0; p < workers; ++p) {
    matrices.push_back(random_curvature(d, mu, random));
    std::vector<double> minimizer = normals(d, random);
    for (double& m_j : minimizer) {
      m_j *= apart;
    }
    minimizers.push_back(minimizer);
  }
  return convex("matrix-quadratic",
                {{"matrix", matrices}, {"minimizers", minimizers}, {"start", normals(d, random)}},
                workers);
}

/// The largest V_{t+1}/V_t of a run, and how often it was above the rate.
struct SeenRatios {
  double largest = 0;
  std::uint64_t above = 0;
  std::uint64_t judged = 0;
};

inline SeenRatios ratios_of(const Objective& objective, const Recipe& recipe) {
  const auto run = measure(objective, recipe, {"lyapunov"});
  SeenRatios seen;
  for (const auto& row : run.rows) {
    if (row.has(Column::lyapunov_ratio)) {
      seen.largest = std::max(seen.largest, row[Column::lyapunov_ratio]);
    }
  }
  const auto check = run.summary.checks.find("tight-contraction");
  if (check != run.summary.checks.end()) {
    seen.above = check->second.failures;
    seen.judged = check->second.n;
  }
  return seen;
}

}  // namespace residuum::test
