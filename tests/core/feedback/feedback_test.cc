// The put-back rules on vectors that can be followed by hand.

#include "core/feedback/feedback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/core/support.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using Rows = test::Rows<double>;
using Values = std::vector<double>;

// T-LEAK: the tree keeps index 0 with 10; worker 2's merge has cut worker 3's 1 there and worker
// 2's own 6 at index 1 was rejected.
const Rows leak{{5, 0}, {5, 0}, {0, 6}, {1, 0}};

test::Step<double> tree_step(const std::string& putback, const Rows& rows = leak) {
  return test::step_on(rows,
                       {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                        .aggregator = {{"kind", "gtopk-tree"}},
                        .feedback = {{"kind", "ef14"}, {"putback", putback}}});
}

TEST(Accumulate, AddsTheGradientTimesTheStepInStepUnits) {
  Values memory{1, -1};
  const Values gradient{2, 2};
  const auto rule = test::feedback({{"kind", "ef14"}, {"units", "step"}});

  const PassNorms norms = rule->accumulate(
      std::span<double>(memory), std::span<const double>(gradient), 0.5, test::WholePass(2));

  EXPECT_EQ(memory, (Values{2, 0}));
  EXPECT_EQ(norms.residual_sq, 2);
  EXPECT_EQ(norms.gradient_sq, 8);
  EXPECT_EQ(norms.accumulator_sq, 4);
  EXPECT_EQ(rule->units(), Units::step);
}

TEST(Accumulate, AddsTheBareGradientInGradientUnits) {
  std::vector<float> memory{1, -1};
  const std::vector<float> gradient{2, 2};
  const auto rule = test::feedback({{"kind", "ef14"}, {"units", "gradient"}});

  rule->accumulate(
      std::span<float>(memory), std::span<const float>(gradient), 0.5, test::WholePass(2));

  EXPECT_EQ(memory, (std::vector<float>{3, 1}));
  EXPECT_EQ(rule->units(), Units::gradient);
}

TEST(NoFeedback, ForgetsWhatWasNotDelivered) {
  Values memory{0, 0};
  const Values gradient{2, 4};
  const auto rule = test::feedback({{"kind", "none"}});

  rule->accumulate(
      std::span<double>(memory), std::span<const double>(gradient), 0.5, test::WholePass(2));
  EXPECT_EQ(memory, (Values{1, 2}));

  const Message<double> sent;
  ResidualUpdate<double> residual_update;
  rule->update_residual(
      std::span<double>(memory), {.sent = sent, .applied_whole = true}, residual_update);
  EXPECT_EQ(memory, (Values{0, 0}));
}

TEST(Captured, ReturnsWhatAMergeCutToTheWorkerThatMerged) {
  const auto step = tree_step("captured");

  EXPECT_EQ(step.update, (Values{10, 0}));
  EXPECT_EQ(step.residuals, (Rows{{0, 0}, {0, 0}, {1, 6}, {0, 0}}));
  EXPECT_EQ(step.lost(leak), (Values{0, 0}));
}

TEST(Published, LosesWhatAMergeCutAtAnIndexThatSurvived) {
  const auto step = tree_step("published");

  EXPECT_EQ(step.residuals, (Rows{{0, 0}, {0, 0}, {0, 6}, {0, 0}}));
  EXPECT_EQ(step.lost(leak), (Values{1, 0}));
}

TEST(Discard, LosesAllThatWasRejected) {
  const auto step = tree_step("discard");

  EXPECT_EQ(step.residuals, (Rows{{0, 0}, {0, 0}, {0, 0}, {0, 0}}));
  EXPECT_EQ(step.lost(leak), (Values{1, 6}));
}

