// The sharper theorems on problems whose constants are all known: none may be violated, over any
// beginning of any run. Bounds in expectation are compared with the mean over seeds.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/assumptions/theorems/known_problem.h"

namespace residuum {
namespace {

using test::expect_no_violation;
using test::Json;
using test::Recipe;
using test::UnequalQuadratics;

constexpr int kSeeds = 8;

Recipe top_k(const Json& feedback, const std::string& aggregator, double step) {
  return {.sparsifier = {{"kind", "top-k"}, {"k", 6}},
          .aggregator = {{"kind", aggregator}},
          .feedback = feedback,
          .step = {{"value", step}},
          .iterations = 600};
}

const Json kErrorFeedback{{"kind", "ef14"}};

TEST(NoViolation, OfTheMeansContraction) {
  const UnequalQuadratics problem({.noise_variance = 4});
  for (const char* aggregator : {"gtopk-exact", "gtopk-mask", "allgather"}) {
    const auto evidence =
        test::evidence_of(problem, top_k(kErrorFeedback, aggregator, 0.02), kSeeds);
    expect_no_violation("mean-contraction", evidence, aggregator);
  }
}

TEST(NoViolation, OfTheWorkersContraction) {
  const UnequalQuadratics problem({.noise_variance = 4});
  for (const Json& sparsifier :
       {Json{{"kind", "top-k"}, {"k", 6}}, Json{{"kind", "rand-k"}, {"k", 12}}}) {
    Recipe recipe = top_k(kErrorFeedback, "allgather", 0.02);
    recipe.sparsifier = sparsifier;
    expect_no_violation("worker-contraction",
                        test::evidence_of(problem, recipe, kSeeds),
                        sparsifier["kind"].get<std::string>());
  }
}

struct Rule {
  std::string name;
  Recipe recipe;
};

/// eta' = 0.02 in all, with momentum 0.9 where there is one.
std::vector<Rule> rules() {
  std::vector<Rule> rules;
  const auto add = [&](const std::string& name, const Json& feedback, double momentum) -> Recipe& {
    const bool is_dense = name.starts_with("dense");
    Recipe recipe = top_k(feedback, is_dense ? "dense" : "gtopk-tree", 0.002);
    if (is_dense) {
      recipe.sparsifier = {{"kind", "none"}};
    }
    recipe.momentum = momentum;
    rules.push_back({name, recipe});
    return rules.back().recipe;
  };
  add("dense momentum", {{"kind", "none"}}, 0.9);
  add("momentum", kErrorFeedback, 0.9);
  add("momentum, leaking", {{"kind", "ef14"}, {"putback", "published"}}, 0.9);
  add("momentum and decay", kErrorFeedback, 0.9).weight_decay = 0.1;
  add("decay", kErrorFeedback, 0).step = {{"value", 0.02}};
  rules.back().recipe.weight_decay = 0.1;
  add("dgc", {{"kind", "dgc"}, {"momentum", 0.9}, {"masking", false}}, 0);
  add("dgc with masking and decay", {{"kind", "dgc"}, {"momentum", 0.9}}, 0).weight_decay = 0.1;
  auto& clipped = add("clipped updates", kErrorFeedback, 0.9);
  clipped.clip = Clip::update;
  clipped.clip_norm = 1;
  add("falling steps in units of gradients", {{"kind", "ef14"}, {"units", "gradient"}}, 0.9)
      .step = {{"rule", "inv-sqrt"}, {"value", 0.02}};
  add("ef21-sgdm", {{"kind", "ef21-sgdm"}}, 0).step = {{"value", 0.02}};
  add("ef21 with momentum", {{"kind", "ef21"}}, 0.9);
  return rules;
}

TEST(NoViolation, OfTheCertificateByAnyRule) {
  const UnequalQuadratics problem({.noise_variance = 4});
  for (const auto& [name, recipe] : rules()) {
    const auto evidence = test::evidence_of(problem, recipe, kSeeds);
    expect_no_violation("certificate-any-rule", evidence, name);
    EXPECT_EQ(test::evaluate("certificate", evidence).verdict, BoundVerdict::not_applicable)
        << name;
  }
}

// The mean of first gradients is unbiased whatever the later steps do, and whatever optimiser turns
// them. Workers differ, so that local steps drift apart.
TEST(NoViolation, OfTheCertificateByAnyRuleWhereWorkersStepLocally) {
  const UnequalQuadratics problem({.noise_variance = 4, .spread = 2});
  const auto local = make_protocol(Section("protocol", Json{{"kind", "local"}, {"period", 5}}));
  for (const Json& optimiser : {Json{{"optimiser", "sgd"}},
                                Json{{"optimiser", "momentum"}, {"momentum", 0.5}},
                                Json{{"optimiser", "adamw"}},
                                Json{{"optimiser", "lion"}}}) {
    for (const char* aggregator : {"allgather", "gtopk-tree"}) {
      Recipe recipe = top_k(kErrorFeedback, aggregator, 0.004);
      recipe.local = optimiser;
      recipe.protocol = local.get();
      const auto evidence = test::evidence_of(problem, recipe, kSeeds);
      const std::string name = optimiser.dump() + " " + aggregator;
      expect_no_violation("certificate-any-rule", evidence, name);
      EXPECT_EQ(test::evaluate("certificate", evidence).verdict, BoundVerdict::not_applicable)
          << name;
    }
  }
}

// Every version has one gradient of each worker at one model, so that unequal workers are no bias.
TEST(NoViolation, OfLateGradientsInRoundsWhereWorkersDiffer) {
  const UnequalQuadratics problem({.noise_variance = 4, .spread = 2});
  for (const int lag : {1, 4}) {
    const auto protocol = make_protocol(Section("protocol", Json{{"kind", "bsp"}, {"lag", lag}}));
    Recipe recipe{
        .aggregator = {{"kind", "allgather"}}, .step = {{"value", 0.05}}, .iterations = 400};
    recipe.protocol = protocol.get();
    const auto evidence = test::evidence_of(problem, recipe, kSeeds);
    const Bound bound = expect_no_violation("delayed", evidence, "lag " + std::to_string(lag));
    EXPECT_EQ(test::value_of(bound, "τ"), lag);
    EXPECT_EQ(test::evaluate("certificate", evidence).verdict, BoundVerdict::not_applicable);
  }
}

// theta = 1 - sqrt(0.8), sqrt(beta/theta) = 8.5: steps up to 0.105.
TEST(NoViolation, OfCompressedChangesOfTheModel) {
  for (const double noise : {0.0, 4.0}) {
    const UnequalQuadratics problem({.noise_variance = noise, .spread = 2});
    Recipe recipe{
        .aggregator = {{"kind", "parameter-server"}, {"down", "ef21-p"}, {"density", 0.2}},
        .step = {{"value", 0.1}},
        .iterations = 400};
    const auto evidence = test::evidence_of(problem, recipe, kSeeds);
    const Bound bound = expect_no_violation("ef21-p", evidence, "noise " + std::to_string(noise));
    EXPECT_NEAR(test::value_of(bound, "α"), 0.2, 1e-12);
    for (const char* name : {"bsp", "certificate", "certificate-any-rule", "mean-contraction"}) {
      EXPECT_EQ(test::evaluate(name, evidence).verdict, BoundVerdict::not_applicable) << name;
    }
  }
}

/// 1/(L + factor root L_p) with theta = 1 - sqrt(1 - 0.1).
double ef21_limit(double factor) {
  const double rest = std::sqrt(1 - 0.1);
  return 1 / (1 + factor * rest / (1 - rest));
}

// Without noise nothing is random: every run has to obey.
TEST(NoViolation, OfEf21AndOfItsLinearRate) {
  for (std::uint64_t data_seed = 1; data_seed <= 6; ++data_seed) {
    const UnequalQuadratics problem({.data_seed = data_seed});
    const auto of = [&](double step) {
      return test::evidence_of(problem, top_k({{"kind", "ef21"}}, "allgather", step), 1);
    };
    const std::string name = "data " + std::to_string(data_seed);
    expect_no_violation("ef21", of(ef21_limit(1)), name);
    expect_no_violation("ef21-arithmetic-mean", of(ef21_limit(1)), name);
    expect_no_violation("ef21-pl", of(ef21_limit(std::sqrt(2))), name);
    EXPECT_EQ(test::evaluate("ef21-pl", of(ef21_limit(1))).verdict, BoundVerdict::not_applicable);
  }
}

// L_AM = 1, but sqrt(mean L_p^2) = 1.87: the step may be 1.8 times as long.
TEST(NoViolation, OfEf21WithTheArithmeticMeanWhereWorkersDiffer) {
  for (std::uint64_t data_seed = 1; data_seed <= 6; ++data_seed) {
    const UnequalQuadratics problem({.scales = {0.05, 0.05, 0.1, 3.8}, .data_seed = data_seed});
    const auto evidence =
        test::evidence_of(problem, top_k({{"kind", "ef21"}}, "allgather", ef21_limit(1)), 1);
    const std::string name = "data " + std::to_string(data_seed);
    expect_no_violation("ef21-arithmetic-mean", evidence, name);
    EXPECT_EQ(test::evaluate("ef21", evidence).verdict, BoundVerdict::not_applicable);
  }
}

// Steps of twice the bound that k/d gives for whole messages; and gTop-k, for which no contraction
// is proved.
TEST(NoViolation, OfThreePointCompressorsWithWhatTheRunHasNotRefuted) {
  for (std::uint64_t data_seed = 1; data_seed <= 6; ++data_seed) {
    const UnequalQuadratics problem({.data_seed = data_seed});
    for (const auto& [aggregator, step] : {std::pair{"allgather", 0.1},
                                           std::pair{"gtopk-exact", 0.02},
                                           std::pair{"gtopk-tree", 0.02}}) {
      const Recipe recipe = top_k({{"kind", "ef21"}}, aggregator, step);
      const auto evidence = test::evidence_of(problem, recipe, 1);
      const std::string name = aggregator + (", data " + std::to_string(data_seed));
      const Bound bound = expect_no_violation("3pc", evidence, name);
      for (const auto& one : bound.preconditions) {
        if (one.statement.starts_with("G′")) {
          EXPECT_EQ(one.state, PreconditionState::no_violation_seen);
        }
      }
      EXPECT_EQ(test::evaluate("ef21", evidence).verdict, BoundVerdict::not_applicable);
    }
  }
}

TEST(NoViolation, OfEf21Sgdm) {
  for (const double averaging : {0.1, 0.5, 1.0}) {
    for (const double noise : {0.0, 4.0}) {
      const UnequalQuadratics problem({.noise_variance = noise});
      const double root =
          std::sqrt(2 / (averaging * averaging) + 16 * (1 + averaging * averaging) / (0.1 * 0.1));
      const Json feedback{{"kind", "ef21-sgdm"}, {"averaging", averaging}};
      const auto evidence =
          test::evidence_of(problem, top_k(feedback, "allgather", 1 / (1 + root)), kSeeds);
      expect_no_violation(
          "ef21-sgdm", evidence, "a = " + fmt::format("{}, sigma^2 = {}", averaging, noise));
    }
  }
}

// alpha = 1/10, L = L_p = 1.
TEST(NoViolation, OfEControl) {
  for (const double weight : {0.002, 0.01}) {
    for (const double noise : {0.0, 4.0}) {
      const UnequalQuadratics problem({.noise_variance = noise});
      const double nu = 0.9 * (1 + weight) * (1 + weight);
      const double change = 6 * 0.9 * (1 + nu) / ((1 - nu) * (1 - nu));
      const double limit = std::sqrt(weight / std::sqrt(32 * change));
      const Json feedback{{"kind", "econtrol"}, {"error_weight", weight}};
      const auto evidence = test::evidence_of(
          problem,
          top_k(feedback, "allgather", std::min(limit, 1 / std::sqrt(32 * change))),
          kSeeds);
      expect_no_violation("econtrol", evidence, fmt::format("w = {}, sigma^2 = {}", weight, noise));
    }
  }
}

}  // namespace
}  // namespace residuum
