// The reference run on the quadratic whose every constant is known (d = 200, L = 1, sigma^2 = 4,
// eta = 0.02, T = 600; Top-k with k = 20, P = 4, exact gTop-k, 24 seeds), against the numbers of an
// independent program: X_T = 1.887, certificate 3.875, bounded moment 5.63, mean contraction 15.2
// (a third of it with the better constants), IJCAI form 46.4, largest delta 0.947. Redrawing data
// and noise moves them by 2 to 3 %.
//
// Two of its conventions are not ours and are followed here on the way to its numbers:
//   the certificate had f* for f(z_T), which after 600 steps is still 0.97 below it: 3.875 becomes
//   about 3.6 with f(z_T);
//   M^2 and q were the largest seed means of single iterations, ours the largest window means.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/theorems/evidence.h"
#include "objectives/registry.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

constexpr int kWorkers = 4;
constexpr int kQuadraticSeeds = 24;
constexpr std::uint64_t kQuadraticSteps = 600;
constexpr double kStep = 0.02;

std::unique_ptr<Objective> reference_quadratic() {
  const Section section("objective", {{"kind", "quadratic"}});
  for (const auto& entry : convex_objectives()) {
    if (entry.name == "quadratic") {
      return entry.make(section, {.data_dir = {}, .cache_dir = {}, .workers = kWorkers});
    }
  }
  return nullptr;
}

/// Rows as the probes write them, and f(z_t), which is in row t - 1's sight.
class VirtualLoss final : public StepObserver {
 public:
  VirtualLoss(Monitor& monitor, const Objective& objective)
      : monitor_(&monitor), objective_(&objective) {}
  void observe(const StepView& view) override {
    monitor_->observe(view);
    double loss = 0;
    for (int p = 0; p < kWorkers; ++p) {
      loss += objective_->evaluate(p, kWorkers, {}, view.iterates.virtual_dense, {});
    }
    after_step.push_back(loss);
  }

  std::vector<double> after_step;

 private:
  Monitor* monitor_;
  const Objective* objective_;
};

std::vector<Row> run(const Objective& objective, double minimum, std::uint64_t seed) {
  test::Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 20}},
                      .aggregator = {{"kind", "gtopk-exact"}},
                      .step = {{"value", kStep}},
                      .workers = kWorkers,
                      .iterations = kQuadraticSteps,
                      .seed = seed,
                      .evaluated = 1};
  test::RowKeeper keeper;
  Monitor monitor(make_probes({"delta", "contraction", "residual"}, "a test"),
                  keeper,
                  [](auto /*done*/, auto /*total*/) {});
  VirtualLoss observer(monitor, objective);
  const auto world = make_single_process();
  test::train(*world, objective, recipe, observer);
  for (std::size_t t = 0; t < keeper.rows.size(); ++t) {
    Row& row = keeper.rows[t];
    row.set(Column::virtual_loss, t == 0 ? *row.get(Column::loss) : observer.after_step[t - 1]);
    row.set(Column::loss_gap, *row.get(Column::loss) - minimum);
  }
  return keeper.rows;
}

Row without(const Row& row, Column left_out) {
  Row rest(row.iteration());
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const auto column = static_cast<Column>(i);
    if (row.get(column) && column != left_out) {
      rest.set(column, *row.get(column));
    }
  }
  return rest;
}

