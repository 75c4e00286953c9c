// The practice of training code beside the plain algorithm: weight decay, clipping, batches in
// parts, warm-up of the density. Followed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::constant_gradient;
using test::error_of;
using test::Json;
using test::Recipe;
using test::TinyObjective;
using Values = std::vector<double>;

TEST(WeightDecay, IsAddedToWhatWasExchanged) {
  // w = 4 - 0.5 (1 + 0.25 * 4) = 3, then 3 - 0.5 (1 + 0.75) = 2.125.
  const Recipe recipe{
      .step = {{"value", 0.5}}, .weight_decay = 0.25, .workers = 2, .iterations = 2};

  const auto frames = test::train(constant_gradient({4}, {1}), recipe).frames;

  EXPECT_EQ(frames[0].model, (Values{3}));
  EXPECT_EQ(frames[1].model, (Values{2.125}));
}

TEST(WeightDecay, ShrinksEntriesThatNobodySent) {
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                      .aggregator = {{"kind", "gtopk-exact"}},
                      .step = {{"value", 0.5}},
                      .weight_decay = 0.5};

  EXPECT_EQ(test::train(constant_gradient({4, 8}, {2, 1}), recipe).model(), (Values{2, 6}));
}

TEST(WeightDecay, GoesThroughTheVelocity) {
  // v = 1 + 0.25 * 4 = 2, w = 3; v = 1 + 1 + 0.75 = 2.75, w = 3 - 1.375.
  for (const char* units : {"step", "gradient"}) {
    const Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", units}},
                        .step = {{"value", 0.5}},
                        .momentum = 0.5,
                        .weight_decay = 0.25,
                        .iterations = 2};

    const auto frames = test::train(constant_gradient({4}, {1}), recipe).frames;

    EXPECT_EQ(frames[0].model, (Values{3})) << units;
    EXPECT_EQ(frames[1].model, (Values{1.625})) << units;
  }
}

TEST(Clipping, OfTheUpdateBoundsTheMeanThatWasExchanged) {
  // |(3, 4)| = 5 becomes 2.5; half of every entry.
  for (const char* units : {"step", "gradient"}) {
    const Recipe recipe{.feedback = {{"kind", "ef14"}, {"units", units}},
                        .step = {{"value", 0.5}},
                        .clip = Clip::update,
                        .clip_norm = 2.5,
                        .workers = 4};

    const auto frame = test::train(constant_gradient({0, 0}, {3, 4}), recipe).frames.front();

    EXPECT_EQ(frame.model, (Values{-0.75, -1})) << units;
    EXPECT_EQ(frame.scalars[0].gradient_norm_sq, 25) << units;
  }
}

TEST(Clipping, LeavesShortUpdatesAsTheyAre) {
  const Recipe recipe{.step = {{"value", 0.5}}, .clip = Clip::update, .clip_norm = 5};

  EXPECT_EQ(test::train(constant_gradient({0, 0}, {3, 4}), recipe).model(), (Values{-1.5, -2}));
}

TEST(Clipping, OfWorkersBoundsEachGradientByTheBoundOverTheRootOfP) {
  // 5 / sqrt(4) = 2.5: half of every entry, before it is compressed.
  const Recipe recipe{.step = {{"value", 0.5}}, .clip = Clip::worker, .clip_norm = 5, .workers = 4};

  const auto frame = test::train(constant_gradient({0, 0}, {3, 4}), recipe).frames.front();

  EXPECT_EQ(frame.model, (Values{-0.75, -1}));
  EXPECT_EQ(frame.mean_gradient, (Values{1.5, 2}));
  EXPECT_EQ(frame.scalars[3].gradient_norm_sq, 6.25);
}

