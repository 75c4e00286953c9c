#pragma once
// Quadratics for which every constant of every theorem is known exactly, and runs on them. The
// evidence of the runs has the known constants instead of measured ones.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/protocols/protocol.h"
#include "objectives/noisy_function.h"
#include "tests/assumptions/support.h"
#include "tests/assumptions/theorems/support.h"

namespace residuum::test {

/// f_p(w) = (s_p/2) sum_j h_j w_j^2 - b^p . w with h_j from 1 down to 0.01 in equal ratios and
/// b^p_j = h_j + spread N(0, 1/d); worker p's gradient carries N(0, sigma^2/d) in each coordinate.
class UnequalQuadratics final : public Objective {
 public:
  struct Settings {
    std::size_t dimension = 60;
    std::vector<double> scales = {1, 1, 1, 1};  // s_p; mean 1, so that L = 1
    double noise_variance = 0;                  // sigma^2
    std::uint64_t data_seed = 1;
    double spread = 1;  // of the b^p around h: 0 makes workers of equal s_p alike
  };

  explicit UnequalQuadratics(Settings settings) : settings_(std::move(settings)) {
    const std::size_t d = settings_.dimension;
    for (std::size_t j = 0; j < d; ++j) {
      h_.push_back(std::pow(0.01, static_cast<double>(j) / static_cast<double>(d - 1)));
    }
    mean_.resize(d);
    for (std::size_t p = 0; p < workers(); ++p) {
      RandomStream random(
          settings_.data_seed, Purpose::synthetic, static_cast<std::uint32_t>(p), 0);
      std::vector<double> b(h_);
      for (std::size_t j = 0; j < d; ++j) {
        b[j] += settings_.spread * random.normal() / std::sqrt(static_cast<double>(d));
        mean_[j] += b[j] / static_cast<double>(workers());
      }
      b_.push_back(std::move(b));
    }
  }

  std::size_t workers() const { return settings_.scales.size(); }
  double minimum() const {
    double value = 0;
    for (std::size_t j = 0; j < h_.size(); ++j) {
      value -= 0.5 * mean_[j] * mean_[j] / h_[j];
    }
    return value;
  }
  /// |w_0 - x*|^2 from w_0 = 0.
  double distance_to_minimizer_sq() const {
    double sum = 0;
    for (std::size_t j = 0; j < h_.size(); ++j) {
      sum += mean_[j] * mean_[j] / (h_[j] * h_[j]);
    }
    return sum;
  }
  /// mean |grad f_p - grad f|^2 where all s_p are 1: the same everywhere.
  double heterogeneity() const {
    double sum = 0;
    for (const auto& b : b_) {
      sum += distance_sq(b, mean_) / static_cast<double>(workers());
    }
    return sum;
  }
  std::vector<double> worker_smoothness() const { return settings_.scales; }

