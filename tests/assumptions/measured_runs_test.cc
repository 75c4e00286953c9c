// Whole runs seen by all probes: hard invariants hold wherever the method claims them, in both
// precisions, and the methods that lose are seen to.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/assumptions/support.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

void expect_hard_checks(const test::MeasuredRun& run) {
  for (const auto& row : run.rows) {
    for (const auto& check : row.checks) {
      if (check.hard && check.expected) {
        ASSERT_TRUE(check.holds) << check.name << " at iteration " << check.iteration << ": "
                                 << check.lhs << " against " << check.rhs;
      }
    }
  }
}

template <class Check>
void for_every_run(Check check) {
  for (Recipe recipe : test::methods()) {
    for (const char* units : {"step", "gradient"}) {
      for (const double momentum : {0.0, 0.9}) {
        for (const int workers : {1, 2, 7, 8}) {
          recipe.feedback["units"] = units;
          recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
          recipe.momentum = momentum;
          recipe.workers = workers;
          recipe.iterations = 40;
          SCOPED_TRACE(test::name_of(recipe) + ", momentum " + std::to_string(momentum) +
                       ", P = " + std::to_string(workers));
          check(recipe);
        }
      }
    }
  }
}

/// The columns that any row of the run has.
std::set<Column> filled(const test::MeasuredRun& run) {
  std::set<Column> columns;
  for (const auto& row : run.rows) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (row.has(static_cast<Column>(i))) {
        columns.insert(static_cast<Column>(i));
      }
    }
  }
  return columns;
}

TEST(MeasuredRuns, HaveOfEachProbeTheColumnsThatItNames) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (Recipe recipe : test::methods()) {
    recipe.workers = 4;
    recipe.iterations = 40;
    SCOPED_TRACE(test::name_of(recipe));
    const auto without = filled(test::measure(objective, recipe, {}));
    for (const auto& probe : probes()) {
      const auto named = probe.make(example_section("probes", probe))->columns();
      EXPECT_FALSE(named.empty()) << probe.name;
      for (const Column column :
           filled(test::measure(objective, recipe, {std::string(probe.name)}))) {
        EXPECT_TRUE(without.count(column) > 0 ||
                    std::find(named.begin(), named.end(), column) != named.end())
            << probe.name << " fills in " << kColumns[static_cast<std::size_t>(column)].name;
      }
    }
  }
}

TEST(MeasuredRuns, HaveEveryColumnThatAProbeNamesFromItAlone) {
  std::map<Column, std::string_view> owner;
  for (const auto& probe : probes()) {
    for (const Column column : probe.make(example_section("probes", probe))->columns()) {
      const auto [place, is_new] = owner.emplace(column, probe.name);
      EXPECT_TRUE(is_new) << kColumns[static_cast<std::size_t>(column)].name << ": "
                          << place->second << " and " << probe.name;
    }
  }
}

TEST(MeasuredRuns, KeepTheirHardInvariantsInFloat64AndConserveToTwelveDigits) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for_every_run([&](const Recipe& recipe) {
    const auto run = test::measure(objective, recipe);
    expect_hard_checks(run);
    for (const auto& row : run.rows) {
      if (row.check("conservation").expected) {
        ASSERT_LE(row[Column::conservation_defect], 1e-12);
        ASSERT_EQ(row[Column::lost_mass_norm_sq], 0);
      }
    }
  });
}

TEST(MeasuredRuns, KeepTheirHardInvariantsInFloat32) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for_every_run([&](Recipe recipe) {
    recipe.precision = Precision::float32;
    expect_hard_checks(test::measure(objective, recipe));
  });
}

TEST(MeasuredRuns, OfMethodsThatLoseShowLostMassAndABrokenGap) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for_every_run([&](const Recipe& recipe) {
    const auto run = test::measure(objective, recipe);
    const auto& lost = run.summary.checks.at("lost-mass");
    const auto& gap = run.summary.checks.at("conservation");
    EXPECT_EQ(lost.expected, gap.expected);
    if (recipe.workers >= 7 && !gap.expected) {
      EXPECT_GT(lost.failures, 0U);
      EXPECT_GT(gap.failures, 0U);
    }
  });
}

