// Which methods have a predicted delta, and what it is: by the laws of their parts.

#include "assumptions/delta_prediction.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "core/training/method_facts.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;

DeltaPrediction predicted(const Json& sparsifier,
                          const std::string& aggregator,
                          const Json& feedback = {{"kind", "ef14"}},
                          const std::vector<Segment>& layers = {}) {
  const auto method = test::method_of({.sparsifier = sparsifier,
                                       .aggregator = {{"kind", aggregator}},
                                       .feedback = feedback,
                                       .iterations = 100,
                                       .layers = layers},
                                      1000);
  RunFacts facts = method_facts(method, 1000, ProtocolLaw(), 8);
  facts.k = 10;  // where thresholds decide, too
  return predict_delta(facts);
}

const Json kTop{{"kind", "top-k"}, {"k", 10}};
const std::vector<std::string> kAggregators{
    "dense", "allgather", "gtopk-exact", "gtopk-tree", "gtopk-mask"};

TEST(DeltaPrediction, OfTopKGoesByWhatBecomesOfTheMessages) {
  const double whole = *predicted_delta_iid(Combination::whole, 0.01, 8);
  EXPECT_EQ(predicted(kTop, "allgather").delta, whole);
  EXPECT_EQ(predicted(kTop, "dense").delta, whole);
  EXPECT_EQ(predicted(kTop, "gtopk-tree").delta,
            predicted_delta_iid(Combination::selected, 0.01, 8));
  EXPECT_EQ(predicted(kTop, "gtopk-mask").delta,
            predicted_delta_iid(Combination::completed, 0.01, 8));
  EXPECT_EQ(predicted(kTop, "gtopk-exact").delta, overlapping_delta_iid(0.01, 8));
  EXPECT_EQ(predicted(kTop, "gtopk-tree").largest_workers, largest_workers_iid(0.01));
  EXPECT_EQ(predicted(kTop, "gtopk-exact").largest_workers, *largest_workers_overlapping(0.01));
  for (const char* unlimited : {"allgather", "dense", "gtopk-mask"}) {
    EXPECT_FALSE(predicted(kTop, unlimited).largest_workers.has_value()) << unlimited;
  }
}

/// Mean over all subsets S of k of d indices of |a - scale a_S|^2, over (1 - k/d) |a|^2.
double enumerated(const std::vector<double>& a, int k, double scale) {
  const auto d = static_cast<double>(a.size());
  double error = 0;
  double energy = 0;
  double subsets = 0;
  for (const double value : a) {
    energy += value * value;
  }
  for (unsigned subset = 0; subset < 1U << a.size(); ++subset) {
    if (std::popcount(subset) != k) {
      continue;
    }
    ++subsets;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double kept = (subset >> i & 1U) != 0 ? scale * a[i] : 0;
      error += (a[i] - kept) * (a[i] - kept);
    }
  }
  return error / subsets / ((1 - k / d) * energy);
}

TEST(DeltaPrediction, OfASharedRandomSupportIsExactWhateverIsAccumulated) {
  const std::vector<double> mean{5, -1, 0, 2, 2, -7};
  for (const auto& aggregator : kAggregators) {
    const auto delta = predicted({{"kind", "rand-k"}, {"k", 10}}, aggregator).delta;
    EXPECT_EQ(delta, 1) << aggregator;
    EXPECT_NEAR(*delta, enumerated(mean, 2, 1), 1e-12);
  }
  // Scaled by d/k = 3/2: |a - C(a)|^2 = (d/k - 1) |a|^2, over 1 - k/d: delta = d/k.
  const RunFacts scaled{
      .workers = 8,
      .dimension = 6,
      .k = 4,
      .sparsifier = {.contraction = 2 - 1.5, .exact = true, .shares_support = true}};
  EXPECT_NEAR(*predict_delta(scaled).delta, 1.5, 1e-15);
  EXPECT_NEAR(enumerated(mean, 4, 1.5), 1.5, 1e-12);
}

TEST(DeltaPrediction, IsOneForASharedSupportByLayersOfOneShare) {
  const std::vector<Segment> halves{{.begin = 0, .size = 500}, {.begin = 500, .size = 500}};
  const Json values{{"kind", "rand-k"}, {"density", 0.01}, {"scope", "layer"}};

  EXPECT_EQ(predicted(values, "allgather", {{"kind", "ef14"}}, halves).delta, 1);
}

TEST(DeltaPrediction, IsAbsentWhereNoLawIsKnown) {
  const std::vector<Segment> halves{{.begin = 0, .size = 500}, {.begin = 500, .size = 500}};
  for (const auto& aggregator : kAggregators) {
    const auto none = [&](const Json& sparsifier) {
      EXPECT_FALSE(predicted(sparsifier, aggregator, {{"kind", "ef14"}}, halves).delta.has_value())
          << sparsifier << ' ' << aggregator;
    };
    none({{"kind", "hard-threshold"}, {"threshold", 0.5}});
    for (const char* kind : {"gaussian-k", "exponential-k", "gamma-k", "pareto-k"}) {
      none({{"kind", kind}, {"density", 0.01}});
    }
    none({{"kind", "rand-k"}, {"k", 10}, {"mask", "per-worker"}});
    none({{"kind", "rand-k"}, {"k", 10}, {"scaled", true}});
    none({{"kind", "top-k"}, {"density", 0.01}, {"scope", "layer"}});
    none({{"kind", "top-k"}, {"k", 10}, {"schedule", {0.5}}, {"schedule_iterations", 5}});
    EXPECT_FALSE(predicted(kTop, aggregator, {{"kind", "ef21"}}).delta.has_value());
    EXPECT_FALSE(predicted(kTop, aggregator, {{"kind", "dgc"}}).delta.has_value());
  }
  RunFacts facts{
      .workers = 4, .dimension = 100, .k = 10, .aggregator = {.applies_whole_messages = false}};
  EXPECT_FALSE(predict_delta(facts).delta.has_value()) << "of rules of one's own";
  facts.sparsifier.keeps_largest = true;
  EXPECT_FALSE(predict_delta(facts).delta.has_value());
  facts.aggregator.selects_largest = true;
  EXPECT_TRUE(predict_delta(facts).delta.has_value());
  facts.k = 100;
  facts.sparsifier = {
      .contraction = 1, .exact = true, .keeps_largest = true, .shares_support = true};
  EXPECT_FALSE(predict_delta(facts).delta.has_value()) << "nothing is dropped";
}

TEST(DeltaPrediction, OfPlainCompressedGradientsIsThatOfAccumulators) {
  EXPECT_EQ(predicted(kTop, "gtopk-tree", {{"kind", "none"}}).delta,
            predicted(kTop, "gtopk-tree").delta);
}

}  // namespace
}  // namespace residuum