TEST(Clipping, OfWorkersLeavesNothingToSplitForNoise) {
  Recipe recipe{.workers = 2, .iterations = 2};
  recipe.split = Json(1);
  const TinyObjective objective(
      {0}, [](const Draw& draw, std::span<const double> /*w*/, std::span<double> gradient) {
        gradient[0] = draw.first_half ? 5 : 4;
      });
  EXPECT_GT(test::train(objective, recipe).frames[0].scalars[0].noise_variance, 0);

  recipe.clip = Clip::worker;
  recipe.clip_norm = 1;
  EXPECT_EQ(test::train(objective, recipe).frames[0].scalars[0].noise_variance, 0);
}

/// G is the mean of the drawn samples' numbers, and every call is kept.
struct Calls {
  std::vector<std::vector<std::uint32_t>> samples;
  std::vector<std::uint64_t> iterations;
};

TinyObjective recording(Calls& calls, std::size_t samples) {
  return {{0.0},
          [&calls](const Draw& draw, std::span<const double> /*w*/, std::span<double> gradient) {
            calls.samples.emplace_back(draw.samples.begin(), draw.samples.end());
            calls.iterations.push_back(draw.iteration);
            double sum = 0;
            for (const auto sample : draw.samples) {
              sum += sample;
            }
            gradient[0] = sum / static_cast<double>(draw.samples.size());
          },
          samples};
}

TEST(Accumulation, TakesTheGradientOfABatchInPartsWithRandomStreamsOfTheirOwn) {
  Calls parts;
  Calls whole;
  Recipe recipe{.iterations = 2};
  recipe.batch = 6;
  recipe.sampling = Sampling::shuffle;
  recipe.shards = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  const auto of_whole = test::train(recording(whole, 12), recipe).frames;
  recipe.accumulation = 3;
  const auto of_parts = test::train(recording(parts, 12), recipe).frames;

  ASSERT_EQ(whole.samples.size(), 2U);
  ASSERT_EQ(parts.samples.size(), 6U);
  EXPECT_EQ(parts.iterations, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  std::vector<std::uint32_t> drawn;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts.samples[i].size(), 2U);
    drawn.insert(drawn.end(), parts.samples[i].begin(), parts.samples[i].end());
  }
  EXPECT_EQ(drawn, whole.samples[0]);
  EXPECT_NEAR(of_parts[1].model[0], of_whole[1].model[0], 1e-15);
  EXPECT_EQ(of_parts[1].epoch, 0.5);
}

Json scheduled(const Json& schedule, int iterations) {
  return {{"kind", "top-k"}, {"k", 1}, {"schedule", schedule}, {"schedule_iterations", iterations}};
}

TEST(DensitySchedule, KeepsMoreEntriesAtFirst) {
  const Recipe recipe{.sparsifier = scheduled({0.5, 0.25}, 2),
                      .aggregator = {{"kind", "gtopk-tree"}},
                      .workers = 3,
                      .iterations = 6};

  const auto frames = test::train(test::noisy_quadratic(12, 0.5), recipe).frames;

  const Values expected{6, 6, 3, 3, 1, 1};
  for (std::size_t t = 0; t < 6; ++t) {
    EXPECT_EQ(frames[t].k, expected[t]) << t;
    EXPECT_EQ(frames[t].scalars[0].nnz_sent, expected[t]) << t;
    EXPECT_EQ(
        static_cast<double>(std::count_if(
            frames[t].update.begin(), frames[t].update.end(), [](double g) { return g != 0; })),
        expected[t])
        << t;
  }
}

std::vector<std::size_t> ks_of(const Json& sparsifier, double samples = 0) {
  const Section section("sparsifier", sparsifier);
  const Section whole = with_final_density(section);
  const auto last = make_sparsifier(whole);
  std::vector<std::size_t> ks;
  for (const auto& stage : read_density_stages(whole,
                                               *last,
                                               {.layers = {},
                                               .dimension = 64000,
                                               .iterations = 1000,
                                               .samples = samples,
                                               .samples_per_iteration = 32})) {
    ks.push_back(stage.sparsifier->k(64000).value());
    ks.push_back(stage.until);
  }
  whole.finish();
  ks.push_back(last->k(64000).value());
  return ks;
}