TEST(MeasuredRuns, StayCleanOverManyIterationsInFloat32) {
  // Rounding adds up; the bound must grow with it.
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const auto& aggregator : test::list_aggregator_names()) {
    const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                        .aggregator = {{"kind", aggregator}},
                        .step = {{"value", 0.05}},
                        .momentum = 0.5,
                        .workers = 4,
                        .iterations = 5000,
                        .precision = Precision::float32,
                        .measured = 10};
    SCOPED_TRACE(aggregator);
    expect_hard_checks(test::measure(objective, recipe));
  }
}

TEST(MeasuredRuns, OfLowRankKeepTheirHardInvariants) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const Json& feedback : {Json{{"kind", "ef14"}},
                               Json{{"kind", "ef14"}, {"units", "gradient"}},
                               Json{{"kind", "ef21"}},
                               Json{{"kind", "dgc"}, {"masking", false}},
                               Json{{"kind", "none"}}}) {
    for (const auto precision : {Precision::float32, Precision::float64}) {
      for (const int workers : {1, 2, 3, 4, 7}) {
        const Recipe recipe{.aggregator = {{"kind", "powersgd"}, {"rank", 1}},
                            .feedback = feedback,
                            .step = {{"value", 0.05}},
                            .workers = workers,
                            .iterations = 1000,
                            .precision = precision,
                            .measured = 10};
        SCOPED_TRACE(feedback.dump() + ", P = " + std::to_string(workers));
        expect_hard_checks(test::measure(objective, recipe));
      }
    }
  }
}

TEST(MeasuredRuns, OfSketchedRowsKeepTheirHardInvariants) {
  const auto objective = test::noisy_quadratic(27, 0.5, test::matrix_and_bias());
  for (const Json& feedback :
       {Json{{"kind", "ef14"}}, Json{{"kind", "ef21"}}, Json{{"kind", "none"}}}) {
    for (const int workers : {1, 3, 4}) {
      const Recipe recipe{.aggregator = {{"kind", "arc-top-k"}, {"rank", 1}, {"density", 0.34}},
                          .feedback = feedback,
                          .step = {{"value", 0.05}},
                          .workers = workers,
                          .iterations = 300,
                          .precision = Precision::float32,
                          .measured = 10};
      SCOPED_TRACE(feedback.dump() + ", P = " + std::to_string(workers));
      expect_hard_checks(test::measure(objective, recipe));
    }
  }
}

TEST(MeasuredRuns, StayCleanWhereMessagesAreManyTimesTheAccumulator) {
  // d/k = 100: the message and the residual are far larger than a, and so is their rounding.
  const auto objective = test::noisy_quadratic(200, 0.5);
  for (const char* mask : {"shared", "per-worker"}) {
    for (const char* kind : {"ef14", "ef21"}) {
      for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        const Recipe recipe{
            .sparsifier = {{"kind", "rand-k"}, {"k", 2}, {"scaled", true}, {"mask", mask}},
            .aggregator = {{"kind", "allgather"}},
            .feedback = {{"kind", kind}},
            .step = {{"value", 0.001}},
            .workers = 4,
            .iterations = 60,
            .precision = Precision::float32,
            .seed = seed};
        SCOPED_TRACE(std::string(mask) + ", " + kind);
        expect_hard_checks(test::measure(objective, recipe));
      }
    }
  }
}

/// f_p = |w - c_p|^2 / 2 without noise, the centres around 1000: runs converge until only rounding
/// moves them.
test::TinyObjective far_valley() {
  return {std::vector<double>(6, 999.0),
          [](const Draw& draw, std::span<const double> w, std::span<double> g) {
            RandomStream centres(7, Purpose::test, static_cast<std::uint32_t>(draw.worker), 0);
            for (std::size_t j = 0; j < g.size(); ++j) {
              g[j] = w[j] - (draw.worker % 2 == 0 ? 1000.3 : 1000.7 + 1e-3 * centres.normal());
            }
          }};
}

TEST(MeasuredRuns, KeepTheirHardInvariantsWhenConverged) {
  for (Recipe recipe : test::methods()) {
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      recipe.step = {{"value", 0.1}};
      recipe.workers = 4;
      recipe.iterations = 3000;
      recipe.precision = precision;
      SCOPED_TRACE(test::name_of(recipe));
      expect_hard_checks(test::measure(far_valley(), recipe));
    }
  }
}