TEST(Ef14, KeepsWhatWasNotSentAndPutsBackWhatWasRejected) {
  // Exact, k = 1: the sums are 4 at index 0 and 3 at index 1; 0 wins, worker 1's 3 goes back.
  const Rows rows{{4, 0.5, 1}, {1, 3, -1}};
  for (const char* putback : {"captured", "published"}) {
    const auto step = test::step_on(rows,
                                    {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                                     .aggregator = {{"kind", "gtopk-exact"}},
                                     .feedback = {{"kind", "ef14"}, {"putback", putback}}});
    EXPECT_EQ(step.update, (Values{4, 0, 0}));
    EXPECT_EQ(step.residuals, (Rows{{0, 0.5, 1}, {1, 3, -1}})) << putback;
  }
}

TEST(Ef14, KeepsWhatWasNotSentAfterAnAllGather) {
  for (const char* putback : {"captured", "published", "discard"}) {
    const auto step = test::step_on<double>({{4, 0.5, 1}, {1, 3, -1}},
                                            {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                                             .aggregator = {{"kind", "allgather"}},
                                             .feedback = {{"kind", "ef14"}, {"putback", putback}}});
    EXPECT_EQ(step.update, (Values{4, 3, 0}));
    EXPECT_EQ(step.residuals, (Rows{{0, 0.5, 1}, {1, 0, -1}})) << putback;
  }
}

TEST(Ef14, ClearsTheWholeSupportOfTheMaskOnEveryWorker) {
  const auto step = test::step_on<double>(
      {{30, 0, 0}, {-20, 21, 21}},
      {.sparsifier = {{"kind", "top-k"}, {"k", 1}}, .aggregator = {{"kind", "gtopk-mask"}}});

  EXPECT_EQ(step.update, (Values{10, 0, 0}));
  EXPECT_EQ(step.residuals, (Rows{{0, 0, 0}, {0, 21, 21}}));
}

TEST(Ef14, ClearsEverythingWhereWholeAccumulatorsAreSummed) {
  const auto step = test::step_on<double>(
      {{1, 2}, {3, 4}}, {.sparsifier = {{"kind", "none"}}, .aggregator = {{"kind", "dense"}}});

  EXPECT_EQ(step.residuals, (Rows{{0, 0}, {0, 0}}));
  EXPECT_TRUE(step.residual_updates[0].removed_everything());
}

TEST(Ef14, KeepsTheDifferenceWhereEntriesWereSentScaled) {
  // k = d/2 of equal entries: 2a is sent of half of them, which leaves -a there and a elsewhere.
  const test::Rows<double> rows{{3, 3, 3, 3}};
  for (const char* aggregator : {"allgather", "gtopk-exact", "gtopk-tree"}) {
    const auto step = test::step_on(rows,
                                    {.sparsifier = {{"kind", "rand-k"}, {"k", 2}, {"scaled", true}},
                                     .aggregator = {{"kind", aggregator}}});
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(step.residuals[0][j], 3 - step.update[j]) << aggregator;
    }
    EXPECT_THAT(step.residuals[0], testing::UnorderedElementsAre(3, 3, -3, -3)) << aggregator;
  }
}

TEST(Ef14, LetsFadeWhatIsLeft) {
  const auto step = test::step_on<double>({{4, 0.5, 1}, {1, 3, -1}},
                                          {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                                           .aggregator = {{"kind", "allgather"}},
                                           .feedback = {{"kind", "ef14"}, {"decay", 0.25}}});
  EXPECT_EQ(step.update, (Values{4, 3, 0})) << "messages do not fade";
  EXPECT_EQ(step.residuals, (Rows{{0, 0.125, 0.25}, {0.25, 0, -0.25}}));
  EXPECT_TRUE(step.residual_updates[0].removed_is_dense()) << "a part of every entry is gone";
  const auto fading = test::feedback({{"kind", "ef14"}, {"decay", 0.25}});
  EXPECT_EQ(fading->decay(), 0.25);
  EXPECT_TRUE(fading->conserves({}, /*sends_everything=*/true, 2)) << "but for the decay";
  const auto lasting = test::feedback({{"kind", "ef14"}, {"decay", 1}});
  EXPECT_EQ(lasting->decay(), 1);
}

