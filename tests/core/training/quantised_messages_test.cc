// If a quantiser writes the values, residuals are accumulators less decoded messages, nothing is
// lost, and the law of both together holds.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

const Json everything{{"kind", "none"}};
const Json sign_only{{"kind", "sign"}};

/// a = (3, -1, 2, 2) is sent as (2, -2, 2, 2): e = (1, 1, 0, 0). Then a = (4, 0, 2, 2), also sent
/// as twos.
TEST(QuantisedMessages, LeaveWhatTheDecodedMessageDidNotHave) {
  const auto objective = test::constant_gradient({0, 0, 0, 0}, {3, -1, 2, 2});
  const auto frames = test::train(objective,
                                  {.sparsifier = everything,
                                   .aggregator = {{"kind", "allgather"}},
                                   .step = {{"value", 1}},
                                   .iterations = 2,
                                   .quantiser = sign_only})
                          .frames;
  EXPECT_EQ(frames[0].update, std::vector<double>({2, -2, 2, 2}));
  EXPECT_EQ(frames[0].mean_residual, std::vector<double>({1, 1, 0, 0}));
  EXPECT_EQ(frames[1].mean_accumulator, std::vector<double>({4, 0, 2, 2}));
  EXPECT_EQ(frames[1].update, std::vector<double>({2, 2, 2, 2}));
  EXPECT_EQ(frames[1].mean_residual, std::vector<double>({2, -2, 0, 0}));
  EXPECT_EQ(frames[1].model, std::vector<double>({-4, 0, -4, -4}));
}

/// The two largest entries of a = (5, -3, 1, 0) are sent as (4, -4).
TEST(QuantisedMessages, AreOfTheValuesThatTheSparsifierKept) {
  const auto objective = test::constant_gradient({0, 0, 0, 0}, {5, -3, 1, 0});
  const auto frame = test::train(objective,
                                 {.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                                  .aggregator = {{"kind", "allgather"}},
                                  .step = {{"value", 1}},
                                  .quantiser = sign_only})
                         .frames.front();
  EXPECT_EQ(frame.update, std::vector<double>({4, -4, 0, 0}));
  EXPECT_EQ(frame.mean_residual, std::vector<double>({1, 1, 1, 0}));
  EXPECT_EQ(frame.scalars[0].sent_norm_sq, 32) << "what was sent is measured, not what was meant";
  EXPECT_EQ(frame.scalars[0].sent_dot, 32);
  EXPECT_EQ(frame.scalars[0].nnz_sent, 2);
}

/// Four workers send 3 copies each, of 5 indices and of 5 signs with their scale.
TEST(QuantisedMessages, AreCountedAsTheyArePacked) {
  const auto objective = test::noisy_quadratic(40, 0.5);
  for (const char* aggregator : {"allgather", "gtopk-exact"}) {
    for (const auto& [precision, scale] :
         {std::pair{Precision::float32, 4U}, std::pair{Precision::float64, 8U}}) {
      Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 5}},
                    .aggregator = {{"kind", aggregator}},
                    .workers = 4,
                    .iterations = 3,
                    .quantiser = sign_only};
      recipe.precision = precision;
      for (const auto& frame : test::train(objective, recipe).frames) {
        EXPECT_EQ(frame.traffic.bytes, 4 * 3 * (5 * 4 + scale + 1));
        EXPECT_EQ(frame.traffic_model.bytes, frame.traffic.bytes);
        EXPECT_TRUE(frame.traffic_model.exact);
      }
    }
  }
}

TEST(QuantisedMessages, OfEverythingAreCountedWithoutIndices) {
  const auto objective = test::noisy_quadratic(40, 0.5);
  Recipe recipe{.sparsifier = everything,
                .aggregator = {{"kind", "allgather"}},
                .workers = 4,
                .quantiser = {{"kind", "qsgd"}, {"bits", 4}}};
  recipe.precision = Precision::float32;
  EXPECT_EQ(test::train(objective, recipe).frames.front().traffic.bytes, 4 * 3 * (4 + 20));
}

TEST(QuantisedMessages, LoseNothingWhereTheFeedbackConserves) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (Recipe recipe : test::quantised_methods()) {
    for (const int workers : {1, 2, 5}) {
      recipe.workers = workers;
      recipe.iterations = 40;
      SCOPED_TRACE(test::name_of(recipe) + ", P = " + std::to_string(workers));
      const bool remembers =
          recipe.feedback["kind"] != "none" && recipe.feedback.value("clears", "sent") == "sent";
      for (const auto& frame : test::train(objective, recipe).frames) {
        ASSERT_EQ(frame.conserves, remembers);
        if (remembers) {
          ASSERT_LE(frame.conservation_defect(), 1e-12) << "iteration " << frame.iteration;
        }
      }
    }
  }
}

