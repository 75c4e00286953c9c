// Runs with a quantiser, seen by all probes: hard invariants hold in both precisions, and the
// measurements of the compressor are of the decoded messages.

#include <gtest/gtest.h>

#include <string>

#include "tests/assumptions/support.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Recipe;

TEST(QuantisedRuns, KeepTheirHardInvariants) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (Recipe recipe : test::quantised_methods()) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      for (const int workers : {1, 4}) {
        recipe.precision = precision;
        recipe.workers = workers;
        recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
        recipe.iterations = 40;
        SCOPED_TRACE(test::name_of(recipe) + ", P = " + std::to_string(workers));
        const auto run = test::measure(objective, recipe);
        for (const auto& row : run.rows) {
          for (const auto& check : row.checks) {
            ASSERT_TRUE(check.holds || !check.hard || !check.expected)
                << check.name << " at iteration " << check.iteration << ": " << check.lhs
                << " against " << check.rhs;
          }
          if (precision == Precision::float64 && row.check("conservation").expected) {
            ASSERT_EQ(row[Column::lost_mass_norm_sq], 0);
          }
        }
      }
    }
  }
}

TEST(QuantisedRuns, LoseWhatIsNotDecodedWithoutFeedback) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const auto run = test::measure(objective,
                                 {.aggregator = {{"kind", "allgather"}},
                                  .feedback = {{"kind", "none"}},
                                  .workers = 4,
                                  .iterations = 10,
                                  .quantiser = {{"kind", "sign"}}});
  EXPECT_FALSE(run.rows.front().check("conservation").expected);
  EXPECT_EQ(run.summary.checks.at("lost-mass").failures, 10);
}

/// a = (3, -1, 2, 2) is sent as (2, -2, 2, 2): |C(a)|^2 = <C(a), a> = 16 of |a|^2 = 18, and e = (1,
/// 1, 0, 0) has |e|^2 = 2.
TEST(QuantisedRuns, AreMeasuredByWhatWasSent) {
  const auto objective = test::constant_gradient({0, 0, 0, 0}, {3, -1, 2, 2});
  const auto run = test::measure(objective,
                                 {.aggregator = {{"kind", "allgather"}},
                                  .step = {{"value", 1}},
                                  .workers = 2,
                                  .quantiser = {{"kind", "sign"}}});
  const auto& row = run.rows.front();
  EXPECT_DOUBLE_EQ(row[Column::contraction], 2.0 / 18);
  EXPECT_DOUBLE_EQ(row[Column::compressor_alpha], 16.0 / 18);
  EXPECT_DOUBLE_EQ(row[Column::compressor_beta], 1);
  EXPECT_DOUBLE_EQ(row[Column::compressor_delta], 18.0 / 16);
  EXPECT_DOUBLE_EQ(row[Column::residual_norm_sq], 2);
  EXPECT_EQ(row[Column::uplink_bytes], 2 * (8 + 1)) << "a float64 scale and four bits";
}

}  // namespace
}  // namespace residuum
