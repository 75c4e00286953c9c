#include "assumptions/theorems/seed_evidence.h"

#include <gtest/gtest.h>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using test::row_of;

TEST(SeedEvidence, WeighsIterationsByTheirStepSizes) {
  SeedEvidence seed(3);
  seed.add(row_of(0, {{Column::step_size, 1}, {Column::grad_norm_sq, 4}}));
  seed.add(row_of(1, {{Column::step_size, 3}, {Column::grad_norm_sq, 8}}));
  seed.add(row_of(2, {{Column::step_size, 1}, {Column::grad_norm_sq, 100}}));
  const Snapshot last = seed.snapshots().at(2);
  EXPECT_DOUBLE_EQ(*last.step_sum, 4);
  EXPECT_DOUBLE_EQ(*last.step_sq_sum, 10);
  EXPECT_DOUBLE_EQ(*last.step_cube_sum, 28);
  EXPECT_DOUBLE_EQ(last.gradient->value, (1 * 4 + 3 * 8) / 4.0);
  EXPECT_EQ(last.gradient->measured, 2U);
}

TEST(SeedEvidence, LetsAnEvaluatedIterationStandForThoseUntilTheNext) {
  SeedEvidence seed(10);
  for (std::uint64_t t = 0; t < 10; ++t) {
    test::Values values{{Column::step_size, 0.5}};
    if (t == 0 || t == 6) {
      values.emplace_back(Column::grad_norm_sq, t == 0 ? 1 : 4);
    }
    seed.add(row_of(t, values));
  }
  const Snapshot last = seed.snapshots().at(9);
  EXPECT_DOUBLE_EQ(last.gradient->value, (6 * 1 + 3 * 4) / 9.0);
  EXPECT_EQ(last.gradient->measured, 2U);
  EXPECT_EQ(seed.snapshots().at(6).gradient->measured, 1U);  // the look at 6 has not counted yet
}

TEST(SeedEvidence, TakesRunningSumsOfColumnsWhereIterationsAreMissing) {
  SeedEvidence seed(100);
  seed.add(row_of(0, {{Column::step_size, 0.1}, {Column::grad_norm_sq, 2}, {Column::step_sum, 0}}));
  seed.add(row_of(50,
                  {{Column::step_size, 0.05},
                   {Column::grad_norm_sq, 4},
                   {Column::step_sum, 3},
                   {Column::noise_sum, 7},
                   {Column::gap_sum, 11}}));
  seed.add(row_of(99, {{Column::step_size, 0.05}, {Column::step_sum, 5}}));
  const auto snapshots = seed.snapshots();
  EXPECT_EQ(snapshots.at(50).noise_sum, 7);
  EXPECT_EQ(snapshots.at(50).gap_sum, 11);
  EXPECT_DOUBLE_EQ(snapshots.at(99).gradient->value, (3 * 2 + 2 * 4) / 5.0);
  // Between rows the squares take the step before: 50 * 0.1^2, never below the true sum.
  EXPECT_DOUBLE_EQ(*snapshots.at(50).step_sq_sum, 0.5);
  EXPECT_FALSE(snapshots.at(99).noise_sum);
}

TEST(SeedEvidence, DoesNotGuessStepSizesBetweenRowsThatDiffer) {
  SeedEvidence seed(100);
  seed.add(row_of(0, {{Column::step_size, 0.1}, {Column::grad_norm_sq, 2}}));
  seed.add(row_of(50, {{Column::step_size, 0.05}, {Column::grad_norm_sq, 2}}));
  EXPECT_FALSE(seed.snapshots().at(50).step_sum);
  EXPECT_FALSE(seed.snapshots().at(50).gradient);
}

TEST(SeedEvidence, HasNoAverageWhereTheFirstIterationsWereNotSeen) {
  SeedEvidence seed(10);
  seed.add(
      row_of(4, {{Column::step_size, 0.1}, {Column::step_sum, 0.4}, {Column::grad_norm_sq, 2}}));
  seed.add(row_of(9, {{Column::step_size, 0.1}, {Column::step_sum, 0.9}}));
  EXPECT_FALSE(seed.snapshots().at(9).gradient);
  EXPECT_FALSE(seed.measures().initial_loss);
}

TEST(SeedEvidence, KeepsAboutSixtyHorizonsOfAMillionRows) {
  SeedEvidence seed(1'000'000);
  for (std::uint64_t t = 0; t < 1'000'000; ++t) {
    seed.add(row_of(t, {{Column::step_size, 0.1}, {Column::grad_norm_sq, 1}}));
  }
  EXPECT_GE(seed.snapshots().size(), 40U);
  EXPECT_LE(seed.snapshots().size(), 64U);
  EXPECT_EQ(seed.snapshots().rbegin()->first, 999'999U);
  EXPECT_NEAR(seed.snapshots().rbegin()->second.gradient->value, 1, 1e-9);
}

TEST(SeedEvidence, TellsTheLeakByWhatResidualsDoNotAccountFor) {
  SeedEvidence seed(3);
  for (std::uint64_t t = 0; t < 3; ++t) {
    seed.add(row_of(t,
                    {{Column::step_size, 1},
                     {Column::mean_grad_norm_sq, 1},
                     {Column::gap_norm_sq, 4},
                     {Column::mean_residual_norm_sq, 1}}));
  }
  EXPECT_DOUBLE_EQ(seed.snapshots().at(2).leak_share, 0.75);
  // e_0 = 0, e_1: sum over s < 2 of eta |e_s|^2 = 0 + 4.
  EXPECT_DOUBLE_EQ(*seed.snapshots().at(2).gap_sum, 4);
  EXPECT_DOUBLE_EQ(*seed.snapshots().at(2).noise_sum, 2);
}

}  // namespace
}  // namespace residuum