TEST(DensitySchedule, KnowsTheOnesOfThePapers) {
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(ks_of({{"kind", "top-k"}, {"schedule", "dgc"}, {"schedule_iterations", 10}}),
            (Numbers{16000, 10, 4000, 20, 1000, 30, 256, 40, 64}));
  EXPECT_EQ(ks_of({{"kind", "top-k"}, {"schedule", "gtopk"}, {"schedule_iterations", 10}}),
            (Numbers{16000, 10, 4640, 20, 960, 30, 256, 40, 64}));
  EXPECT_EQ(ks_of({{"kind", "rand-k"}, {"k", 5}, {"schedule", "gtopk-code"}}, 100),
            (Numbers{256, 4, 5}));  // an epoch of 100 samples is 3.125 iterations
}

TEST(DensitySchedule, CanBeSwitchedOffWithoutATrace) {
  const Section off(
      "sparsifier",
      Json{{"kind", "top-k"}, {"k", 3}, {"schedule", "none"}, {"schedule_epochs", 2}});
  const Section without("sparsifier", Json{{"kind", "top-k"}, {"k", 3}});
  for (const Section* section : {&off, &without}) {
    const auto top_k = make_sparsifier(*section);
    EXPECT_TRUE(read_density_stages(*section, *top_k, {.layers = {}, .dimension = 9}).empty());
    section->finish();
  }
  EXPECT_EQ(off.resolved(), without.resolved());
}

TEST(DensitySchedule, IsOfNoUseToThresholds) {
  const Section section = with_final_density(Section(
      "sparsifier", Json{{"kind", "hard-threshold"}, {"threshold", 1}, {"schedule", "dgc"}}));
  const auto threshold = make_sparsifier(section);
  EXPECT_TRUE(read_density_stages(section, *threshold, {.layers = {}, .dimension = 9}).empty());
}

TEST(DensitySchedule, SaysWhatIsWrongWithIt) {
  const auto error = [](Json values) {
    values["kind"] = "top-k";
    return error_of([&] { ks_of(values); });
  };
  EXPECT_EQ(
      error({{"schedule", {0.5, 0.25}}, {"schedule_iterations", 2}}),
      "'sparsifier.schedule': the schedule ends after its 2 stages; give 'density' or 'k' for "
      "the rest of the training");
  EXPECT_EQ(
      error({{"schedule", "dgc"}, {"schedule_iterations", 300}}),
      "'sparsifier.schedule': stage 4 of 4 would end at iteration 1200, but the training ends "
      "after 1000; shorten the stages or train longer");
  EXPECT_EQ(error({{"schedule", "dgc"}, {"density", 0.01}, {"schedule_iterations", 2}}),
            "'sparsifier.schedule': its density 0.004 keeps fewer entries than the 640 that follow "
            "the schedule");
  EXPECT_EQ(error({{"schedule", "dgc"}}),
            "'sparsifier.schedule': this objective has no data set to count epochs of; give "
            "'schedule_iterations'");
  EXPECT_EQ(error({{"schedule", {0.5, 1.5}}, {"k", 1}, {"schedule_iterations", 2}}),
            "'sparsifier.schedule' must list densities in (0, 1], got 1.5");
  EXPECT_EQ(error({{"schedule", Json::array()}, {"k", 1}}),
            "'sparsifier.schedule' must be \"none\", \"dgc\", \"gtopk\", \"gtopk-code\" or a list "
            "of densities, got []");
  EXPECT_EQ(error({{"schedule", {0.1, 0.5}}, {"k", 1}, {"schedule_iterations", 2}}),
            "'sparsifier.schedule' must not increase");
  EXPECT_EQ(error({{"schedule", "dcg"}, {"schedule_iterations", 2}}),
            "unknown value 'dcg' of 'sparsifier.schedule'; did you mean 'dgc'?");
  EXPECT_EQ(error({{"schedule", "dgc"}, {"schedule_iterations", 2}, {"schedule_epochs", 2}}),
            "'sparsifier.schedule_epochs' and 'sparsifier.schedule_iterations': give one of them");
}

}  // namespace
}  // namespace residuum