TEST(MeasuredRuns, OfOneValleyConvergeToRoundingAndKeepTheirHardInvariants) {
  // All workers agree: the gap itself falls to the size of the model's roundings.
  const test::TinyObjective objective(
      std::vector<double>(6, 999.0),
      [](const Draw&, std::span<const double> w, std::span<double> g) {
        for (std::size_t j = 0; j < g.size(); ++j) {
          g[j] = w[j] - 1000.3 - 0.1 * static_cast<double>(j);
        }
      });
  for (Recipe recipe : test::methods()) {
    for (const double momentum : {0.0, 0.5}) {
      for (const int every : {1, 7}) {
        recipe.step = {{"value", 0.1}};
        recipe.momentum = momentum;
        recipe.workers = 3;
        recipe.iterations = 1000;
        recipe.measured = every;
        SCOPED_TRACE(test::name_of(recipe) + ", every " + std::to_string(every));
        expect_hard_checks(test::measure(objective, recipe));
      }
    }
  }
}

TEST(MeasuredRuns, OfWholeAccumulatorsWithZerosKeepTheirByteCounts) {
  // A feature that no sample has: its gradient is exactly zero.
  const test::TinyObjective objective(
      std::vector<double>(4), [](const Draw&, std::span<const double> w, std::span<double> g) {
        for (std::size_t j = 0; j < g.size(); ++j) {
          g[j] = j == 2 ? 0 : w[j] - 1;
        }
      });
  for (const auto& entry : aggregators()) {
    const Recipe recipe{.sparsifier = {{"kind", "none"}},
                        .aggregator = {{"kind", std::string(entry.name)}},
                        .workers = 3,
                        .iterations = 3};
    SCOPED_TRACE(entry.name);
    expect_hard_checks(test::measure(objective, recipe));
  }
}

TEST(MeasuredRuns, MeasureTheSameWhateverElseIsMeasured) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                .aggregator = {{"kind", "gtopk-tree"}},
                .momentum = 0.5,
                .workers = 5,
                .iterations = 20};
  const auto all = test::measure(objective, recipe);
  recipe.measured = 5;
  const auto some = test::measure(objective, recipe);

  ASSERT_EQ(some.rows.size(), 5U);
  for (const auto& row : some.rows) {
    const auto& same = all.rows[row.row.iteration()];
    for (const Column column : {Column::delta,
                                Column::contraction,
                                Column::gap_norm_sq,
                                Column::residual_norm_sq,
                                Column::total_error,
                                Column::xi,
                                Column::conservation_defect,
                                Column::uplink_bytes}) {
      EXPECT_EQ(row.row.get(column), same.row.get(column)) << row.row.iteration();
    }
  }
}

TEST(MeasuredRuns, OfGradientUnitsHaveTheRatiosOfStepUnitsAtAConstantStep) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                .aggregator = {{"kind", "gtopk-tree"}},
                .step = {{"value", 0.125}},
                .workers = 5,
                .iterations = 20};
  const auto in_steps = test::measure(objective, recipe);
  recipe.feedback = {{"kind", "ef14"}, {"units", "gradient"}};
  const auto in_gradients = test::measure(objective, recipe);

  for (std::size_t t = 0; t < 20; ++t) {
    for (const Column column :
         {Column::delta, Column::contraction, Column::xi, Column::captured_energy}) {
      EXPECT_NEAR(in_steps.rows[t][column], in_gradients.rows[t][column], 1e-12);
    }
  }
}

/// Returns |l_t|^2 of three iterations with eta = 1, Top-1 and these gradients of the workers.
std::vector<double> lost_mass(const std::vector<std::vector<double>>& gradients,
                              const Json& aggregator,
                              const Json& feedback) {
  const test::TinyObjective objective(
      std::vector<double>(gradients.front().size()),
      [&](const Draw& draw, std::span<const double> /*w*/, std::span<double> g) {
        const auto& own = gradients[static_cast<std::size_t>(draw.worker)];
        std::copy(own.begin(), own.end(), g.begin());
      });
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                .aggregator = aggregator,
                .feedback = feedback,
                .step = {{"value", 1}}};
  recipe.workers = static_cast<int>(gradients.size());
  recipe.iterations = 3;
  std::vector<double> lost;
  for (const auto& row : test::measure(objective, recipe).rows) {
    EXPECT_FALSE(row.check("lost-mass").expected);
    lost.push_back(row[Column::lost_mass_norm_sq]);
  }
  return lost;
}

