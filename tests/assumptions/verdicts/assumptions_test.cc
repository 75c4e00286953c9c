// Verdicts on assumptions from rows written by hand.

#include "assumptions/verdicts/assumptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/random/random.h"
#include "tests/assumptions/verdicts/support.h"

namespace residuum {
namespace {

using test::evidence;
using test::Fill;
using test::kEvidenceRows;
using test::verdict;
using test::with_delta;

TEST(AssumptionVerdicts, HoldWhereTheWholeIntervalIsBelowOne) {
  const auto one = verdict(with_delta({0.90, 0.92, 0.94}), "delta");

  EXPECT_EQ(one.state, AssumptionState::holds);
  EXPECT_NEAR(one.value.value(), 0.92, 1e-12);
  // t_{2, 0.975} = 4.302653, s = 0.02, n = 3.
  EXPECT_NEAR(one.interval->high, 0.92 + 4.302653 * 0.02 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(one.worst.value(), 0.94, 1e-12);
  EXPECT_EQ(one.worst_seed, 2U);
}

TEST(AssumptionVerdicts, AreMarginalWhereOneLiesInTheInterval) {
  EXPECT_EQ(verdict(with_delta({0.96, 0.99, 1.02}), "delta").state, AssumptionState::marginal);
}

TEST(AssumptionVerdicts, FailWhereTheWholeIntervalIsAboveOne) {
  EXPECT_EQ(verdict(with_delta({1.20, 1.22, 1.24}), "delta").state, AssumptionState::fails);
}

TEST(AssumptionVerdicts, WeighDeltaByWhatWasAccumulated) {
  // 0.5 of 3 and 2 of 1: (1.5 + 2)/4.
  const auto all = evidence(1, [](std::uint64_t t, auto, Row& row) {
    row.set(Column::delta, t % 2 == 0 ? 0.5 : 2.0);
    row.set(Column::accumulator_norm_sq, t % 2 == 0 ? 3 : 1);
  });

  EXPECT_NEAR(verdict(all, "delta").value.value(), 3.5 / 4, 1e-14);
}

TEST(AssumptionVerdicts, HaveNoIntervalWithOneSeedAndSayWhy) {
  const auto one = verdict(with_delta({0.9}), "delta");

  EXPECT_EQ(one.state, AssumptionState::undecided);
  EXPECT_NEAR(one.value.value(), 0.9, 1e-12);
  EXPECT_FALSE(one.interval.has_value());
  EXPECT_EQ(one.remark, "one seed: no interval");
}

TEST(AssumptionVerdicts, SayWhatIsMissing) {
  const auto all = evidence(2, [](auto, auto, Row&) {});
  const auto one = verdict(all, "delta");

  EXPECT_EQ(one.state, AssumptionState::not_measured);
  EXPECT_FALSE(one.value.has_value());
  EXPECT_EQ(one.remark, "needs the probe 'delta'");
  EXPECT_EQ(verdict(Evidence(RunFacts()), "delta").remark, "no run has finished");
}

TEST(AssumptionVerdicts, TakeAContractionOfOneForNone) {
  const auto all = evidence(2, [](auto, auto, Row& row) {
    row.set(Column::gap_norm_sq, 2);
    row.set(Column::contraction, 1);
    row.set(Column::mean_grad_norm_sq, 1);
  });

  EXPECT_EQ(verdict(all, "contraction").state, AssumptionState::fails);
  EXPECT_EQ(verdict(all, "bounded-residual").state, AssumptionState::not_measured);
  EXPECT_THAT(verdict(all, "bounded-residual").remark, testing::HasSubstr("does not contract"));
}

TEST(AssumptionVerdicts, TakeAGapOfRoundingForNone) {
  // Q is about q where q is small, so that the bound is about q eta^2 M^2 = q/4.
  const auto with_contraction = [](double q) {
    return evidence(2, [q](auto, auto, Row& row) {
      row.set(Column::gap_norm_sq, q / 10);
      row.set(Column::contraction, q);
      row.set(Column::mean_grad_norm_sq, 1);
    });
  };

  for (const char* name : {"contraction", "bounded-residual"}) {
    const auto one = verdict(with_contraction(6.5e-12), name);
    EXPECT_EQ(one.state, AssumptionState::not_measured) << name;
    EXPECT_EQ(one.remark, "nothing is held back: the gap w - z is rounding") << name;
    EXPECT_EQ(verdict(with_contraction(1e-6), name).state, AssumptionState::holds) << name;
  }
}

// A step that falls to 0 leaves the gap of float32 and takes away what it is held against.
TEST(AssumptionVerdicts, TakeTheGapOfAMethodThatHoldsNothingBackForNone) {
  RunFacts dense;
  dense.sparsifier.contraction = 1;
  const auto with_contraction = [](RunFacts method) {
    return evidence(
        2,
        [](auto, auto, Row& row) {
          row.set(Column::gap_norm_sq, 1);
          row.set(Column::contraction, 1.01);
        },
        std::move(method));
  };

  const auto one = verdict(with_contraction(dense), "contraction");
  EXPECT_EQ(one.state, AssumptionState::not_measured);
  EXPECT_EQ(one.remark, "nothing is held back: the gap w - z is rounding");
  RunFacts cut = dense;
  cut.aggregator.applies_whole_messages = false;
  EXPECT_EQ(verdict(with_contraction(cut), "contraction").state, AssumptionState::fails);
  RunFacts quantised = dense;
  quantised.sparsifier.contraction = std::nullopt;
  EXPECT_EQ(verdict(with_contraction(quantised), "contraction").state, AssumptionState::fails);
}

TEST(AssumptionVerdicts, CompareTheGapWithItsBound) {
  // q = 1/4: Q = (1/4)/(1/2)^2 = 1; eta^2 M^2 = 1/4 * 8 = 2.
  const auto with_gap = [](double gap) {
    return evidence(2, [gap](auto, auto, Row& row) {
      row.set(Column::gap_norm_sq, gap);
      row.set(Column::contraction, 0.25);
      row.set(Column::mean_grad_norm_sq, 8);
    });
  };

  EXPECT_DOUBLE_EQ(verdict(with_gap(1), "bounded-residual").value.value(), 0.5);
  EXPECT_EQ(verdict(with_gap(1), "bounded-residual").state, AssumptionState::holds);
  EXPECT_EQ(verdict(with_gap(3), "bounded-residual").state, AssumptionState::fails);
}

TEST(WorkerResidualBound, IsMadeOfTheContractionAndTheGradientsOfWorkers) {
  // q = 2/8: Q = (1/4)/(1/2)^2 = 1; eta^2 G^2 = 1/4 * 12 = 3.
  const auto with_residual = [](double residual, double momentum) {
    return evidence(
        2,
        [residual](auto, auto, Row& row) {
          row.set(Column::residual_norm_sq, residual);
          row.set(Column::worker_accumulator_norm_sq, 8);
          row.set(Column::worker_grad_norm_sq, 12);
        },
        std::nullopt,
        momentum);
  };

  EXPECT_DOUBLE_EQ(worker_residual_bound(with_residual(2, 0)).value(), 3);
  EXPECT_FALSE(worker_residual_bound(with_residual(2, 0.9))) << "velocities accumulate";
  EXPECT_FALSE(worker_residual_bound(with_residual(8, 0))) << "nothing contracts";
  EXPECT_FALSE(worker_residual_bound(with_residual(0, 0))) << "nothing is held back";
  EXPECT_FALSE(worker_residual_bound(evidence(2, [](auto, auto, Row&) {}))) << "not measured";
}

TEST(WorkerResidualBound, TakesTheWorstWindowOfTheGradients) {
  // The bound is about every iteration: windows of two rows have mean gradients of 12, and one
  // of 48.
  const auto all = evidence(1, [](std::uint64_t t, auto, Row& row) {
    row.set(Column::residual_norm_sq, 2);
    row.set(Column::worker_accumulator_norm_sq, 8);
    row.set(Column::worker_grad_norm_sq, t == 6 || t == 7 ? 48 : 12);
  });

  EXPECT_DOUBLE_EQ(worker_residual_bound(all).value(), 12);
}

TEST(AssumptionVerdicts, DoNotCompareTheGapOfVelocitiesWithABoundOfGradients) {
  const auto all = evidence(
      2,
      [](auto, auto, Row& row) {
        row.set(Column::gap_norm_sq, 3);
        row.set(Column::contraction, 0.25);
        row.set(Column::mean_grad_norm_sq, 8);
      },
      std::nullopt,
      0.9);

  EXPECT_EQ(verdict(all, "bounded-residual").state, AssumptionState::not_measured);
  EXPECT_THAT(verdict(all, "bounded-residual").remark, testing::HasSubstr("with momentum"));
}

TEST(AssumptionVerdicts, CompareWorkersWithRandomSelections) {
  const auto all = evidence(1, [](auto, auto, Row& row) {
    row.set(Column::residual_norm_sq, 0.45);
    row.set(Column::worker_accumulator_norm_sq, 1);
  });

  // Rows that do not say their density are of runs with the one of the facts.
  EXPECT_NEAR(verdict(all, "worker-contraction").value.value(), 0.5, 1e-12);  // of 1 - 10/100
}

TEST(AssumptionVerdicts, CompareMeasuredWithKnownSmoothness) {
  const Fill fill = [](auto, std::size_t seed, Row& row) {
    row.set(Column::smoothness_gap, 3.0 + static_cast<double>(seed));
  };
  const auto unknown = verdict(evidence(2, fill), "smoothness");
  EXPECT_EQ(unknown.state, AssumptionState::not_measured);
  EXPECT_THAT(unknown.remark, testing::HasSubstr("largest that the runs met is 4"));

  const auto known =
      verdict(evidence(2, fill, Known{.value = 100, .origin = "exact"}), "smoothness");
  EXPECT_EQ(known.state, AssumptionState::holds);
  EXPECT_DOUBLE_EQ(known.worst.value(), 0.04);
}

TEST(AssumptionVerdicts, SeeMomentsThatGrow) {
  const auto with_growth = [](double end) {
    return evidence(2, [end](std::uint64_t t, std::size_t seed, Row& row) {
      const double moment = t >= kEvidenceRows * 3 / 4 ? end : 2;
      row.set(Column::mean_grad_norm_sq, moment + 1e-3 * static_cast<double>(seed));
    });
  };

  EXPECT_EQ(verdict(with_growth(5), "bounded-moment").state, AssumptionState::fails);
  const auto fine = verdict(with_growth(1), "bounded-moment");
  EXPECT_EQ(fine.state, AssumptionState::holds);
  EXPECT_NEAR(fine.value.value(), 0.5, 1e-3);
  EXPECT_THAT(fine.remark, testing::HasSubstr("M^2 = 2"));
}

/// The share of studies in which `bounded-moment` says "grew" of what does not: quarter means with
/// a lognormal factor of their own in each seed, of the coefficient of variation `cv`.
double share_of_false_growth(std::size_t seeds, double cv) {
  constexpr std::size_t kStudies = 200;
  const double sigma = std::sqrt(std::log(1 + cv * cv));
  std::size_t count = 0;
  for (std::uint32_t study = 0; study < kStudies; ++study) {
    RandomStream draws(study, Purpose::test, 1, 0);
    std::vector<std::array<double, 4>> quarters(seeds);
    for (auto& seed : quarters) {
      for (double& one : seed) {
        one = std::exp(sigma * draws.normal());
      }
    }
    const auto all = evidence(seeds, [&](std::uint64_t t, std::size_t seed, Row& row) {
      row.set(Column::mean_grad_norm_sq, quarters[seed].at(t * 4 / kEvidenceRows));
    });
    count += verdict(all, "bounded-moment").state == AssumptionState::fails ? 1 : 0;
  }
  return static_cast<double>(count) / kStudies;
}

// The mean of the seeds' own ratios is above one without growth, which many seeds would see.
TEST(AssumptionVerdicts, SeeNoGrowthInManySeedsThatDoNotGrow) {
  EXPECT_LE(share_of_false_growth(60, 0.5), 0.055);  // 2.5 % and two standard errors
  EXPECT_LE(share_of_false_growth(24, 0.7), 0.055);
}

TEST(AssumptionVerdicts, SeeGrowthBeforeTheLastQuarterToo) {
  const auto with = [](std::array<double, 4> quarters) {
    return verdict(evidence(5,
                            [quarters](std::uint64_t t, std::size_t seed, Row& row) {
                              row.set(Column::mean_grad_norm_sq,
                                      quarters.at(t * 4 / kEvidenceRows) *
                                          (1 + 1e-3 * static_cast<double>(seed)));
                            }),
                   "bounded-moment");
  };
  EXPECT_EQ(with({29.9, 1525, 6225, 6224}).state, AssumptionState::fails) << "it stays where it is";
  EXPECT_EQ(with({1, 1.1, 1.2, 1.3}).state, AssumptionState::fails);
  EXPECT_EQ(with({1, 1.02, 1.01, 1}).state, AssumptionState::holds);
}

/// The share of 300 studies of five seeds in which `bounded-moment` gets `state`, with |mean G|^2 a
/// mean of 10 squares of normal draws, times `growth` to the power of t/T.
double share_of_growth(AssumptionState state, double growth) {
  constexpr std::size_t kStudies = 300;
  std::size_t count = 0;
  for (std::uint32_t study = 0; study < kStudies; ++study) {
    RandomStream draws(study, Purpose::test, 0, 0);
    const auto all = evidence(5, [&](std::uint64_t t, auto, Row& row) {
      double moment = 0;
      for (int i = 0; i < 10; ++i) {
        const double x = draws.normal();
        moment += x * x / 10;
      }
      const double place = static_cast<double>(t) / kEvidenceRows;
      row.set(Column::mean_grad_norm_sq, moment * std::pow(growth, place));
    });
    count += verdict(all, "bounded-moment").state == state ? 1 : 0;
  }
  return static_cast<double>(count) / kStudies;
}

TEST(AssumptionVerdicts, SeeMomentsThatGrowWithTheStatedPower) {
  EXPECT_GE(share_of_growth(AssumptionState::fails, 4), 0.95);
  EXPECT_EQ(share_of_growth(AssumptionState::holds, 4), 0);
  EXPECT_LE(share_of_growth(AssumptionState::holds, 2), 0.05);
  EXPECT_LE(share_of_growth(AssumptionState::fails, 1), 0.043);  // 2.5 % and two standard errors
  // Runs as short as these leave the rest of the studies without growth undecided.
  EXPECT_GE(share_of_growth(AssumptionState::holds, 1), 0.4);
}

// Quarters of a real run, which was said not to grow by its noisiest window.
TEST(AssumptionVerdicts, SeeAMomentThatGrewThreefoldOverTheQuarters) {
  const auto all = evidence(5, [](std::uint64_t t, std::size_t seed, Row& row) {
    const std::array<double, 4> quarters{6.6, 10.5, 12.9, 19.8};
    const double spike = t == 40 ? 30 : 0;
    const double own = 0.2 * static_cast<double>(seed);
    row.set(Column::mean_grad_norm_sq, quarters.at(t * 4 / kEvidenceRows) + own + spike);
  });
  const auto one = verdict(all, "bounded-moment");
  EXPECT_EQ(one.state, AssumptionState::fails);
  // The spike is one of 96 rows before the last quarter.
  EXPECT_NEAR(one.value.value(), 20.2 / (10.4 + 30.0 / 96), 1e-9);
}

TEST(AssumptionVerdicts, AreMarginalWhereAQuarterOfTheRunDoesNotHold) {
  // Pooled by energy: (100 * 0.9 + 3 * 1.05)/103; three quarters of four are above one.
  const auto with_last = [](double last) {
    return evidence(3, [last](std::uint64_t t, std::size_t seed, Row& row) {
      const bool early = t < kEvidenceRows / 4;
      const double own = 1e-3 * static_cast<double>(seed);
      row.set(Column::delta, (early ? 0.9 : last) + own);
      row.set(Column::accumulator_norm_sq, early ? 100 : 1);
    });
  };
  const auto one = verdict(with_last(1.05), "delta");
  EXPECT_NEAR(one.value.value(), (100 * 0.9 + 3 * 1.05) / 103 + 1e-3, 1e-9);
  EXPECT_EQ(one.state, AssumptionState::marginal);
  EXPECT_NEAR(one.largest_quarter->value, 1.051, 1e-9);
  EXPECT_THAT(one.remark, testing::HasSubstr("holds over the run, not in its quarter 2: 1.051"));
  EXPECT_EQ(verdict(with_last(0.95), "delta").state, AssumptionState::holds);
}

TEST(AssumptionVerdicts, PoolTheGapOverTheSeedsBeforeTheLargestWindowIsTaken) {
  // The bound is 2. Each seed is above it in a window of its own, no window is so over all seeds.
  const auto all = evidence(60, [](std::uint64_t t, std::size_t seed, Row& row) {
    row.set(Column::gap_norm_sq, t / 2 == seed ? 3.0 : 0.5);
    row.set(Column::contraction, 0.25);
    row.set(Column::mean_grad_norm_sq, 8);
  });
  const auto one = verdict(all, "bounded-residual");
  EXPECT_EQ(one.state, AssumptionState::holds);
  EXPECT_NEAR(one.value.value(), (0.5 * 59 + 3) / 60 / 2, 1e-12);
}

/// Ratios of half batches of the given seeds, for two workers.
Evidence with_half_batches(const std::vector<double>& by_seed, const RunFacts& method) {
  Evidence all(method);
  for (const double ratio : by_seed) {
    SeedEvidence one(kEvidenceRows);
    Row row(0);
    row.set(Column::half_batch_bias, ratio);
    one.add(row);
    all.add(std::move(one));
  }
  return all;
}

TEST(AssumptionVerdicts, FailIndependenceWhereOneIsOutsideTheInterval) {
  const RunFacts two{.workers = 2};
  const auto state = [&](const std::vector<double>& by_seed) {
    return verdict(with_half_batches(by_seed, two), "independence").state;
  };
  EXPECT_EQ(state({0.9, 1.0, 1.1}), AssumptionState::holds);
  EXPECT_EQ(state({3.0, 3.01, 3.02}), AssumptionState::fails);
  EXPECT_EQ(state({0.30, 0.31, 0.32}), AssumptionState::fails);  // halves that depend on each other
  EXPECT_EQ(state({1.001}), AssumptionState::undecided);
}

TEST(AssumptionVerdicts, DoNotJudgeIndependenceWhereHalfBatchesCannotShowIt) {
  const RunFacts one{.workers = 1};
  EXPECT_EQ(verdict(with_half_batches({1, 1}, one), "independence").state,
            AssumptionState::not_measured);
  const RunFacts shuffled{.workers = 4, .gradients = {.independent_draws = false}};
  EXPECT_EQ(verdict(with_half_batches({1, 1}, shuffled), "independence").state,
            AssumptionState::not_measured);
}

TEST(AssumptionVerdicts, FindABiasThatAllHalvesShare) {
  // Gradients off by half of grad f: the halves agree with each other as they should.
  const auto biased = [](double bias) {
    return evidence(3, [bias](auto, std::size_t seed, Row& row) {
      row.set(Column::half_batch_bias, 1 + 0.01 * (static_cast<double>(seed) - 1));
      row.set(Column::gradient_bias, bias + 0.01 * (static_cast<double>(seed) - 1));
    });
  };
  EXPECT_EQ(verdict(biased(0.5), "unbiased-gradients").state, AssumptionState::fails);
  EXPECT_EQ(verdict(biased(-0.5), "unbiased-gradients").state, AssumptionState::fails);
  EXPECT_EQ(verdict(biased(0.004), "unbiased-gradients").state, AssumptionState::holds);
  EXPECT_NEAR(verdict(biased(0.5), "unbiased-gradients").value.value(), 0.5, 1e-12);
}

TEST(AssumptionVerdicts, HoldNothingOfARunThatDivergedOrFailed) {
  const auto judged = [](double delta, const std::function<void(Evidence & all)>& change) {
    Evidence all = test::with_delta({delta, delta + 1e-3});
    change(all);
    return verdict(all, "delta");
  };
  const auto nothing = [](Evidence& /*all*/) {};
  const auto fails = [](Evidence& all) { all.miss(1); };
  const auto diverges = [](Evidence& all) {
    SeedEvidence seed = all.seeds().front();
    seed.end_early(test::kEvidenceRows);
    all.add(std::move(seed));
  };
  EXPECT_EQ(judged(0.5, nothing).state, AssumptionState::holds);
  EXPECT_EQ(judged(0.5, nothing).every->state, AssumptionState::holds);
  for (const auto& change : {std::function<void(Evidence&)>(fails), {diverges}}) {
    const auto one = judged(0.5, change);
    EXPECT_EQ(one.state, AssumptionState::undecided);
    EXPECT_EQ(one.every->state, AssumptionState::undecided);
    EXPECT_THAT(one.remark, testing::HasSubstr("1 of 3 runs diverged, failed or were cut"));
    EXPECT_EQ(judged(1.5, change).state, AssumptionState::fails) << "what was seen was seen";
  }
}

TEST(AssumptionVerdicts, TakeRunsOfWhichNothingIsRandomForOne) {
  Evidence all(RunFacts{.dimension = 100, .k = 10, .deterministic = true});
  for (int i = 0; i < 5; ++i) {
    SeedEvidence one(1);
    Row row(0);
    row.set(Column::density, 0.1);
    row.set(Column::delta, 1.5);
    row.set(Column::accumulator_norm_sq, 1);
    one.add(row);
    all.add(std::move(one));
  }
  const auto one = verdict(all, "delta");
  EXPECT_EQ(one.state, AssumptionState::fails);
  EXPECT_EQ(one.seeds, 1U);
  EXPECT_FALSE(one.interval);
  EXPECT_FALSE(one.p_value);
}

TEST(AssumptionVerdicts, AreDecidedByOneSeedWhereNothingIsRandom) {
  const auto with = [](std::uint64_t rows) {
    Evidence all(RunFacts{.deterministic = true});
    SeedEvidence one(rows);
    Row row(0);
    row.set(Column::density, 0.1);
    row.set(Column::delta, 1.5);
    row.set(Column::accumulator_norm_sq, 1);
    one.add(row);
    all.add(std::move(one));
    return all;
  };

  EXPECT_EQ(verdict(with(1), "delta").state, AssumptionState::fails);
  const auto sampled = verdict(with(100), "delta");
  EXPECT_EQ(sampled.state, AssumptionState::undecided) << "one row of a hundred iterations";
  EXPECT_THAT(sampled.remark, testing::HasSubstr("rows at 1 of 100 iterations"));
  EXPECT_THAT(sampled.remark, testing::HasSubstr("set probes.every to 1"));
}

}  // namespace
}  // namespace residuum