  std::size_t dimension() const override { return settings_.dimension; }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), 0.0);
  }
  void stochastic_gradient(const Draw& /*draw*/,
                           std::span<const float> /*w*/,
                           std::span<float> /*gradient*/) const override {}
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    const auto p = static_cast<std::size_t>(draw.worker);
    const double deviation =
        std::sqrt(settings_.noise_variance / static_cast<double>(settings_.dimension));
    NormalStream noise(RandomStream(draw.seed,
                                    Purpose::noise,
                                    static_cast<std::uint32_t>(p),
                                    static_cast<std::uint32_t>(draw.iteration)));
    for (std::size_t j = 0; j < w.size(); ++j) {
      gradient[j] = settings_.scales[p] * h_[j] * w[j] - b_[p][j] + deviation * noise.next();
    }
  }
  double evaluate(int worker,
                  int /*workers*/,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& at,
                  std::span<double> gradient) const override {
    const auto p = static_cast<std::size_t>(worker);
    const double share = 1 / static_cast<double>(workers());
    double value = 0;
    for (std::size_t j = 0; j < h_.size(); ++j) {
      const double slope = settings_.scales[p] * h_[j] * at.w[j];
      value += share * (0.5 * slope - b_[p][j]) * at.w[j];
      if (!gradient.empty()) {
        gradient[j] += share * (slope - b_[p][j]);
      }
    }
    return value;
  }
  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

  /// Returns all facts that the theorems can know of the recipe.
  RunFacts facts_with(const Recipe& recipe) const {
    RunFacts facts;
    facts.names.sparsifier = recipe.sparsifier["kind"];
    facts.names.aggregator = recipe.aggregator["kind"];
    facts.names.feedback = recipe.feedback["kind"];
    const auto exchange = aggregator(recipe.aggregator);
    const auto memory = feedback(recipe.feedback);
    const auto selection = sparsifier(recipe.sparsifier);
    facts.sparsifier = selection->law(dimension(), 1);
    facts.sends_everything = facts.sparsifier.contraction == 1.0;
    if (const auto k = selection->k(dimension())) {
      facts.k = static_cast<double>(*k);
    }
    facts.aggregator = exchange->law();
    if (facts.aggregator.shifts_model) {
      facts.shift_contraction = static_cast<double>(exchange->shift_entries(dimension())) /
                                static_cast<double>(dimension());
    }
    facts.feedback = memory->law();
    facts.conserves = !facts.aggregator.weighs_messages &&
                      memory->conserves(exchange->law(), facts.sends_everything, recipe.workers);
    facts.update.momentum = recipe.momentum;
    if (facts.feedback.memory == Memory::velocity) {
      facts.update.momentum = recipe.feedback["momentum"];
    }
    facts.update.weight_decay = recipe.weight_decay;
    facts.update.effective_decay = recipe.weight_decay / memory->gain();
    facts.update.clipped = recipe.clip == Clip::none ? "nothing" : "update";
    facts.step.constant = recipe.step.value("rule", "constant") == "constant";
    facts.workers = static_cast<double>(workers());
    facts.dimension = static_cast<double>(dimension());
    facts.gradients.full = settings_.noise_variance == 0;
    facts.deterministic =
        facts.gradients.full && facts.sparsifier.deterministic &&
        (recipe.protocol == nullptr || !clocks_decide(recipe.protocol->law(recipe.workers)));
    facts.gradients.workers_alike =
        settings_.spread == 0 &&
        std::all_of(settings_.scales.begin(), settings_.scales.end(), [&](double scale) {
          return scale == settings_.scales.front();
        });
    facts.objective.convex = true;
    facts.objective.initial_distance_sq = Known{distance_to_minimizer_sq(), "exact"};
    facts.objective.smoothness = Known{1, "exact"};
    facts.objective.strong_convexity = Known{0.01, "exact"};
    facts.objective.minimum = Known{minimum(), "exact"};
    facts.objective.noise_variance = Known{settings_.noise_variance, "exact"};
    double sum_sq = 0;
    for (const double scale : settings_.scales) {
      sum_sq += scale * scale / static_cast<double>(workers());
    }
    facts.objective.worker_smoothness = Known{std::sqrt(sum_sq), "exact"};
    facts.objective.worker_smoothness_mean = Known{1, "exact"};
    facts.objective.worker_smoothness_max =
        Known{*std::max_element(settings_.scales.begin(), settings_.scales.end()), "exact"};
    if (recipe.protocol != nullptr) {
      facts.protocol = recipe.protocol->law(recipe.workers);
    }
    facts.update.outer_step = recipe.outer_step;
    facts.update.has_optimisers = recipe.local["optimiser"] != "sgd";
    return facts;
  }

 private:
  Settings settings_;
  std::vector<double> h_;
  std::vector<std::vector<double>> b_;
  std::vector<double> mean_;
};

/// Everything of every iteration; `seeds` runs.
inline Evidence evidence_of(const UnequalQuadratics& problem, Recipe recipe, int seeds) {
  recipe.workers = static_cast<int>(problem.workers());
  recipe.evaluated = 1;
  recipe.virtual_points = 1;
  recipe.unperturbed = true;
  recipe.minimum = problem.minimum();
  recipe.worker_smoothness = problem.worker_smoothness();
  Evidence evidence(problem.facts_with(recipe));
  const auto world = make_single_process();
  for (int seed = 1; seed <= seeds; ++seed) {
    recipe.seed = static_cast<std::uint64_t>(seed);
    RowKeeper keeper;
    Monitor monitor(
        make_probes({"contraction", "residual", "certificate", "ef21", "noise"}, "a test"),
        keeper,
        [](auto /*done*/, auto /*total*/) {});
    const auto outcome = train(*world, problem, recipe, monitor);
    EXPECT_EQ(outcome.state, Outcome::State::finished) << outcome.message;
    SeedEvidence one(recipe.iterations);
    for (Row& row : keeper.rows) {
      row.set(Column::heterogeneity, problem.heterogeneity());
      one.add(row);
    }
    evidence.add(std::move(one));
  }
  return evidence;
}

/// The theorem holds, and over every beginning of the runs; its slack is told.
inline Bound expect_no_violation(std::string_view name,
                                 const Evidence& evidence,
                                 const std::string& of) {
  Bound bound = evaluate(name, evidence);
  EXPECT_EQ(verdict_text(bound.verdict), "holds") << name << ", " << of << ": " << bound.reason;
  EXPECT_GT(bound.curve.size(), 10U) << name << ", " << of;
  for (const auto& point : bound.curve) {
    EXPECT_LE(point.lhs, point.rhs) << name << ", " << of << " after " << point.iterations;
  }
  if (bound.slack) {
    fmt::print("[   slack  ] {}, {}: {:.3g}\n", name, of, *bound.slack);
    std::fflush(stdout);
  }
  return bound;
}

}  // namespace residuum::test
