// The search must find known counterexamples and must not find one to a proved bound.

#include "assumptions/falsify/falsify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assumptions/one_step.h"
#include "core/vectors/dense.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

struct Case {
  std::string aggregator;
  int workers = 2;
  int k = 1;
  std::size_t dimension = 2;
  std::string put_back = "captured";
  std::uint64_t seed = 1;
  std::uint64_t evaluations = 10000;
};

Method method_of(const Case& tried) {
  return one_step_method(
      {"sparsifier", {{"kind", "top-k"}, {"k", tried.k}}}, tried.aggregator, tried.put_back);
}

Worst worst_of(const Case& tried, const std::string& against) {
  return falsify(method_of(tried),
                 target_named(against),
                 {.workers = tried.workers,
                  .dimension = tried.dimension,
                  .seed = tried.seed,
                  .evaluations = tried.evaluations});
}

TEST(Falsify, FindsThatDeltaOfTheExactSelectionIsUnbounded) {
  // a = (1 + e, 1), (-1, -1 - e) has delta = (1 + e^2) / e^2.
  const Worst worst = worst_of({.aggregator = "gtopk-exact"}, "delta");

  EXPECT_GT(worst.value, 1e3);
  EXPECT_TRUE(worst.violated);
}

TEST(Falsify, RediscoversTheMassThatTheTreeWithThePublishedPutBackLoses) {
  // Of (u,0), (u,0), (0,v), (w,0) with 2u >= v > w the value w is lost; with squares that add up to
  // P = 4 that is at most w^2 = 1.6, at 2u = v = w.
  const Worst worst =
      worst_of({.aggregator = "gtopk-tree", .workers = 4, .put_back = "published"}, "conservation");

  EXPECT_GT(worst.value, 1.59);
  EXPECT_LE(worst.value, 1.6 + 1e-12);
  EXPECT_TRUE(worst.violated);
}

TEST(Falsify, FindsNoMassLostByThePublishedPutBackOfTwoWorkers) {
  for (const std::string aggregator : {"gtopk-tree", "gtopk-exact"}) {
    for (const std::size_t dimension : {2U, 5U}) {
      const Worst worst =
          worst_of({.aggregator = aggregator, .dimension = dimension, .put_back = "published"},
                   "conservation");

      EXPECT_EQ(worst.value, 0) << aggregator;
      EXPECT_FALSE(worst.violated) << aggregator;
    }
  }
}

TEST(Falsify, CannotBreakCapturedConservationWithAnyAggregator) {
  for (const auto& entry : test::aggregators_of_messages()) {
    for (const int workers : {1, 2, 3, 4, 7}) {
      const Worst worst = worst_of({.aggregator = std::string(entry.name),
                                    .workers = workers,
                                    .k = 2,
                                    .dimension = 5,
                                    .evaluations = 1500},
                                   "conservation");

      EXPECT_EQ(worst.value, 0) << entry.name << " with " << workers << " workers";
      EXPECT_FALSE(worst.violated);
    }
  }
}

TEST(Falsify, FindsTheMassThatDiscardLoses) {
  const Worst worst =
      worst_of({.aggregator = "gtopk-exact", .put_back = "discard"}, "conservation");

  // (x, 0), (0, x), the one rejected: half of the energy P = 2. More cannot be lost: the value that
  // is kept is at least as large.
  EXPECT_GT(worst.value, 0.9);
  EXPECT_LE(worst.value, 1 + 1e-12);
}

TEST(Falsify, CannotPushDeltaOfTheMaskAboveItsBound) {
  // delta = |a off S|^2 / ((1 - k/d) |a|^2) <= d / (d - k); attained where a vanishes on S.
  for (const auto& [workers, k, dimension] :
       std::vector<std::tuple<int, int, std::size_t>>{{2, 1, 2}, {3, 2, 5}, {4, 1, 3}, {5, 3, 4}}) {
    const Worst worst = worst_of(
        {.aggregator = "gtopk-mask", .workers = workers, .k = k, .dimension = dimension}, "delta");

    const auto d = static_cast<double>(dimension);
    EXPECT_LE(worst.value, d / (d - k) * (1 + 1e-12));
    EXPECT_GT(worst.value, d / (d - k) * 0.9) << "the bound is sharp for P = " << workers;
  }
}

TEST(Falsify, CannotBreakDeltaOfOneWorker) {
  // |a - Top_k a|^2 <= (1 - k/d) |a|^2, with equality for equal magnitudes.
  const Worst worst = worst_of({.aggregator = "gtopk-tree", .workers = 1, .dimension = 4}, "delta");

  EXPECT_GT(worst.value, 0.999);
  EXPECT_LE(worst.value, 1 + 1e-12);
  EXPECT_FALSE(worst.violated);
}

