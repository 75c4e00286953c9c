// The same runs over MPI and in one process: every row and every check, bit for bit.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/assumptions/support.h"
#include "tests/core/mpi_test_world.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

bool is_time(const ColumnInfo& column) { return column.unit == "s"; }

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

void expect_same_bits(const test::Seen& over_mpi, const test::Seen& alone) {
  ASSERT_EQ(over_mpi.row.iteration(), alone.row.iteration());
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const auto column = static_cast<Column>(c);
    ASSERT_EQ(over_mpi.has(column), alone.has(column)) << kColumns[c].name;
    if (alone.has(column) && !is_time(kColumns[c])) {
      ASSERT_EQ(bits(over_mpi[column]), bits(alone[column])) << kColumns[c].name;
    }
  }
  ASSERT_EQ(over_mpi.checks.size(), alone.checks.size());
  for (std::size_t i = 0; i < alone.checks.size(); ++i) {
    ASSERT_EQ(over_mpi.checks[i].name, alone.checks[i].name);
    ASSERT_EQ(bits(over_mpi.checks[i].lhs), bits(alone.checks[i].lhs)) << alone.checks[i].name;
    ASSERT_EQ(bits(over_mpi.checks[i].rhs), bits(alone.checks[i].rhs)) << alone.checks[i].name;
    ASSERT_EQ(over_mpi.checks[i].holds, alone.checks[i].holds);
  }
}

void expect_same_bits(const DetailRow& over_mpi, const DetailRow& alone) {
  ASSERT_EQ(over_mpi.iteration(), alone.iteration());
  ASSERT_EQ(over_mpi.part(), alone.part());
  for (std::size_t c = 0; c < alone.values().size(); ++c) {
    ASSERT_EQ(over_mpi.get(c).has_value(), alone.get(c).has_value());
    if (alone.get(c)) {
      ASSERT_EQ(bits(*over_mpi.get(c)), bits(*alone.get(c))) << alone.table().columns[c].name;
    }
  }
}

void expect_same_run(const Recipe& recipe) {
  World& world = test::mpi_test_world();
  const auto objective = test::noisy_quadratic(40, 0.5);
  const auto over_mpi = test::measure(world, objective, recipe);
  const auto alone = test::measure(objective, recipe);

  EXPECT_EQ(over_mpi.outcome.state, alone.outcome.state);
  EXPECT_EQ(over_mpi.outcome.iterations, alone.outcome.iterations);
  if (!world.is_root()) {
    EXPECT_TRUE(over_mpi.rows.empty());
    return;
  }
  EXPECT_EQ(bits(over_mpi.outcome.evaluation->loss), bits(alone.outcome.evaluation->loss));
  ASSERT_EQ(over_mpi.rows.size(), alone.rows.size());
  for (std::size_t t = 0; t < alone.rows.size(); ++t) {
    expect_same_bits(over_mpi.rows[t], alone.rows[t]);
  }
  ASSERT_EQ(over_mpi.workers.size(), alone.rows.size() * static_cast<std::size_t>(recipe.workers));
  ASSERT_EQ(over_mpi.workers.size(), alone.workers.size());
  for (std::size_t i = 0; i < alone.workers.size(); ++i) {
    expect_same_bits(over_mpi.workers[i], alone.workers[i]);
  }
  ASSERT_EQ(over_mpi.layers.size(), 3 * alone.rows.size());
  ASSERT_EQ(over_mpi.layers.size(), alone.layers.size());
  for (std::size_t i = 0; i < alone.layers.size(); ++i) {
    expect_same_bits(over_mpi.layers[i], alone.layers[i]);
  }
}

void expect_same_runs(int workers, Precision precision) {
  for (Recipe recipe : test::methods()) {
    for (const char* units : {"step", "gradient"}) {
      recipe.feedback["units"] = units;
      recipe.step = {{"rule", "inv-sqrt"}, {"value", 0.2}};
      recipe.momentum = units == std::string("step") ? 0.0 : 0.9;
      recipe.workers = workers;
      recipe.iterations = 8;
      recipe.precision = precision;
      recipe.evaluated = Json(2);
      SCOPED_TRACE(test::name_of(recipe));
      expect_same_run(recipe);
    }
  }
}

TEST(MpiRuns, OfFiveWorkersInFloat32AreThoseOfOneProcess) {
  expect_same_runs(5, Precision::float32);
}

TEST(MpiRuns, OfSevenWorkersInFloat32AreThoseOfOneProcess) {
  expect_same_runs(7, Precision::float32);
}

TEST(MpiRuns, OfSevenWorkersInFloat64AreThoseOfOneProcess) {
  expect_same_runs(7, Precision::float64);
}

TEST(MpiRuns, EndAlikeOnEveryProcessWhereAGradientBreaks) {
  const test::TinyObjective objective(
      {1.0}, [](const Draw& draw, std::span<const double>, std::span<double> g) {
        g[0] = draw.worker >= 3 && draw.iteration == 2 ? std::numeric_limits<double>::quiet_NaN()
                                                       : 1.0;
      });
  const Recipe recipe{.workers = 5, .iterations = 10};

  const auto run = test::measure(test::mpi_test_world(), objective, recipe);

  EXPECT_EQ(run.outcome.state, Outcome::State::diverged);
  EXPECT_EQ(run.outcome.message,
            "gradient of worker 3 is not finite at iteration 2: entry 0 is nan");
}

}  // namespace
}  // namespace residuum
