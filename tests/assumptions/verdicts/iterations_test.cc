// Verdicts on assumptions where it matters which iterations were measured, and on each of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tests/assumptions/verdicts/support.h"

namespace residuum {
namespace {

using test::evidence;
using test::verdict;
using test::with_delta;

/// delta_t = `delta(t)` at the iterations of `rows`, of runs of `iterations`.
Evidence sampled(std::uint64_t iterations,
                 const std::vector<std::uint64_t>& rows,
                 const std::function<double(std::uint64_t t, std::size_t seed)>& delta,
                 std::size_t seeds = 4,
                 const RunFacts& facts = RunFacts{.dimension = 100, .k = 10}) {
  Evidence all(facts);
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    SeedEvidence one(iterations);
    for (const std::uint64_t t : rows) {
      Row row(t);
      row.set(Column::density, 0.1);
      row.set(Column::delta, delta(t, seed));
      row.set(Column::accumulator_norm_sq, 1);
      one.add(row);
    }
    all.add(std::move(one));
  }
  return all;
}

std::vector<std::uint64_t> range(std::uint64_t end, std::uint64_t step = 1) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t t = 0; t < end; t += step) {
    all.push_back(t);
  }
  return all;
}

std::vector<std::uint64_t> doubling(std::uint64_t end) {
  std::vector<std::uint64_t> all{0};
  for (std::uint64_t t = 1; t < end; t *= 2) {
    all.push_back(t);
  }
  return all;
}

// delta is 0.5 for 100 iterations, then 1.1 for 900: on average 1.04. Of the doubling rows
// 0, 1, 2, ... 512 eight are in the first part and three in the second, whose plain mean is 0.664.
TEST(AssumptionVerdicts, DoNotLetTheCadenceWeighEarlyRowsMore) {
  const auto delta = [](std::uint64_t t, std::size_t seed) {
    return (t < 100 ? 0.5 : 1.1) + 1e-3 * static_cast<double>(seed);
  };
  const auto all = verdict(sampled(1000, range(1000), delta), "delta");
  const auto some = verdict(sampled(1000, doubling(1000), delta), "delta");

  EXPECT_NEAR(all.value.value(), 1.04 + 1.5e-3, 1e-12);
  EXPECT_EQ(all.state, AssumptionState::fails);
  EXPECT_NEAR(some.value.value(), (128 * 0.5 + 872 * 1.1) / 1000 + 1.5e-3, 1e-12);
  EXPECT_EQ(some.state, AssumptionState::undecided) << "a jump may lie anywhere between the rows";
  EXPECT_EQ(some.rows, 4U * 11);
  EXPECT_EQ(some.iterations, 4000U);
}

TEST(AssumptionVerdicts, OfRowsWithoutATrendAreDecidedAllTheSame) {
  const auto delta = [](std::uint64_t t, std::size_t seed) {
    return 0.9 + 1e-3 * static_cast<double>(seed) + 1e-3 * static_cast<double>(t % 3);
  };
  EXPECT_EQ(verdict(sampled(1000, doubling(1000), delta), "delta").state, AssumptionState::holds);
}

TEST(AssumptionVerdicts, TellEveryIterationFromTheAverage) {
  // 1.2 in each fifth iteration, 0.8 otherwise: 0.88 on average.
  const auto delta = [](std::uint64_t t, std::size_t seed) {
    return (t % 5 == 3 ? 1.2 : 0.8) + 1e-3 * static_cast<double>(seed);
  };
  const auto one = verdict(sampled(100, range(100), delta), "delta");

  EXPECT_EQ(one.state, AssumptionState::holds);
  ASSERT_TRUE(one.every);
  EXPECT_EQ(one.every->state, AssumptionState::fails);
  EXPECT_EQ(one.every->violations, 4U * 20);
  EXPECT_EQ(one.every->measured, 400U);
  EXPECT_NEAR(one.every->worst.value(), 1.203, 1e-12);
  EXPECT_EQ(one.every->worst_seed, 3U);
  EXPECT_EQ(one.every->worst_iteration, 3U);
}

