// Runs in which V of the tight theory falls most slowly: what the search finds for whole messages,
// what wrong methods do on what it finds, and runs under merges in which V does not fall at all.

#include "assumptions/falsify/tight_runs.h"

#include <gtest/gtest.h>

#include <tuple>

#include "assumptions/falsify/tight_search.h"
#include "assumptions/one_step.h"
#include "tests/assumptions/rotated_quadratics.h"

namespace residuum {
namespace {

using test::convex;
using test::Json;

Method top_k_method(const std::string& aggregator, std::size_t k) {
  return one_step_method(
      Section("sparsifier", {{"kind", "top-k"}, {"k", k}}), aggregator, "captured");
}

Json matrix_of(const WorstRun& worst, std::size_t worker) {
  const std::size_t d = worst.start.size();
  Json rows = Json::array();
  for (std::size_t i = 0; i < d; ++i) {
    const auto first = worst.matrices.begin() + static_cast<std::ptrdiff_t>((worker * d + i) * d);
    rows.push_back(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(d)));
  }
  return rows;
}

std::unique_ptr<Objective> objective_of(const WorstRun& worst, int workers) {
  Json matrices = Json::array();
  for (int p = 0; p < workers; ++p) {
    matrices.push_back(matrix_of(worst, static_cast<std::size_t>(p)));
  }
  return convex("matrix-quadratic",
                {{"matrix", matrices},
                 {"minimizers", std::vector<double>(worst.start.size(), 0.0)},
                 {"start", worst.start}},
                workers);
}

TEST(TightRunSearch, WholeMessagesComeToTheRateAndNotAbove) {
  for (const int workers : {1, 2}) {
    const auto worst =
        falsify_runs(top_k_method("allgather", 1),
                     {.workers = workers, .ratio = RunRatio::largest, .evaluations = 2000});
    EXPECT_NEAR(worst.rate, 0.9932261130402541, 1e-14);
    EXPECT_GT(worst.ratio, 0.9932) << workers;
    EXPECT_FALSE(worst.is_above()) << worst.ratio;
    EXPECT_EQ(worst.ratio, worst.largest);
    EXPECT_LE(worst.average, worst.largest);
  }
}

Method estimates_method(const std::string& aggregator) {
  Method method = top_k_method(aggregator, 1);
  method.feedback = make_feedback(Section("feedback", {{"kind", "ef21"}}));
  return method;
}

TEST(TightRunSearch, WholeMessagesOfEstimatesComeToTheRateAndNotAbove) {
  for (const int workers : {1, 2}) {
    const auto worst =
        falsify_runs(estimates_method("allgather"),
                     {.workers = workers, .ratio = RunRatio::largest, .evaluations = 2000});
    EXPECT_TRUE(worst.estimates);
    EXPECT_GT(worst.ratio, 0.9931) << workers;
    EXPECT_FALSE(worst.is_above()) << worst.ratio;
  }
}

// One iteration of a run is one that the search over single iterations can find, too: V before is
// of the same state, and the rest after the exchange is the error of the estimates.
TEST(TightRateSearch, OfEstimatesFindsWhatRunsComeTo) {
  for (const char* aggregator : {"allgather", "gtopk-exact", "gtopk-mask"}) {
    const auto run = falsify_runs(estimates_method(aggregator),
                                  {.workers = 3,
                                   .condition = 10,
                                   .steps = 40,
                                   .ratio = RunRatio::largest,
                                   .evaluations = 500});
    const auto any =
        falsify_rate(top_k_method(aggregator, 1),
                     {.workers = 3, .condition = 10, .evaluations = 20000, .estimates = true});
    EXPECT_EQ(any.rate, run.rate);
    EXPECT_GT(any.ratio, run.ratio - 2e-3) << aggregator;
  }
}

TEST(TightRateSearch, OfEstimatesNeverPassesTheRateOfWholeMessages) {
  // The worst case has the same f_p on all workers, which the search for several seldom comes to.
  for (const auto& [workers, nearly] : {std::pair{1, 0.993}, std::pair{3, 0.96}}) {
    const auto worst = falsify_rate(top_k_method("allgather", 1),
                                    {.workers = workers, .evaluations = 20000, .estimates = true});
    EXPECT_NEAR(worst.rate, 0.9932261130402541, 1e-14);
    EXPECT_GT(worst.ratio, nearly) << workers;
    EXPECT_FALSE(worst.is_above()) << worst.ratio;
  }
}

TEST(TightRunSearch, AnAverageIsThatOfTheIterationsBehindTheSkipped) {
  const auto worst = falsify_runs(
      top_k_method("allgather", 1),
      {.workers = 2, .condition = 10, .steps = 30, .skip = 10, .seed = 3, .evaluations = 300});
  EXPECT_EQ(worst.ratio, worst.average);
  EXPECT_EQ(worst.evaluations, 300U);
  const auto objective = objective_of(worst, 2);
  auto recipe = test::tight_recipe({.mu = 0.1, .iterations = 30}, *objective, 2);
  const auto rows = test::measure(*objective, recipe, {"lyapunov"}).rows;
  // V_t is in row t - 1.
  const double of_run = rows[29][Column::lyapunov] / rows[9][Column::lyapunov];
  EXPECT_NEAR(std::pow(of_run, 1.0 / 20), worst.average, 1e-12);
}

TEST(TightRunSearch, EigenvaluesAreThoseOfTheTheory) {
  const auto worst = falsify_runs(
      top_k_method("gtopk-exact", 1),
      {.workers = 3, .condition = 4, .contraction = 0.5, .steps = 10, .evaluations = 200});
  ASSERT_EQ(worst.matrices.size(), 12U);
  for (std::size_t p = 0; p < 3; ++p) {
    const double* a = &worst.matrices[4 * p];
    EXPECT_EQ(a[1], a[2]);
    const double half = (a[0] + a[3]) / 2;
    const double root = std::hypot((a[0] - a[3]) / 2, a[1]);
    EXPECT_GE(half - root, 0.25 - 1e-12);
    EXPECT_LE(half + root, 1 + 1e-12);
  }
  EXPECT_NEAR(norm_sq<double>(worst.start), 1, 1e-12);
}

// --- Wrong methods -------------------------------------------------------------------------------

/// How often a run on the worst problem of whole messages is above the rate that is claimed, as it
/// is and with each mutant.
struct MutantsSeen {
  std::uint64_t right = 0;
  std::uint64_t shrunken_residual = 0;  // times 0.99 in every iteration
  std::uint64_t entry_less = 0;         // k - 1
  std::uint64_t lost_merge = 0;         // what a merge cuts is removed
};

MutantsSeen mutants_on(const Objective& objective, int workers, test::TightRun how) {
  const auto above = [&](const test::TightRun& run, std::size_t sent) {
    auto recipe = test::tight_recipe(run, objective, workers);
    recipe.sparsifier = sent > 0 ? Json{{"kind", "top-k"}, {"k", sent}}
                                 : Json{{"kind", "hard-threshold"}, {"threshold", 1e9}};
    return test::ratios_of(objective, recipe).above;
  };
  MutantsSeen seen{.right = above(how, how.k), .entry_less = above(how, how.k - 1)};
  how.further = {{"decay", 0.99}};
  seen.shrunken_residual = above(how, how.k);
  how.further = {{"putback", "discard"}};
  how.aggregator = {{"kind", "gtopk-exact"}};
  seen.lost_merge = workers > 1 ? above(how, how.k) : 0;
  return seen;
}

TEST(TightRunSearch, WhatItFindsInTwoDimensionsShowsWrongMethods) {
  for (const int workers : {1, 2}) {
    const auto worst =
        falsify_runs(top_k_method("allgather", 1),
                     {.workers = workers, .ratio = RunRatio::largest, .evaluations = 4000});
    const auto objective = objective_of(worst, workers);
    const auto seen = mutants_on(*objective, workers, {.mu = 0.01});
    EXPECT_EQ(seen.right, 0U) << workers;
    EXPECT_GT(seen.shrunken_residual, 0U) << workers;
    EXPECT_GT(seen.entry_less, 0U) << workers;
  }
}

/// Of ten random problems, how many show each mutant.
MutantsSeen mutants_on_random(std::size_t d, const test::TightRun& how) {
  RandomStream random(21, Purpose::test, 0, 0);
  MutantsSeen sum;
  for (int problem = 0; problem < 10; ++problem) {
    const auto objective = test::random_quadratics(d, 2, how.mu, 0, random);
    const MutantsSeen seen = mutants_on(*objective, 2, how);
    sum.shrunken_residual += seen.shrunken_residual > 0 ? 1 : 0;
    sum.entry_less += seen.entry_less > 0 ? 1 : 0;
    sum.lost_merge += seen.lost_merge > 0 ? 1 : 0;
  }
  return sum;
}

TEST(TightRunSearch, RandomProblemsInTwoDimensionsShowAShrunkenResidualOfOneWorkerAlone) {
  // By another program of 30 problems 25, none and none.
  for (const auto& [workers, least, most] :
       {std::tuple{1, 5, 10}, std::tuple{2, 0, 2}, std::tuple{4, 0, 0}}) {
    RandomStream random(22, Purpose::test, 0, 0);
    int seen = 0;
    for (int problem = 0; problem < 10; ++problem) {
      const auto objective = test::random_quadratics(2, workers, 0.05, 0, random);
      const auto recipe = test::tight_recipe({.further = {{"decay", 0.99}}}, *objective, workers);
      seen += test::ratios_of(*objective, recipe).above > 0 ? 1 : 0;
    }
    EXPECT_GE(seen, least) << workers;
    EXPECT_LE(seen, most) << workers;
  }
}

MutantsSeen mutants_on_found(std::size_t d, const test::TightRun& how) {
  const auto worst =
      falsify_runs(top_k_method("allgather", how.k),
                   {.workers = 2,
                    .dimension = d,
                    .condition = 1 / how.mu,
                    .contraction = static_cast<double>(how.k) / static_cast<double>(d),
                    .ratio = RunRatio::largest,
                    .evaluations = 4000});
  return mutants_on(*objective_of(worst, 2), 2, how);
}

TEST(TightRunSearch, WhatItFindsShowsAShrunkenResidualThatRandomProblemsHide) {
  constexpr std::size_t kDimension = 10;
  const test::TightRun how{.mu = 0.05};
  const auto found = mutants_on_found(kDimension, how);
  const auto of_random = mutants_on_random(kDimension, how);
  EXPECT_EQ(found.right, 0U);
  EXPECT_GT(found.shrunken_residual, 0U);
  EXPECT_GT(found.entry_less, 0U);
  EXPECT_EQ(of_random.shrunken_residual, 0U);
  EXPECT_EQ(of_random.entry_less, 10U);
  EXPECT_GT(of_random.lost_merge, 5U);
}

TEST(TightRunSearch, OneEntryLessOfTwoIsHiddenInTenDimensions) {
  constexpr std::size_t kDimension = 10;
  const test::TightRun how{.k = 2, .mu = 0.05};
  EXPECT_EQ(mutants_on_found(kDimension, how).entry_less, 0U);
  const auto of_random = mutants_on_random(kDimension, how);
  EXPECT_EQ(of_random.entry_less, 0U);
  EXPECT_GT(of_random.lost_merge, 5U);
}

// --- Mirrored workers ----------------------------------------------------------------------------

// Two workers are mirror images, and a third has the axes: with v = (4, 3)/5, w = (-3, 4)/5,
//   A_1 = v v^T + w w^T/10 = [[0.676, 0.432], [0.432, 0.424]],
//   A_2 = D A_1 D = [[0.676, -0.432], [-0.432, 0.424]], D = diag(-1, 1),   A_3 = diag(1, 0.1),
// all with the eigenvalues 1 and 1/10, from x_0 = (0, 1), e = 0, Top-1, with any step eta < 30. Let
// r = 1 - eta/30, h_t = 30 (1 - r^t), so that h_{t+1} = h_t + eta r^t. Claim:
//   x_t = (0, r^t),  e_1 = h_t (0.432, 0.424),  e_2 = h_t (-0.432, 0.424),  e_3 = 0.
// Indeed the accumulators are h_{t+1} (+-0.432, 0.424) and (0, eta r^t/10). Workers 1 and 2 send
// their first entry, since 0.432 > 0.424. The sums are 0 and eta r^t/10 > 0: Top-1 of them is the
// second, of worker 3 alone; a tree that merges 1 and 2 first agrees. So x_{t+1} = (0, r^t - eta
// r^t/30), e_3 = 0, and workers 1 and 2 keep all. As t grows V/P rises from 1 to
//   (2/3 0.424 30)^2/s + (2/3) 30^2 (0.432^2 + 0.424^2) > 0,
// whatever the step: V does not go to 0, and f falls by r^2, which is above rho* at eta*. More
// workers like the third change r, and nothing else. The order below is 1, 3, 2, since the tree
// merges the last of three workers into the first.
Json mirrored(double c, double s, double mu) {
  const double a = c * c + mu * s * s;
  const double b = c * s * (1 - mu);
  const double e = s * s + mu * c * c;
  return {{{a, b}, {b, e}}, {{1, 0}, {0, mu}}, {{a, -b}, {-b, e}}};
}

std::unique_ptr<Objective> mirrored_objective(const Json& matrices, const std::vector<double>& x) {
  return convex("matrix-quadratic",
                {{"matrix", matrices}, {"minimizers", {0, 0}}, {"start", x}},
                static_cast<int>(matrices.size()));
}

TEST(MirroredWorkers, BlockEachOtherForEverUnderMerges) {
  const auto objective = mirrored_objective(
      {{{0.676, 0.432}, {0.432, 0.424}}, {{1, 0}, {0, 0.1}}, {{0.676, -0.432}, {-0.432, 0.424}}},
      {0, 1});
  constexpr int kIterations = 2000;
  for (const Json& aggregator : {Json{{"kind", "gtopk-exact"}}, Json{{"kind", "gtopk-tree"}}}) {
    for (const char* putback : {"captured", "published"}) {
      const auto recipe = test::tight_recipe({.mu = 0.1,
                                              .iterations = kIterations,
                                              .aggregator = aggregator,
                                              .further = {{"putback", putback}}},
                                             *objective,
                                             3);
      const double eta = recipe.step["value"];
      const double s = recipe.lyapunov->root;
      const auto rows = test::measure(*objective, recipe, {"lyapunov"}).rows;
      for (const std::size_t t : {1U, 10U, 100U, 2000U}) {
        const double x = std::pow(1 - eta / 30, static_cast<double>(t));
        const double h = 30 * (1 - x);
        const double mean = 2 * 0.424 * h / 3;
        const double first = 0.432 * h;
        const double second = x - 0.424 * h;
        const double value = mean * mean / s + (2 * (first * first + second * second) + x * x) / 3;
        EXPECT_NEAR(rows[t - 1][Column::lyapunov], value, 1e-9 * value) << aggregator << t;
      }
      EXPECT_GT(std::pow(1 - eta / 30, 2), *recipe.lyapunov->rate);
    }
  }
}

TEST(MirroredWorkers, AreNoTroubleForWholeMessages) {
  const auto objective = mirrored_objective(mirrored(0.8, 0.6, 0.1), {0, 1});
  const auto seen = test::ratios_of(*objective, test::tight_recipe({.mu = 0.1}, *objective, 3));
  EXPECT_EQ(seen.above, 0U);
  EXPECT_GE(seen.judged, 100U);
}

TEST(MirroredWorkers, DivergeUnderMergesNearTheMirror) {
  // By another program |x| = 1.1e20 after 8000 iterations from (0.01, 1), kappa = 1000.
  const auto matrices = mirrored(0.72, std::sqrt(1 - 0.72 * 0.72), 0.001);
  const auto objective = mirrored_objective(matrices, {0.01, 1});
  for (const auto& [kind, diverges] : {std::pair{"gtopk-exact", true},
                                       std::pair{"gtopk-tree", true},
                                       std::pair{"gtopk-mask", false},
                                       std::pair{"allgather", false}}) {
    const auto recipe = test::tight_recipe(
        {.mu = 0.001, .iterations = 8000, .aggregator = {{"kind", kind}}}, *objective, 3);
    const double last =
        test::measure(*objective, recipe, {"lyapunov"}).rows.back()[Column::lyapunov];
    EXPECT_EQ(last > 1e20, diverges) << kind << ": " << last;
    EXPECT_EQ(last < 1, !diverges) << kind << ": " << last;
  }
}

TEST(MirroredWorkers, DivergeFromStartsNearAndFar) {
  // By another program |x| is between 5e11 and 1e22 after 8000 iterations from these.
  const auto matrices = mirrored(0.72, std::sqrt(1 - 0.72 * 0.72), 0.001);
  for (const double first : {1e-3, 1e-4, 1e-5, 1e-6}) {
    const auto objective = mirrored_objective(matrices, {first, 1});
    const auto recipe = test::tight_recipe(
        {.mu = 0.001, .iterations = 8000, .aggregator = {{"kind", "gtopk-exact"}}}, *objective, 3);
    const auto rows = test::measure(*objective, recipe, {"lyapunov"}).rows;
    EXPECT_GT(rows.back()[Column::lyapunov], 1e20) << first;
  }
}

// --- Two workers ---------------------------------------------------------------------------------

TEST(TwoWorkers, PassTheRateUnderExactGtopkWithoutSumsThatCancel) {
  // A counterexample by another program, in plain arithmetic: V_4/V_3 = 0.9474208851, above rho* =
  // 0.93936820. No sum is near 0: in iteration 3 both workers send the other's second choice.
  const Json first{{0.7658240907673441, 0.3948670179243249},
                   {0.3948670179243249, 0.3341759092326557}};
  const Json second{{0.6931307898223974, 0.42663049235235956},
                    {0.42663049235235956, 0.4068692101776027}};
  for (const double moved : {0.0, 1e-6, -1e-6, 1e-4, -1e-4}) {
    const auto objective = mirrored_objective(
        {first, second}, {-0.9335580673905498 + moved, 0.35842619157927275 + moved});
    const auto recipe = test::tight_recipe(
        {.mu = 0.1, .iterations = 8, .aggregator = {{"kind", "gtopk-exact"}}}, *objective, 2);
    const auto rows = test::measure(*objective, recipe, {"lyapunov"}).rows;
    const double ratio = rows[3][Column::lyapunov_ratio];
    EXPECT_NEAR(*recipe.lyapunov->rate, 0.93936820, 1e-8);
    EXPECT_GT(ratio, 0.94) << moved;
    if (moved == 0) {
      EXPECT_NEAR(ratio, 0.94742088, 1e-8);
    }
  }
}

TEST(TightRunSearch, CopiesNearbyExcludeExactCancellation) {
  // A mirrored pair alone: what cancels exactly is returned, and V grows.
  const Method method = top_k_method("gtopk-exact", 1);
  RunSearch search{.workers = 2, .condition = 10, .steps = 100, .evaluations = 800};
  const auto alone = falsify_runs(method, search);
  EXPECT_GT(alone.ratio, alone.rate);
  EXPECT_FALSE(alone.nearby_later.has_value());

  search.nearby = {1e-6, 1e-3};
  const auto with_copies = falsify_runs(method, search);
  EXPECT_LT(with_copies.ratio, with_copies.rate);
  EXPECT_LE(with_copies.ratio, with_copies.average);
}

TEST(TightRunSearch, CopiesNearbyLeaveWhatDoesNotRestOnCancellation) {
  const auto worst = falsify_runs(top_k_method("gtopk-exact", 1),
                                  {.workers = 2,
                                   .condition = 10,
                                   .steps = 12,
                                   .ratio = RunRatio::largest,
                                   .nearby = {1e-6},
                                   .evaluations = 6000});
  EXPECT_TRUE(worst.is_above()) << worst.ratio;
  EXPECT_LE(worst.ratio, worst.largest);
}

// --- Any state -----------------------------------------------------------------------------------

TEST(TightRateSearch, FromAnyStateFindsNoLessThanInARun) {
  for (const bool estimates : {false, true}) {
    for (const char* aggregator : {"gtopk-exact", "gtopk-mask"}) {
      for (const std::uint64_t seed : {1U, 2U}) {
        const Method of_runs =
            estimates ? estimates_method(aggregator) : top_k_method(aggregator, 1);
        const auto run = falsify_runs(of_runs,
                                      {.workers = 2,
                                       .condition = 10,
                                       .steps = 60,
                                       .ratio = RunRatio::largest,
                                       .seed = seed,
                                       .evaluations = 400});
        const auto any = falsify_rate(top_k_method(aggregator, 1),
                                      {.workers = 2,
                                       .condition = 10,
                                       .seed = seed,
                                       .evaluations = 80,
                                       .estimates = estimates},
                                      std::span(&run, 1));
        EXPECT_GE(any.ratio, run.ratio * (1 - 1e-9)) << aggregator << estimates << seed;
      }
    }
  }
}

TEST(TightRateSearch, MirroredStartsFindWhatRandomOnesDoNot) {
  // By another program 1.43781.
  const auto worst = falsify_rate(top_k_method("gtopk-exact", 1),
                                  {.workers = 2, .condition = 10, .evaluations = 20000});
  EXPECT_GT(worst.ratio, 1.43);
}

}  // namespace
}  // namespace residuum