TEST(Falsify, TheMeanOfSeveralContractiveWorkersNeedNotContract) {
  // Each worker's |a - Top_k a|^2 <= (1 - k/d) |a|^2 is proved, and for P = 1 it is the contraction
  // of the gap. For P > 1 the means may cancel where the residuals do not: in (1 + e, 1),
  // (-1, -1 - e) the mean residual is (-1, 1) / 2 and the mean (e, -e) / 2.
  const Worst alone =
      worst_of({.aggregator = "allgather", .workers = 1, .dimension = 4}, "contraction");
  EXPECT_LE(alone.value, 1 - 1.0 / 4 + 1e-12);
  EXPECT_FALSE(alone.violated);

  const Worst together = worst_of({.aggregator = "allgather"}, "contraction");
  EXPECT_GT(together.value, 1e3);
  EXPECT_TRUE(together.violated);
}

TEST(Falsify, KeepsTheScaleAndRepeatsItself) {
  const Case tried{.aggregator = "gtopk-tree", .workers = 4, .dimension = 3, .evaluations = 2000};
  const Worst once = worst_of(tried, "delta");
  const Worst again = worst_of(tried, "delta");
  EXPECT_EQ(once.value, again.value);
  EXPECT_EQ(once.accumulators, again.accumulators);
  EXPECT_EQ(once.restarts, again.restarts);
  EXPECT_EQ(once.evaluations, 2000U);
  EXPECT_GT(once.restarts, 3U);
  EXPECT_NEAR(norm_sq<double>(once.accumulators), 4, 1e-12);

  Case other = tried;
  other.seed = 2;
  EXPECT_NE(worst_of(other, "delta").accumulators, once.accumulators);
}

TEST(Falsify, ReportsTheNumberThatOneStepOnItsVectorsHas) {
  const Case tried{.aggregator = "gtopk-tree", .workers = 5, .k = 2, .dimension = 6};
  const Worst worst = worst_of(tried, "delta");

  const Method method = method_of(tried);
  OneStep step(method, tried.workers, tried.dimension);
  EXPECT_EQ(step.on(worst.accumulators).get(Column::delta), worst.value);
}

TEST(Falsify, SaysSoWhereNothingIsDefined) {
  const std::string error = test::error_of(
      [] { worst_of({.aggregator = "gtopk-tree", .k = 2, .evaluations = 50}, "delta"); });

  EXPECT_THAT(error, HasSubstr("delta is not defined"));
}

TEST(Starts, CancellingPairsLeaveAMeanOfTheSizeOfTheNoise) {
  const auto laws = start_laws();
  const auto law = std::find_if(
      laws.begin(), laws.end(), [](const auto& entry) { return entry.name == "cancelling"; });
  ASSERT_NE(law, laws.end());
  for (std::uint32_t restart = 0; restart < 20; ++restart) {
    RandomStream random(1, Purpose::test, 0, restart);
    Accumulators drawn{.workers = 4, .dimension = 6, .values = std::vector<double>(24)};
    law->draw(random, drawn);
    // The draw before the signs sets the noise: 10^(-5 u).
    RandomStream replayed(1, Purpose::test, 0, restart);
    const double noise = std::pow(10, -5 * replayed.uniform());
    for (std::size_t i = 0; i < drawn.dimension; ++i) {
      EXPECT_LT(std::abs(drawn.at(0, i) + drawn.at(1, i)), 12 * noise);
      EXPECT_LT(std::abs(drawn.at(2, i) + drawn.at(3, i)), 12 * noise);
      EXPECT_NEAR(std::abs(drawn.at(0, i)), 1, 6 * noise);
    }
  }
}

TEST(Target, AnUnknownOneIsAnsweredWithTheNearest) {
  EXPECT_THAT(test::error_of([] { target_named("delt"); }), HasSubstr("did you mean 'delta'?"));
}

TEST(Target, ABoundIsExceededByMoreThanRounding) {
  EXPECT_FALSE(target_named("delta").is_violated_by(1, 10));
  EXPECT_FALSE(target_named("delta").is_violated_by(1 + 1e-15, 10));
  EXPECT_TRUE(target_named("delta").is_violated_by(1 + 1e-12, 10));
  EXPECT_FALSE(target_named("conservation").is_violated_by(0, 10));
  EXPECT_TRUE(target_named("conservation").is_violated_by(1e-300, 10));
  EXPECT_FALSE(target_named("contraction").is_violated_by(0.999, 10));
  EXPECT_TRUE(target_named("contraction").is_violated_by(1, 10)) << "below one is assumed";
}

}  // namespace
}  // namespace residuum