class ReferenceQuadratic : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto objective = reference_quadratic();
    const Facts facts = objective->facts();
    const double squares = std::inner_product(
        facts.minimizer.begin(), facts.minimizer.end(), facts.minimizer.begin(), 0.0);
    const RunFacts method{
        .names = {.sparsifier = "top-k", .aggregator = "gtopk-exact"},
        .workers = kWorkers,
        .dimension = 200,
        .k = 20,
        .sends_everything = false,
        .sparsifier = {.contraction = 0.1, .deterministic = true, .keeps_largest = true},
        .aggregator = {.applies_whole_messages = false},
        .objective = {.convex = true,
                      .smoothness = Known{*facts.smoothness, "exact"},
                      .strong_convexity = Known{*facts.strong_convexity, "exact"},
                      .minimum = Known{*facts.minimum, "exact"},
                      .initial_distance_sq = Known{squares, "exact: w_0 = 0"},
                      .noise_variance = Known{*facts.noise_variance, "exact"}}};
    evidence = Evidence(method);
    without_end = Evidence(method);
    calm = Evidence(method);
    mean_square.assign(kQuadraticSteps, 0);
    lost.assign(kQuadraticSteps, 0);
    brought.assign(kQuadraticSteps, 0);
    for (int seed = 1; seed <= kQuadraticSeeds; ++seed) {
      take(run(*objective, *facts.minimum, static_cast<std::uint64_t>(seed)));
    }
  }

  static void take(const std::vector<Row>& rows) {
    SeedEvidence taken(kQuadraticSteps);
    SeedEvidence taken_without_end(kQuadraticSteps);
    SeedEvidence taken_calm(kQuadraticSteps);
    for (const Row& row : rows) {
      const std::uint64_t t = row.iteration();
      mean_square[t] += *row.get(Column::mean_grad_norm_sq) / kQuadraticSeeds;
      brought[t] += *row.get(Column::accumulator_norm_sq);
      lost[t] += *row.get(Column::delta) * *row.get(Column::accumulator_norm_sq);
      taken.add(row);
      Row calm = row;
      calm.set(Column::delta, std::min(*row.get(Column::delta), 1.0));
      taken_calm.add(calm);
      taken_without_end.add(without(row, Column::virtual_loss));
    }
    evidence.add(std::move(taken));
    without_end.add(std::move(taken_without_end));
    calm.add(std::move(taken_calm));
  }

  static Bound bound(const char* name) {
    const Bound result = find_theorem(name)->evaluate(evidence);
    EXPECT_EQ(verdict_text(result.verdict), "holds") << name << ": " << result.reason;
    EXPECT_EQ(result.iterations, kQuadraticSteps - 1);
    return result;
  }

  /// The largest over single iterations of the ratio pooled over the seeds.
  static double largest_delta() {
    double largest = 0;
    for (std::size_t t = 0; t < kQuadraticSteps; ++t) {
      largest = std::max(largest, lost[t] / brought[t]);
    }
    return largest;
  }

  static double largest_moment() {
    return *std::max_element(mean_square.begin(), mean_square.end());
  }

  static inline Evidence evidence{RunFacts{}};
  static inline Evidence without_end{RunFacts{}};  // the same without f(z_T)
  static inline Evidence calm{RunFacts{}};         // the same with no delta above 1
  static inline std::vector<double> mean_square;   // of the mean gradient, over the seeds
  static inline std::vector<double> lost;          // delta |mean a|^2, summed over the seeds
  static inline std::vector<double> brought;       // |mean a|^2, summed over the seeds
};

constexpr double kSpread = 0.04;  // what redrawing does, with the rounding of the printed numbers

TEST_F(ReferenceQuadratic, HasTheKnownAverageGradientAndCertificate) {
  const Bound with_minimum = find_theorem("certificate")->evaluate(without_end);
  EXPECT_NEAR(*with_minimum.lhs, 1.887, kSpread * 1.887);
  EXPECT_NEAR(*with_minimum.rhs, 3.875, kSpread * 3.875);
  const Bound certificate = bound("certificate");
  EXPECT_LT(*certificate.rhs, *with_minimum.rhs);
  EXPECT_GT(*certificate.slack, 1);
  EXPECT_LT(*certificate.slack, 10);
}

TEST_F(ReferenceQuadratic, HasTheKnownBoundWithoutBoundedGradients) {
  EXPECT_NEAR(*bound("mean-contraction").rhs, 15.2 / 3, kSpread * 15.2 / 3);
}

TEST_F(ReferenceQuadratic, HasTheKnownBoundsOfBoundedMomentsFromSingleIterations) {
  EXPECT_NEAR(largest_delta(), 0.947, kSpread * 0.947);
  const double moment = largest_moment();
  const double gap = *evidence.initial_gap().value;
  const double steps = kStep * kQuadraticSteps;
  const double q = 0.9 * largest_delta();
  const double bounded =
      2 * gap / steps + kStep * moment + amplification(q) * kStep * kStep * moment;
  EXPECT_NEAR(bounded, 5.63, kSpread * 5.63);
  const double published =
      4 * gap / steps + 2 * kStep * moment + 4 * kStep * kStep * moment * ijcai_amplification(10);
  EXPECT_NEAR(published, 46.4, kSpread * 46.4);

  // Means over windows are below the largest single means, and not by much.
  const auto is_just_below = [](const Bound& ours, double single) {
    EXPECT_EQ(verdict_text(ours.verdict), "holds") << ours.reason;
    EXPECT_LT(ours.rhs.value_or(0), single);
    EXPECT_GT(ours.rhs.value_or(0), 0.85 * single);
  };
  is_just_below(bound("bounded-moment"), bounded);
  is_just_below(find_theorem("ijcai")->evaluate(calm), published);
}

// The means over the seeds stay below 1 in every iteration, single runs do not.
TEST_F(ReferenceQuadratic, IsNotAProblemOfTheGTopKTheoremWhoseAssumptionIsAboutEveryIteration) {
  EXPECT_LT(largest_delta(), 1);
  const Bound published = find_theorem("ijcai")->evaluate(evidence);
  EXPECT_EQ(published.verdict, BoundVerdict::not_applicable);
  EXPECT_NE(published.reason.find("largest δ = 1.1"), std::string::npos) << published.reason;
}

TEST_F(ReferenceQuadratic, KeepsTheOtherTheoremsThatSpeakOfIt) {
  bound("karimireddy");
  bound("convex-certificate");
  for (const char* name : {"alistarh", "worker-contraction", "top-k", "hard-threshold", "bsp"}) {
    EXPECT_EQ(find_theorem(name)->evaluate(evidence).verdict, BoundVerdict::not_applicable) << name;
  }
}

}  // namespace
}  // namespace residuum
