// DeMo (Peng, Quesnelle, Kingma 2024) is put together from parts: cosine coordinates, Top-k of
// blocks, a residual that fades, means over senders, signs of the update. It is followed by a loop
// of its own, in the coordinates of the parameters.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/protocols/protocol.h"
#include "objectives/dct_coordinates.h"
#include "tests/assumptions/support.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using Values = std::vector<double>;

/// A matrix of 6 rows and 4 columns, which is one block, and a vector of 8: d = 32.
struct Part {
  std::size_t begin, rows, columns, kept;  // a quarter of the entries is kept
};
constexpr std::array kParts{Part{0, 6, 4, 6}, Part{24, 1, 8, 2}};

std::unique_ptr<test::TinyObjective> matrix_and_vector() {
  const std::vector<Layer> layers{{.name = "weight", .shape = {6, 4}, .offset = 0, .size = 24},
                                  {.name = "bias", .shape = {8}, .offset = 24, .size = 8}};
  // An objective cannot be moved, which make_unique would do.
  return std::unique_ptr<test::TinyObjective>(
      new test::TinyObjective(test::noisy_quadratic(32, 0.5, layers)));
}

double demo_cosine(std::size_t n, std::size_t u, std::size_t i) {
  const auto size = static_cast<double>(n);
  return std::sqrt((u == 0 ? 1 : 2) / size) *
         std::cos(std::numbers::pi * static_cast<double>((2 * i + 1) * u) / (2 * size));
}

/// c = DCT(x), or with `inverts` x = IDCT(c), as sums over whole blocks.
Values cosines(const Values& from, bool inverts) {
  Values to(from.size());
  for (const Part& part : kParts) {
    for (std::size_t u = 0; u < part.rows; ++u) {
      for (std::size_t v = 0; v < part.columns; ++v) {
        for (std::size_t i = 0; i < part.rows; ++i) {
          for (std::size_t j = 0; j < part.columns; ++j) {
            const std::size_t coefficient = part.begin + u * part.columns + v;
            const std::size_t entry = part.begin + i * part.columns + j;
            const double weight = demo_cosine(part.rows, u, i) * demo_cosine(part.columns, v, j);
            to[inverts ? entry : coefficient] += weight * from[inverts ? coefficient : entry];
          }
        }
      }
    }
  }
  return to;
}

/// The largest coefficients of each block, 0 elsewhere.
Values largest_of_blocks(const Values& c) {
  Values kept(c.size());
  for (const Part& part : kParts) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < part.rows * part.columns; ++i) {
      order.push_back(part.begin + i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      return std::abs(c[i]) > std::abs(c[j]);
    });
    for (std::size_t rank = 0; rank < part.kept; ++rank) {
      kept[order[rank]] = c[order[rank]];
    }
  }
  return kept;
}

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

struct DemoSettings {
  int workers = 3;
  double step = 0.05;         // eta
  double fading = 0.75;       // beta
  double weight_decay = 0.1;  // lambda
  bool sends_signs = false;   // of c
  bool clears_signs = false;  // then d loses what was sent, and not c
};

/// The models after each step, and the squared norm of the mass that each step has lost. In the
/// first `decided` steps no entry of the update cancels, else its sign would be that of a rounding
/// error.
struct DemoSteps {
  std::vector<Values> models;
  Values lost_sq;
  std::size_t decided = 0;
};

bool has_decided_signs(const Values& update) {
  return std::none_of(
      update.begin(), update.end(), [](double value) { return std::abs(value) < 1e-12; });
}

