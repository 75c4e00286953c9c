// Trainings whose server sends compressed changes of its model (EF21-P): a hand example, and what
// follows from their rule.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/protocols/protocol.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using testing::HasSubstr;

class ShiftKeeper final : public StepObserver {
 public:
  void observe(const StepView& view) override {
    frames.emplace_back(view);
    gaps.push_back(view.iterates.shift.value_or(ShiftGap{.before_sq = -1, .after_sq = -1}));
  }
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
  std::vector<test::Frame> frames;
  std::vector<ShiftGap> gaps;
};

Json ef21_p(std::size_t k) { return {{"kind", "parameter-server"}, {"down", "ef21-p"}, {"k", k}}; }

// f(w) = |w|^2/2 with gradient w, eta = 1/2, k = 1, x_0 = W_0 = (4, 3).
//   x_1 = (4, 3) - (4, 3)/2 = (2, 1.5);  x - W = (-2, -1.5): W_1 = (2, 3)
//   x_2 = (2, 1.5) - (2, 3)/2 = (1, 0);  x - W = (-1, -3): W_2 = (2, 0)
//   x_3 = (1, 0) - (2, 0)/2 = (0, 0);    x - W = (-2, 0): W_3 = (0, 0)
TEST(ModelShift, IsWhereWorkersTakeTheirGradients) {
  const test::TinyObjective objective(
      {4, 3}, [](const Draw& /*draw*/, std::span<const double> w, std::span<double> g) {
        std::copy(w.begin(), w.end(), g.begin());
      });
  for (const int workers : {1, 3}) {
    Recipe recipe{.aggregator = ef21_p(1), .step = {{"value", 0.5}}};
    recipe.workers = workers;
    recipe.iterations = 4;
    const auto world = make_single_process();
    ShiftKeeper kept;
    test::train(*world, objective, recipe, kept);

    const std::vector<std::vector<double>> models{{2, 1.5}, {1, 0}, {0, 0}, {0, 0}};
    const std::vector<std::vector<double>> gradients{{4, 3}, {2, 3}, {2, 0}, {0, 0}};
    const std::vector<double> before{6.25, 10, 4, 0};
    const std::vector<double> after{2.25, 1, 0, 0};
    ASSERT_EQ(kept.frames.size(), models.size());
    for (std::size_t t = 0; t < models.size(); ++t) {
      EXPECT_EQ(kept.frames[t].model, models[t]);
      EXPECT_EQ(kept.frames[t].mean_gradient, gradients[t]);
      EXPECT_EQ(kept.gaps[t].before_sq, before[t]);
      EXPECT_EQ(kept.gaps[t].after_sq, after[t]);
      EXPECT_EQ(kept.gaps[t].kept, 0.5);
    }
  }
}

Recipe shifted(std::size_t k_down) {
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 3}}, .aggregator = ef21_p(k_down)};
  recipe.workers = 4;
  recipe.iterations = 15;
  recipe.evaluated = Json(1);
  recipe.virtual_points = Json(2);
  return recipe;
}

ShiftKeeper& trained(const Recipe& recipe, ShiftKeeper& kept) {
  const auto world = make_single_process();
  const auto objective = test::noisy_quadratic(12, 0.5);
  EXPECT_EQ(test::train(*world, objective, recipe, kept).state, Outcome::State::finished);
  return kept;
}

TEST(ModelShift, ThatSendsEverythingIsTheModel) {
  Recipe whole = shifted(12);
  whole.aggregator = {{"kind", "parameter-server"}};
  ShiftKeeper shift;
  ShiftKeeper plain;
  trained(shifted(12), shift);
  trained(whole, plain);
  for (std::size_t t = 0; t < plain.frames.size(); ++t) {
    for (std::size_t j = 0; j < 12; ++j) {
      EXPECT_NEAR(shift.frames[t].model[j], plain.frames[t].model[j], 1e-13);
    }
    EXPECT_LT(shift.gaps[t].after_sq, 1e-28);
    EXPECT_EQ(plain.gaps[t].after_sq, -1) << "there is no shift";
  }
}