/// With other draws the run is another one; with the same it is the same.
TEST(QuantisedMessages, AreDrawnByTheSeedOfTheRun) {
  const auto objective = test::constant_gradient({0, 0, 0}, {0.3, -0.5, 1});
  Recipe recipe{.sparsifier = everything,
                .aggregator = {{"kind", "allgather"}},
                .workers = 3,
                .iterations = 5,
                .quantiser = {{"kind", "terngrad"}}};
  const auto first = test::train(objective, recipe).frames.back().model;
  EXPECT_EQ(test::train(objective, recipe).frames.back().model, first);
  recipe.seed = 2;
  EXPECT_NE(test::train(objective, recipe).frames.back().model, first);
}

SparsifierLaw law_of(const Json& sparsifier, const Json& quantiser, std::size_t d) {
  const Method method = test::method_of({.sparsifier = sparsifier, .quantiser = quantiser}, d);
  return method.message_law(*method.sparsifier, d, 1);
}

/// Top-k of 8 among 40 keeps 1/5, and one bit of 8 values 1/8 of that.
TEST(MessageLaw, MultipliesTheContractions) {
  const auto law = law_of({{"kind", "top-k"}, {"k", 8}}, sign_only, 40);
  EXPECT_DOUBLE_EQ(*law.contraction, 1.0 / 40);
  EXPECT_TRUE(law.pathwise && law.deterministic);
  EXPECT_FALSE(law.keeps_largest || law.exact || law.keeps_values || law.unbiased);
}

TEST(MessageLaw, IsThatOfTheSparsifierWithoutAQuantiser) {
  const auto law = law_of({{"kind", "top-k"}, {"k", 8}}, {{"kind", "none"}}, 40);
  EXPECT_DOUBLE_EQ(*law.contraction, 1.0 / 5);
  EXPECT_TRUE(law.keeps_largest && law.keeps_values);
}

/// omega of d/k = 5/4 is 1/4; with 1/8 of natural compression (5/4)(9/8) - 1 = 13/32.
TEST(MessageLaw, MultipliesTheVariancesOfUnbiasedRules) {
  const Json scaled{{"kind", "rand-k"}, {"k", 32}, {"scaled", true}};
  const auto law = law_of(scaled, {{"kind", "natural"}}, 40);
  EXPECT_DOUBLE_EQ(*law.contraction, 1 - 13.0 / 32);
  EXPECT_TRUE(law.unbiased);
  EXPECT_FALSE(law.pathwise || law.deterministic);
}

/// TernGrad's omega for 100 values is 4.5: error feedback has no bound, unless it shrinks.
TEST(MessageLaw, HasNoContractionWhereTheVarianceIsTooLarge) {
  EXPECT_FALSE(law_of(everything, {{"kind", "terngrad"}}, 100).contraction);
  EXPECT_TRUE(law_of(everything, {{"kind", "terngrad"}}, 100).unbiased);
  const auto shrunk = law_of(everything, {{"kind", "terngrad"}, {"shrink", true}}, 100);
  EXPECT_DOUBLE_EQ(*shrunk.contraction, 1 / 5.5);
  EXPECT_FALSE(shrunk.unbiased);
}

/// Values beyond the threshold are kept with errors, too.
TEST(MessageLaw, HasNoThreshold) {
  EXPECT_FALSE(law_of({{"kind", "hard-threshold"}, {"threshold", 0.5}}, sign_only, 9).threshold);
}

/// The mean of |a - Q(C(a))|^2 over draws is within six standard errors of what the law allows.
TEST(MessageLaw, HoldsForWhatIsSent) {
  constexpr std::size_t kDimension = 30;
  constexpr std::uint64_t kMessages = 800;
  for (const Json& sparsifier : {everything,
                                 Json{{"kind", "top-k"}, {"k", 6}},
                                 Json{{"kind", "rand-k"}, {"k", 6}},
                                 Json{{"kind", "rand-k"}, {"k", 28}, {"scaled", true}}}) {
    for (const Recipe& recipe : test::quantised_methods()) {
      const Method method =
          test::method_of({.sparsifier = sparsifier, .quantiser = recipe.quantiser}, kDimension);
      const auto law = method.message_law(*method.sparsifier, kDimension, 1);
      const auto a = test::normal_vector<double>(kDimension, 4);
      SelectWorkspace workspace;
      Message<double> message;
      double mean = 0;
      double mean_of_squares = 0;
      for (std::uint64_t t = 0; t < kMessages; ++t) {
        const SelectionContext context{.seed = 3, .worker = 0, .iteration = t, .step_size = 1};
        method.compress(t, std::span<const double>(a), context, workspace, message);
        const auto sent = test::dense(message.entries, kDimension);
        const double share = distance_sq(a, sent) / norm_sq<double>(a);
        mean += share / kMessages;
        mean_of_squares += share * share / kMessages;
      }
      const double error = std::sqrt(std::max(0.0, mean_of_squares - mean * mean) / kMessages);
      if (law.contraction) {
        EXPECT_LE(mean - 6 * error, 1 - *law.contraction + 1e-12) << sparsifier << recipe.quantiser;
      }
    }
  }
}

}  // namespace
}  // namespace residuum