/// Two of (4, 0.5, -2, 1) go as their signs with the mean 3 of their magnitudes.
test::Recipe two_signs(const char* clears) {
  return {.sparsifier = {{"kind", "top-k"}, {"k", 2}},
          .aggregator = {{"kind", "allgather"}},
          .feedback = {{"kind", "ef14"}, {"clears", clears}},
          .step = {{"value", 1}},
          .iterations = 1,
          .quantiser = {{"kind", "sign"}}};
}

TEST(Ef14, RemembersWhatAQuantiserRoundsUnlessItClearsWhatWasSelected) {
  const test::TinyObjective objective(
      {0, 0, 0, 0}, [](const Draw&, std::span<const double>, std::span<double> g) {
        std::copy_n(std::array{4.0, 0.5, -2.0, 1.0}.begin(), 4, g.begin());
      });
  const auto sent = test::train(objective, two_signs("sent")).frames.front();
  const auto selected = test::train(objective, two_signs("selected")).frames.front();

  EXPECT_EQ(sent.model, (Values{-3, 0, 3, 0}));
  EXPECT_EQ(sent.mean_residual, (Values{1, 0.5, 1, 1}));
  EXPECT_TRUE(sent.conserves);
  EXPECT_EQ(selected.model, (Values{-3, 0, 3, 0}));
  EXPECT_EQ(selected.mean_residual, (Values{0, 0.5, 0, 1}));
  EXPECT_FALSE(selected.conserves);
}

TEST(Ef14, ClearsWhatWasSelectedOnlyWhereThatIsNotWhatIsSent) {
  const auto refusal = [](const Json& quantiser, const Json& aggregator) {
    const Section feedback("feedback", Json{{"kind", "ef14"}, {"clears", "selected"}});
    Method method;
    method.aggregator = test::aggregator(aggregator);
    method.feedback = make_feedback(feedback);
    method.quantiser = test::quantiser(quantiser);
    return test::error_of([&] { check_clearing(method, aggregator["kind"], feedback); });
  };

  EXPECT_EQ(refusal({{"kind", "table"}}, {{"kind", "allgather"}}), "");
  EXPECT_EQ(refusal({{"kind", "table"}}, {{"kind", "allgather"}, {"weighting", "senders"}}), "");
  EXPECT_EQ(refusal({{"kind", "none"}}, {{"kind", "allgather"}}),
            "'feedback.clears': without [quantiser] a worker sends what it selects; take this key "
            "out");
  EXPECT_EQ(refusal({{"kind", "table"}}, {{"kind", "gtopk-exact"}}),
            "'feedback.clears': aggregator 'gtopk-exact' applies a part of what was selected; use "
            "\"allgather\"");
}

TEST(Ef14, RecordsWhatItTookAndWhatItGaveBack) {
  const auto step = tree_step("captured");

  EXPECT_FALSE(step.residual_updates[2].removed_everything());
  EXPECT_EQ(step.residual_updates[0].removed(), (SparseVector<double>{{0}, {5}}));
  EXPECT_TRUE(step.residual_updates[2].removed().empty());
  EXPECT_EQ(step.residual_updates[2].returned(), (SparseVector<double>{{0}, {1}}));
  EXPECT_EQ(step.residual_updates[3].removed(), (SparseVector<double>{{0}, {1}}));
}

TEST(Feedback, RefusesUnknownRulesAndUnits) {
  EXPECT_EQ(test::error_of([] {
              test::feedback({{"kind", "ef14"}, {"putback", "publish"}});
            }),
            "unknown value 'publish' of 'feedback.putback'; did you mean 'published'?");
  EXPECT_NE(test::error_of([] { test::feedback({{"kind", "none"}, {"units", "grams"}}); }), "");
}

}  // namespace
}  // namespace residuum