TEST(ModelShift, ContractsTowardsTheModelAndLosesNothing) {
  for (const std::size_t k : {1U, 2U, 5U}) {
    ShiftKeeper kept;
    trained(shifted(k), kept);
    for (std::size_t t = 0; t < kept.frames.size(); ++t) {
      EXPECT_GT(kept.gaps[t].after_sq, 0);
      EXPECT_LE(kept.gaps[t].after_sq, (1 - static_cast<double>(k) / 12) * kept.gaps[t].before_sq);
      EXPECT_TRUE(kept.frames[t].conserves);
      EXPECT_LT(kept.frames[t].conservation_defect(), 1e-13);
    }
  }
}

// Up: 4 workers send 3 entries of 12 bytes. Down: each gets 2 entries of 12 bytes.
TEST(ModelShift, CostsTheBytesOfBothWays) {
  ShiftKeeper kept;
  for (const auto& frame : trained(shifted(2), kept).frames) {
    EXPECT_EQ(frame.traffic.bytes, 4U * 3 * 12 + 4U * 2 * 12);
    EXPECT_EQ(frame.traffic.down, 4U * 2 * 12);
    EXPECT_EQ(frame.traffic_model.bytes, 4 * 3 * 12 + 4 * 2 * 12);
  }
  Recipe many = shifted(11);  // 11 entries are longer than the vector of 12 numbers
  ShiftKeeper whole;
  EXPECT_EQ(trained(many, whole).frames.front().traffic.down, 4U * 12 * 8);
}

TEST(ModelShift, IsWhereLocalStepsBegin) {
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 2}}));
  const test::TinyObjective objective(
      {4, 3}, [](const Draw& /*draw*/, std::span<const double> w, std::span<double> g) {
        std::copy(w.begin(), w.end(), g.begin());
      });
  Recipe recipe{.aggregator = ef21_p(1), .step = {{"value", 0.5}}};
  recipe.protocol = local.get();
  recipe.iterations = 2;
  const auto world = make_single_process();
  ShiftKeeper kept;
  test::train(*world, objective, recipe, kept);
  // Two steps from W = (4, 3) go 3/4 of the way: x_1 = (1, 0.75), W_1 = (1, 3); then x_2 = x_1 -
  // (3/4) W_1 = (0.25, -1.5).
  EXPECT_EQ(kept.frames[0].model, (std::vector<double>{1, 0.75}));
  EXPECT_EQ(kept.frames[1].model, (std::vector<double>{0.25, -1.5}));
}

TEST(ModelShift, NeedsANumberOfEntries) {
  EXPECT_THAT(test::error_of([] {
                test::aggregator({{"kind", "parameter-server"}, {"down", "ef21-p"}});
              }),
              HasSubstr("missing key 'aggregator.density' (or 'aggregator.k')"));
  EXPECT_THAT(test::error_of([] { test::aggregator(ef21_p(13))->shift_entries(12); }),
              HasSubstr("'aggregator.k' is 13, but there are only 12 parameters"));
}

TEST(ModelShift, IsRefusedWhereWorkersReadTheModelAtDifferentTimes) {
  for (const Json& section : {Json{{"kind", "asp"}},
                              Json{{"kind", "bsp"}, {"lag", 1}},
                              Json{{"kind", "gossip"}, {"graph", "ring"}}}) {
    const auto protocol = make_protocol(Section("protocol", section));
    const Recipe recipe{.aggregator = ef21_p(2), .feedback = {{"kind", "none"}}};
    EXPECT_THAT(test::error_of([&] { protocol->check(test::method_of(recipe, 12), 12, 4); }),
                HasSubstr("aggregator"))
        << section.dump();
  }
}

}  // namespace
}  // namespace residuum