TEST(AssumptionVerdicts, OfSingleIterationsAreDecidedWithOneSeed) {
  const auto above = [](std::uint64_t t, std::size_t) { return t == 7 ? 1.098 : 0.9; };
  const auto below = [](std::uint64_t, std::size_t) { return 0.9; };

  const auto fails = verdict(sampled(10, range(10), above, 1), "delta");
  EXPECT_EQ(fails.state, AssumptionState::undecided);
  EXPECT_EQ(fails.every->state, AssumptionState::fails);
  EXPECT_EQ(fails.every->worst_iteration, 7U);
  EXPECT_EQ(verdict(sampled(10, range(10), below, 1), "delta").every->state,
            AssumptionState::holds);
  const auto open = verdict(sampled(10, range(10, 3), below, 1), "delta");
  EXPECT_EQ(open.every->state, AssumptionState::undecided);
  EXPECT_THAT(open.every->remark, testing::HasSubstr("at 4 of 10 iterations"));
  EXPECT_EQ(verdict(sampled(10, {0, 3, 7}, above, 1), "delta").every->state,
            AssumptionState::fails);
}

TEST(AssumptionVerdicts, DoNotTestWhatIsOneByTheSparsifiersLaw) {
  const auto delta = [](std::uint64_t, std::size_t seed) {
    return 1.01 + 1e-4 * static_cast<double>(seed);
  };
  const RunFacts random_k{
      .names = {.sparsifier = "rand-k"},
      .dimension = 100,
      .k = 10,
      .sparsifier = {
          .contraction = 0.1, .exact = true, .deterministic = false, .shares_support = true}};
  const auto one = verdict(sampled(10, range(10), delta, 4, random_k), "delta");
  EXPECT_EQ(one.state, AssumptionState::holds);
  EXPECT_FALSE(one.p_value);
  EXPECT_EQ(one.every->state, AssumptionState::holds);
  EXPECT_THAT(one.remark, testing::HasSubstr("by the law of rand-k"));

  // One that is scaled to be unbiased has a share of its own, 2 - d/k: nothing is one by law.
  RunFacts scaled = random_k;
  scaled.k = 75;
  scaled.sparsifier.contraction = 2 - 100 / 75.0;
  EXPECT_EQ(verdict(sampled(10, range(10), delta, 4, scaled), "delta").state,
            AssumptionState::fails);

  // The law of a random selection is about the expectation, so the expectation is tested.
  RunFacts own = random_k;
  own.sparsifier.exact = false;
  const auto other = verdict(sampled(10, range(10), delta, 4, own), "delta");
  EXPECT_EQ(other.state, AssumptionState::fails);
  EXPECT_EQ(other.every->state, AssumptionState::undecided);
}

TEST(AssumptionVerdicts, DoNotLetASingleDrawOfARandomSelectionRefuteAContraction) {
  const auto judged = [](bool selects_at_random) {
    const auto one_expands = [](std::uint64_t t, auto, Row& row) {
      row.set(Column::contraction, t == 5 ? 1.2 : 0.5);
      row.set(Column::gap_norm_sq, 1);
    };
    return verdict(evidence(2,
                            one_expands,
                            RunFacts{.dimension = 100,
                                     .k = 10,
                                     .sparsifier = {.deterministic = !selects_at_random}}),
                   "contraction");
  };
  EXPECT_EQ(judged(false).every->state, AssumptionState::fails);
  EXPECT_EQ(judged(true).every->state, AssumptionState::undecided);
  EXPECT_THAT(judged(true).every->remark, testing::HasSubstr("of which single draws say nothing"));
}