// a = (4, 2), (4, 3), (4, 3.5): the first entry is sent, and half of the second fades.
TEST(MeasuredRuns, LoseWhatFadesByDesign) {
  EXPECT_EQ(lost_mass({{4, 2}}, {{"kind", "allgather"}}, {{"kind", "ef14"}, {"decay", 0.5}}),
            (std::vector<double>{1, 1.5 * 1.5, 1.75 * 1.75}));
}

TEST(MeasuredRuns, OfGradientEstimatesMayBeginWithAStepOfZero) {
  for (const char* feedback : {"ef21", "ef21-sgdm", "econtrol"}) {
    Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 3}},
                  .aggregator = {{"kind", "allgather"}},
                  .feedback = {{"kind", feedback}},
                  .step = {{"value", 0.1}, {"warmup", 4}, {"warmup_from", 0}}};
    recipe.step["unit"] = "iterations";
    recipe.workers = 3;
    recipe.iterations = 12;
    const auto run = test::measure(test::noisy_quadratic(12, 0.5), recipe);
    ASSERT_EQ(run.rows.front()[Column::step_size], 0);
    for (const auto& row : run.rows) {
      for (const auto& check : row.checks) {
        EXPECT_TRUE(check.holds || !check.hard || !check.expected)
            << feedback << ", " << check.name << " at " << check.iteration;
      }
    }
  }
}

/// The check of the mass lost beside the decay, over all iterations of a run.
Json rest_of_lost_mass(const Json& aggregator, const Json& feedback, Precision precision) {
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 3}},
                .aggregator = aggregator,
                .feedback = feedback,
                .step = {{"rule", "inv-sqrt"}, {"value", 0.2}}};
  recipe.workers = 5;
  recipe.iterations = 40;
  recipe.precision = precision;
  const auto run = test::measure(test::noisy_quadratic(40, 0.5), recipe);
  const auto& check = run.summary.checks.at("lost-mass-but-for-decay");
  return {{"failures", check.failures},
          {"expected", run.rows.front().check("lost-mass-but-for-decay").expected}};
}

TEST(MeasuredRuns, LoseNothingButWhatFadesUnlessMoreIsLostByDesign) {
  const Json fading{{"kind", "ef14"}, {"decay", 0.9}};
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    for (const char* aggregator : {"allgather", "gtopk-tree", "gtopk-exact"}) {
      EXPECT_EQ(rest_of_lost_mass({{"kind", aggregator}}, fading, precision),
                (Json{{"failures", 0}, {"expected", true}}))
          << aggregator;
    }
    const Json published{{"kind", "ef14"}, {"decay", 0.9}, {"putback", "published"}};
    const auto leaking = rest_of_lost_mass({{"kind", "gtopk-tree"}}, published, precision);
    EXPECT_FALSE(leaking["expected"]);
    EXPECT_GT(leaking["failures"], 0);
    const auto weighed =
        rest_of_lost_mass({{"kind", "allgather"}, {"weighting", "senders"}}, fading, precision);
    EXPECT_FALSE(weighed["expected"]);
    EXPECT_EQ(weighed["failures"], 40);
  }
}

// The workers clear (4, 0) and (0, 5); one of two has sent each entry, so that (8, 10) is applied.
// Then a = (4, 2) and (6, 5): (4, 0) and (6, 0) are removed and the sum is applied as it is. Then a
// = (4, 3) and (3, 10): as at first.
TEST(MeasuredRuns, MakeUpMassWhereSendersWeigh) {
  EXPECT_EQ(
      lost_mass(
          {{4, 1}, {3, 5}}, {{"kind", "allgather"}, {"weighting", "senders"}}, {{"kind", "ef14"}}),
      (std::vector<double>{16 + 25, 0, 16 + 100}));
}

// Norms 1 and 5 at first: the second message is scaled down to 1, and 4 of it are lost.
TEST(MeasuredRuns, LoseWhatIsClippedAfterItWasCleared) {
  const auto lost = lost_mass(
      {{1, 0}, {0, 5}}, {{"kind", "allgather"}, {"clip", "median-norm"}}, {{"kind", "ef14"}});
  EXPECT_EQ(lost, (std::vector<double>{16, 16, 16}));
}

}  // namespace
}  // namespace residuum