DemoSteps demo_by_hand(const Objective& objective, const DemoSettings& demo, int steps) {
  const std::size_t d = objective.dimension();
  Values theta(d);
  objective.initial_point(1, theta);
  std::vector<Values> momenta(static_cast<std::size_t>(demo.workers), Values(d));
  DemoSteps made;
  for (int t = 0; t < steps; ++t) {
    Values sum(d);
    Values senders(d);
    Values lost(d);
    for (int p = 0; p < demo.workers; ++p) {
      Values& momentum = momenta[static_cast<std::size_t>(p)];
      Values gradient(d);
      objective.stochastic_gradient(
          {.seed = 1, .worker = p, .iteration = static_cast<std::uint64_t>(t)},
          std::span<const double>(theta),
          std::span<double>(gradient));
      // d <- beta d + eta g, in which beta was applied after the last step.
      for (std::size_t j = 0; j < d; ++j) {
        momentum[j] += demo.step * gradient[j];
      }
      const Values chosen = largest_of_blocks(cosines(momentum, /*inverts=*/false));
      Values sent = chosen;
      for (double& c : sent) {
        c = demo.sends_signs ? sign_of(c) : c;
      }
      const Values taken = cosines(demo.clears_signs ? sent : chosen, /*inverts=*/true);
      for (std::size_t j = 0; j < d; ++j) {
        sum[j] += sent[j];
        senders[j] += sent[j] != 0 ? 1 : 0;
        lost[j] += momentum[j];
        momentum[j] = demo.fading * (momentum[j] - taken[j]);
        lost[j] -= momentum[j];
      }
    }
    Values mean(d);
    for (std::size_t j = 0; j < d; ++j) {
      mean[j] = senders[j] > 0 ? sum[j] / senders[j] : 0;
    }
    const Values update = cosines(mean, /*inverts=*/true);
    made.decided += made.decided == made.models.size() && has_decided_signs(update) ? 1 : 0;
    for (std::size_t j = 0; j < d; ++j) {
      theta[j] = (1 - demo.step * demo.weight_decay) * theta[j] - demo.step * sign_of(update[j]);
      lost[j] -= demo.workers * update[j];
    }
    made.models.push_back(theta);
    made.lost_sq.push_back(norm_sq<double>(lost));
  }
  return made;
}

Recipe demo_recipe(const DemoSettings& demo, int steps) {
  Recipe recipe{
      .sparsifier = {{"kind", "chunk-top-k"}, {"block", 24}, {"density", 0.25}, {"scope", "layer"}},
      .aggregator = {{"kind", "allgather"}, {"weighting", "senders"}},
      .feedback = {{"kind", "ef14"}, {"decay", demo.fading}},
      .step = {{"value", demo.step}},
      .update_rule = UpdateRule::signs,
      .weight_decay = demo.weight_decay,
      .workers = demo.workers,
      .iterations = static_cast<std::uint64_t>(steps)};
  recipe.layers = {{.begin = 0, .size = 24}, {.begin = 24, .size = 8}};
  if (demo.sends_signs) {
    recipe.quantiser = {{"kind", "sign"}, {"scale", "one"}};
    recipe.feedback["clears"] = demo.clears_signs ? "sent" : "selected";
  }
  return recipe;
}

/// Returns the rows that the probe of conservation writes.
std::vector<test::Seen> conservation_of(const Recipe& recipe) {
  test::RowKeeper keeper;
  Monitor monitor(make_probes({"conservation"}, "a test"), keeper, [](auto, auto) {});
  const auto world = make_single_process();
  test::train(*world, *in_dct_coordinates(matrix_and_vector()), recipe, monitor);
  std::vector<test::Seen> seen;
  for (std::size_t i = 0; i < keeper.rows.size(); ++i) {
    seen.push_back({keeper.rows[i], keeper.all_checks[i]});
  }
  return seen;
}

TEST(Demo, IsThatOfItsPaperStepByStep) {
  constexpr int kSteps = 25;
  const auto standard = matrix_and_vector();
  const auto objective = in_dct_coordinates(matrix_and_vector());
  for (const int workers : {1, 3, 4}) {
    for (const auto& demo :
         {DemoSettings{.workers = workers},
          DemoSettings{.workers = workers, .sends_signs = true},
          DemoSettings{.workers = workers, .sends_signs = true, .clears_signs = true}}) {
      SCOPED_TRACE(fmt::format("{} workers, {}, {}", workers, demo.sends_signs, demo.clears_signs));
      const auto by_hand = demo_by_hand(*standard, demo, kSteps);

      const auto frames = test::train(*objective, demo_recipe(demo, kSteps)).frames;

      ASSERT_EQ(frames.size(), by_hand.models.size());
      ASSERT_GE(by_hand.decided, demo.sends_signs ? 5U : frames.size());
      for (std::size_t t = 0; t < by_hand.decided; ++t) {
        const Values parameters = cosines(frames[t].model, /*inverts=*/true);
        for (std::size_t j = 0; j < parameters.size(); ++j) {
          ASSERT_NEAR(parameters[j], by_hand.models[t][j], 1e-12) << t << ", entry " << j;
        }
      }
    }
  }
}