// Rows at 0, 1, 2, 4, 8, ... 512 of 1000 iterations. delta is above 1 at 0, 1, 2 and 4 alone: four
// of eleven rows, which stand for 8 of 1000 iterations.
TEST(AssumptionVerdicts, CountTheIterationsThatRowsStandFor) {
  const auto delta = [](std::uint64_t t, std::size_t /*seed*/) { return t < 8 ? 1.5 : 0.5; };
  const auto every = verdict(sampled(1000, doubling(1000), delta), "delta").every;
  EXPECT_EQ(every->violations, 4 * 4U);
  EXPECT_EQ(every->measured, 4 * 11U);
  EXPECT_NEAR(every->share, 8.0 / 1000, 1e-15);
}

// 0.45 of 0.9 in one seed, 0.25 of 0.5 in the other.
TEST(AssumptionVerdicts, DivideByTheDensityOfEachSeed) {
  const auto all = evidence(2, [](auto, std::size_t seed, Row& row) {
    row.set(Column::residual_norm_sq, seed == 0 ? 0.45 : 0.25);
    row.set(Column::worker_accumulator_norm_sq, 1);
    row.set(Column::density, seed == 0 ? 0.1 : 0.5);
  });
  EXPECT_NEAR(verdict(all, "worker-contraction").value.value(), 0.5, 1e-12);
}

// Residuals twice as large as the accumulators of the row: those of error control are sums of which
// an accumulator has a part, and those of late workers are not of the row's accumulators.
TEST(AssumptionVerdicts, HoldResidualsAgainstTheAccumulatorsThatTheyAreLeftOfAlone) {
  const auto judged = [](const RunFacts& facts) {
    const auto large = [](auto, auto, Row& row) {
      row.set(Column::residual_norm_sq, 2);
      row.set(Column::worker_accumulator_norm_sq, 1);
      row.set(Column::density, 0.1);
    };
    return verdict(evidence(2, large, facts), "worker-contraction");
  };
  const RunFacts plain{.dimension = 100, .k = 10};
  EXPECT_EQ(judged(plain).state, AssumptionState::fails);
  EXPECT_EQ(judged(plain).every->state, AssumptionState::fails);
  RunFacts control = plain;
  control.feedback.memory = Memory::control;
  RunFacts late = plain;
  late.protocol.synchrony = Synchrony::late;
  for (const auto& facts : {control, late}) {
    EXPECT_EQ(judged(facts).state, AssumptionState::not_measured);
    EXPECT_EQ(judged(facts).every->state, AssumptionState::not_measured);
  }
  EXPECT_THAT(judged(control).remark, testing::HasSubstr("a part that its accumulator lacks"));
}

TEST(AssumptionVerdicts, CountIterationsInWhichNothingWasAccumulated) {
  const auto all = evidence(2, [](std::uint64_t t, auto, Row& row) {
    row.set(Column::density, 0.1);
    row.set(Column::accumulator_norm_sq, t < 10 ? 1 : 0);
    if (t < 10) {
      row.set(Column::delta, 0.5);
    }
  });
  const auto one = verdict(all, "delta");
  EXPECT_EQ(one.state, AssumptionState::holds);
  EXPECT_EQ(one.rows, one.iterations);
  EXPECT_EQ(one.every->state, AssumptionState::holds);
}

TEST(AssumptionVerdicts, DoNotSayThatGradientsAreUnbiasedWhereTheyAreKnownNotToBe) {
  RunFacts facts{.dimension = 100, .objective = {.gradient_bias = "images are augmented"}};
  Evidence all(facts);
  for (int seed = 0; seed < 3; ++seed) {
    SeedEvidence one(test::kEvidenceRows);
    Row row(0);
    row.set(Column::gradient_bias, 0.1 * (seed - 1));
    one.add(row);
    all.add(std::move(one));
  }
  const auto one = verdict(all, "unbiased-gradients");
  EXPECT_EQ(one.state, AssumptionState::undecided);
  EXPECT_THAT(one.remark, testing::HasSubstr("images are augmented"));
}

TEST(AssumptionVerdicts, PoolDeltaUnderAScheduleWithTheDensityOfEachIteration) {
  // (1 - rho) |a|^2 is 0.5 and then 0.9: (0.5 * 0.4 + 0.9 * 0.8)/1.4.
  const auto all = evidence(2, [](std::uint64_t t, auto, Row& row) {
    row.set(Column::density, t % 2 == 0 ? 0.5 : 0.1);
    row.set(Column::delta, t % 2 == 0 ? 0.4 : 0.8);
    row.set(Column::accumulator_norm_sq, 1);
  });
  EXPECT_NEAR(verdict(all, "delta").value.value(), (0.5 * 0.4 + 0.9 * 0.8) / 1.4, 1e-12);
}

TEST(AssumptionVerdicts, SeeTheSingleGapThatAWindowHides) {
  // q = 1/4, M^2 = 8: the bound is 2. A window is two iterations: a gap of 3 beside one of 0.5.
  const auto all = evidence(2, [](std::uint64_t t, auto, Row& row) {
    row.set(Column::gap_norm_sq, t == 50 ? 3.0 : 0.5);
    row.set(Column::contraction, 0.25);
    row.set(Column::mean_grad_norm_sq, 8);
  });
  const auto one = verdict(all, "bounded-residual");
  EXPECT_EQ(one.state, AssumptionState::holds);
  EXPECT_DOUBLE_EQ(one.value.value(), 1.75 / 2);
  EXPECT_EQ(one.every->state, AssumptionState::undecided);
  EXPECT_THAT(one.every->remark, testing::HasSubstr("the bound is one on an expectation"));
  EXPECT_EQ(one.every->violations, 2U);
  EXPECT_DOUBLE_EQ(one.every->worst.value(), 1.5);
  EXPECT_EQ(one.every->worst_iteration, 50U);
}

TEST(AssumptionVerdicts, DoNotHoldLAgainstCurvaturesOfAPartOfTheSamples) {
  const auto with = [](bool curvature_is_of_f, bool differences_are_of_f) {
    RunFacts facts{.dimension = 100};
    facts.objective.smoothness = Known{.value = 2, .origin = "exact"};
    facts.evaluation.curvature_is_of_f = curvature_is_of_f;
    facts.evaluation.differences_are_of_f = differences_are_of_f;
    Evidence all(facts);
    SeedEvidence one(test::kEvidenceRows);
    Row row(0);
    row.set(Column::smoothness_power, 5);
    row.set(Column::smoothness_gap, 1.5);
    one.add(row);
    all.add(std::move(one));
    return all;
  };
  EXPECT_EQ(verdict(with(true, true), "smoothness").state, AssumptionState::fails);
  EXPECT_EQ(verdict(with(false, true), "smoothness").state, AssumptionState::holds);
  EXPECT_EQ(verdict(with(false, true), "smoothness").value, 0.75);
  EXPECT_EQ(verdict(with(false, false), "smoothness").state, AssumptionState::not_measured);
  EXPECT_THAT(verdict(with(false, false), "smoothness").remark,
              testing::HasSubstr("a part of the samples"));
}

// Mean 1.055, standard error 0.02/sqrt 3: t = 4.763. With two degrees of freedom the chance of more
// is (1 - t/sqrt(2 + t^2))/2 = 0.0207.
TEST(AssumptionVerdicts, AreCorrectedForTheirNumber) {
  AssumptionVerdict one = verdict(with_delta({1.035, 1.055, 1.075}), "delta");
  EXPECT_EQ(one.state, AssumptionState::fails);
  EXPECT_NEAR(one.p_value.value(), 0.0207, 1e-4);
  std::vector<AssumptionVerdict> others(9, verdict(with_delta({0.8, 0.9, 1.0}), "delta"));
  std::vector<AssumptionVerdict*> alone{&one};
  control_false_alarms(alone);
  EXPECT_EQ(one.state, AssumptionState::fails);

  std::vector<AssumptionVerdict*> family{&one};
  for (auto& other : others) {
    family.push_back(&other);
  }
  control_false_alarms(family);
  EXPECT_EQ(one.state, AssumptionState::marginal);
  EXPECT_THAT(one.remark, testing::HasSubstr("not among the 10 tests of this study (Holm)"));
}