TEST(Demo, HasItsLossesNamed) {
  constexpr int kSteps = 25;
  const DemoSettings demo;
  const auto by_hand = demo_by_hand(*matrix_and_vector(), demo, kSteps);

  const auto rows = conservation_of(demo_recipe(demo, kSteps));

  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kSteps));
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const auto& row = rows[t];
    EXPECT_NEAR(row[Column::lost_mass_norm_sq], by_hand.lost_sq[t], 1e-11 * by_hand.lost_sq[t]);
    EXPECT_FALSE(row.check("lost-mass").holds);
    EXPECT_FALSE(row.check("lost-mass").expected);
    EXPECT_FALSE(row.has(Column::conservation_defect)) << "signs say nothing of w - z";
  }
}

/// An exchange loses by fading and by the division by senders alone.
TEST(Demo, WithoutFadingAndWithMeansOverWorkersLosesNothing) {
  Recipe recipe = demo_recipe({.fading = 1}, 25);
  recipe.aggregator = {{"kind", "allgather"}};
  const auto rows = conservation_of(recipe);
  ASSERT_EQ(rows.size(), 25U);
  for (const auto& row : rows) {
    EXPECT_EQ(row[Column::lost_mass_norm_sq], 0);
    EXPECT_TRUE(row.check("lost-mass").expected);
  }
}

TEST(Demo, HasTheSameBitsOnAnyNumberOfProcesses) {
  const auto objective = in_dct_coordinates(matrix_and_vector());
  for (const auto precision : {Precision::float32, Precision::float64}) {
    Recipe recipe = demo_recipe({.workers = 5}, 25);
    recipe.precision = precision;
    recipe.evaluated = Json(1);
    const auto alone = test::train(*objective, recipe).frames;
    for (const int processes : {2, 3}) {
      test::on_processes(processes, [&](World& world) {
        test::FrameKeeper keeper;
        test::train(world, *objective, recipe, keeper);
        if (world.is_root()) {
          test::expect_same_frames(keeper.frames, alone);
        }
      });
    }
  }
}

/// No gradient can be late if one worker makes all versions.
TEST(Demo, OfOneWorkerIsTheSameWithLateGradients) {
  const auto objective = in_dct_coordinates(matrix_and_vector());
  const auto asp = make_protocol(Section("protocol", Json{{"kind", "asp"}}));
  Recipe recipe = demo_recipe({.workers = 1}, 25);
  const auto lockstep = test::train(*objective, recipe).frames;
  recipe.protocol = asp.get();
  const auto late = test::train(*objective, recipe).frames;
  for (std::size_t t = 0; t < lockstep.size(); ++t) {
    EXPECT_EQ(late[t].model, lockstep[t].model) << t;
    EXPECT_EQ(late[t].virtual_iterate, lockstep[t].virtual_iterate) << t;
  }
}

/// The largest difference of parameters over a run in either coordinates.
double difference_by_coordinates(const Recipe& recipe) {
  const auto standard = test::train(*matrix_and_vector(), recipe).frames;
  const auto dct = test::train(*in_dct_coordinates(matrix_and_vector()), recipe).frames;
  double largest = 0;
  for (std::size_t t = 0; t < standard.size(); ++t) {
    const Values parameters = cosines(dct[t].model, /*inverts=*/true);
    for (std::size_t j = 0; j < parameters.size(); ++j) {
      largest = std::max(largest, std::abs(parameters[j] - standard[t].model[j]));
    }
  }
  return largest;
}

/// Dense steps are the same in all coordinates, and so are signs, which are taken of parameters.
/// A selection entry by entry is not.
TEST(CosineCoordinates, ChangeDenseTrainingByRoundingAlone) {
  Recipe recipe{.workers = 3, .iterations = 60};
  EXPECT_LE(difference_by_coordinates(recipe), 1e-13);
  recipe.momentum = 0.5;
  recipe.weight_decay = 0.1;
  recipe.clip = Clip::update;
  recipe.clip_norm = 0.5;
  EXPECT_LE(difference_by_coordinates(recipe), 1e-13);
  EXPECT_LE(difference_by_coordinates({.update_rule = UpdateRule::signs, .iterations = 30}), 1e-13);
  EXPECT_GT(difference_by_coordinates({.sparsifier = {{"kind", "top-k"}, {"k", 4}},
                                       .aggregator = {{"kind", "allgather"}},
                                       .iterations = 60}),
            1e-3);
}

}  // namespace
}  // namespace residuum