TEST(AssumptionVerdicts, DoNotJudgeWhatIsNoNumber) {
  const auto overflown =
      verdict(with_delta({0.9, std::numeric_limits<double>::quiet_NaN()}), "delta");
  EXPECT_EQ(overflown.state, AssumptionState::not_measured);
}

TEST(AssumptionVerdicts, CompareTheTailWithTheSquaredClaim) {
  const auto all = evidence(1, [](auto, auto, Row& row) { row.set(Column::tail_ratio, 0.405); });

  EXPECT_DOUBLE_EQ(verdict(all, "tail").value.value(), 0.5);  // of 0.9^2
}

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// delta is 0.5 but infinite at one iteration, of which `residual` is |mean a - g/P|^2 if known.
Evidence once_infinite(const RunFacts& facts, std::optional<double> residual) {
  return evidence(
      4,
      [&](std::uint64_t t, std::size_t /*seed*/, Row& row) {
        row.set(Column::delta, t == 7 ? kInfinite : 0.5);
        row.set(Column::accumulator_norm_sq, t == 7 ? 0 : 1);
        row.set(Column::density, 0.1);
        row.set(Column::lost_mass_norm_sq, 0);
        if (residual) {
          row.set(Column::mean_residual_norm_sq, *residual);
        }
      },
      facts);
}

TEST(AssumptionVerdicts, FailWhereARatioIsInfinite) {
  for (const bool is_random : {false, true}) {
    const RunFacts facts{.dimension = 100, .k = 10, .sparsifier = {.deterministic = !is_random}};
    const auto known = verdict(once_infinite(facts, 0.9), "delta");
    ASSERT_TRUE(known.every);
    EXPECT_EQ(known.every->state, AssumptionState::fails) << "random: " << is_random;
    EXPECT_EQ(known.every->worst, kInfinite);
    EXPECT_EQ(known.every->worst_iteration, 7U);
    // Pooled: (127 * 0.45 + 0.9) / (127 * 0.9).
    EXPECT_EQ(known.state, AssumptionState::holds);
    EXPECT_NEAR(*known.value, (127 * 0.45 + 0.9) / (127 * 0.9), 1e-12);

    const auto unknown = verdict(once_infinite(facts, std::nullopt), "delta");
    EXPECT_EQ(unknown.state, AssumptionState::fails);
    EXPECT_EQ(unknown.value, kInfinite);
    EXPECT_FALSE(unknown.p_value) << "no test is made of an infinite mean";
  }
}

TEST(AssumptionVerdicts, OfTheContractionPoolTheGapThatCameFromNothing) {
  const auto all = evidence(4, [](std::uint64_t t, std::size_t /*seed*/, Row& row) {
    row.set(Column::contraction, t == 7 ? kInfinite : 0.5);
    row.set(Column::gap_norm_sq, 1);
  });
  const auto judged = verdict(all, "contraction");
  ASSERT_TRUE(judged.every);
  EXPECT_EQ(judged.every->state, AssumptionState::fails);
  // 128 over the 127 others' 2.
  EXPECT_NEAR(*judged.value, 128.0 / 254, 1e-12);
}

TEST(AssumptionVerdicts, HoldNothingOfEmptyMessages) {
  Evidence all = with_delta({0.5, 0.6, 0.5, 0.6});
  ASSERT_EQ(verdict(all, "delta").state, AssumptionState::holds);
  ASSERT_EQ(verdict(all, "delta").every->state, AssumptionState::holds);

  all.note_silence(1);

  const auto judged = verdict(all, "delta");
  EXPECT_EQ(judged.state, AssumptionState::undecided);
  EXPECT_EQ(judged.every->state, AssumptionState::undecided);
  EXPECT_THAT(judged.remark, testing::HasSubstr("in 1 of 4 runs a worker never sent an entry"));
}

}  // namespace
}  // namespace residuum
