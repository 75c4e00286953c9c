// Laws of every sparsifier of the registry, in both precisions, on vectors of every kind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <rapidcheck.h>
#include <set>
#include <string>
#include <vector>

#include "core/sparsifiers/sparsifier.h"
#include "core/vectors/dense.h"
#include "tests/core/for_all.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

struct Named {
  std::string name;
  std::unique_ptr<Sparsifier> rule;
  bool is_scaled = false;  // sends d/k times the entries
};

/// The registry's examples and the variants of theirs that have laws of their own.
std::vector<Named> rules() {
  std::vector<Named> all;
  for (const auto& entry : sparsifiers()) {
    all.push_back({std::string(entry.name), entry.make(example_section("sparsifier", entry))});
  }
  for (const test::Json& variant :
       {test::Json{{"kind", "rand-k"}, {"density", 0.5}, {"mask", "per-worker"}},
        test::Json{{"kind", "rand-k"}, {"k", 3}, {"scaled", true}},
        test::Json{{"kind", "rand-k"}, {"density", 0.7}, {"scaled", true}, {"mask", "per-worker"}},
        test::Json{{"kind", "r-top-k"}, {"density", 0.25}, {"r_over_k", 1}},
        test::Json{{"kind", "r-top-k"}, {"density", 0.25}, {"r_over_k", 3}},
        test::Json{{"kind", "top-k"}, {"density", 0.25}},
        test::Json{{"kind", "chunk-top-k"}, {"density", 0.25}, {"block", 7}},
        test::Json{{"kind", "chunk-top-k"}, {"k", 2}, {"block", 1}},
        test::Json{{"kind", "chunk-top-k"}, {"density", 0.25}},
        test::Json{{"kind", "random-block"}, {"density", 0.5}, {"block", 7}},
        test::Json{{"kind", "random-block"}, {"k", 3}, {"block", 4}, {"mask", "per-worker"}},
        test::Json{{"kind", "random-block"}, {"k", 3}, {"block", 1}, {"scaled", true}},
        test::Json{{"kind", "exponential-k"}, {"density", 0.05}, {"stages", 3}},
        test::Json{{"kind", "gamma-k"}, {"density", 0.05}, {"stages", 3}},
        test::Json{{"kind", "pareto-k"}, {"density", 0.05}, {"stages", 3}},
        test::Json{{"kind", "hard-threshold"}, {"threshold", 0}},
        test::Json{{"kind", "hard-threshold"}, {"threshold", 0.5}, {"rule", "eta-scaled"}},
        test::Json{{"kind", "hard-threshold"}, {"density", 0.5}}}) {
    all.push_back({variant.dump(), test::sparsifier(variant), variant.value("scaled", false)});
  }
  return all;
}

template <class Real>
Message<Real> message(const Sparsifier& rule,
                      const std::vector<Real>& accumulator,
                      const SelectionContext& context) {
  Message<Real> result;
  SelectWorkspace workspace;
  // Leftovers of another iteration must not matter.
  result.everything = true;
  result.entries.push_back(99, 1);
  rule.select(std::span<const Real>(accumulator), context, workspace, result);
  return result;
}

template <class Real>
std::vector<Real> kept(const Message<Real>& sent, const std::vector<Real>& accumulator) {
  return sent.everything ? accumulator : test::dense(sent.entries, accumulator.size());
}

template <class Real>
std::vector<Real> dropped(const Message<Real>& sent, const std::vector<Real>& accumulator) {
  auto rest = accumulator;
  const auto taken = kept(sent, accumulator);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest[i] -= taken[i];
  }
  return rest;
}

/// At least 3 entries, so that the examples' k = 3 fits: normal, of few values, all equal, zero.
template <class Real>
std::vector<Real> any_vector() {
  const auto size = static_cast<std::size_t>(*rc::gen::inRange(3, 60));
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const int form = *rc::gen::inRange(0, 5);
  RandomStream random(seed, Purpose::test, 0, 0);
  std::vector<Real> x(size);
  for (Real& value : x) {
    value = static_cast<Real>(form == 0   ? random.normal()
                              : form == 1 ? (random.below(3) - 1.0)
                              : form == 2 ? 0.75
                              : form == 3 ? 0.0
                                          : std::exp(8 * random.normal()));
  }
  return x;
}

SelectionContext any_context() {
  return {.seed = *rc::gen::arbitrary<std::uint64_t>(),
          .worker = *rc::gen::inRange(0, 100),
          .iteration = *rc::gen::arbitrary<std::uint32_t>(),
          .step_size = *rc::gen::element(0.01, 0.5, 1.0, 3.0)};
}

template <class Real>
class SparsifierLaws : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(SparsifierLaws, Reals);

TYPED_TEST(SparsifierLaws, MessagesAreWellFormedAndTakenFromTheAccumulator) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    SCOPED_TRACE(name);
    test::for_all([&rule = *rule, scaled = is_scaled] {
      const auto x = any_vector<TypeParam>();
      const auto sent = message(rule, x, any_context());
      const auto k = rule.k(x.size());

      RC_ASSERT(is_well_formed(sent.entries, x.size()));
      const auto scale = static_cast<TypeParam>(
          scaled ? static_cast<double>(x.size()) / static_cast<double>(*k) : 1.0);
      for (std::size_t i = 0; i < sent.entries.size(); ++i) {
        RC_ASSERT(sent.entries.values[i] == scale * x[sent.entries.indices[i]]);
      }
      const bool is_within_k = sent.entries.size() <= k.value_or(x.size());
      RC_ASSERT((sent.everything ? k == x.size() : is_within_k));
    });
  }
}

TYPED_TEST(SparsifierLaws, TheSameContextGivesTheSameMessage) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    SCOPED_TRACE(name);
    test::for_all([&rule = *rule] {
      const auto x = any_vector<TypeParam>();
      const auto context = any_context();
      const auto first = message(rule, x, context);
      const auto second = message(rule, x, context);
      RC_ASSERT(first.everything == second.everything);
      RC_ASSERT(first.entries == second.entries);
    });
  }
}

TYPED_TEST(SparsifierLaws, APathwiseContractionHoldsForEveryVector) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    SCOPED_TRACE(name);
    test::for_all([&rule = *rule] {
      const auto x = any_vector<TypeParam>();
      const auto context = any_context();
      const auto law = rule.law(x.size(), context.step_size);
      if (!law.pathwise || !law.contraction) {
        return;
      }
      const auto rest = dropped(message(rule, x, context), x);
      const double bound = (1 - *law.contraction) * norm_sq<TypeParam>(x);
      RC_ASSERT(norm_sq<TypeParam>(rest) <= bound * (1 + 1e-12));
    });
  }
}

TYPED_TEST(SparsifierLaws, AThresholdBoundsWhatIsDroppedEntryByEntry) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    SCOPED_TRACE(name);
    test::for_all([&rule = *rule] {
      const auto x = any_vector<TypeParam>();
      const auto context = any_context();
      const auto law = rule.law(x.size(), context.step_size);
      if (!law.threshold) {
        return;
      }
      const auto rest = dropped(message(rule, x, context), x);
      const auto largest = norm_inf<TypeParam>(rest);
      RC_ASSERT(largest < static_cast<TypeParam>(*law.threshold) || largest == 0);
    });
  }
}

TYPED_TEST(SparsifierLaws, ADeterministicRuleKnowsNoContext) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    SCOPED_TRACE(name);
    test::for_all([&rule = *rule] {
      const auto x = any_vector<TypeParam>();
      if (!rule.law(x.size(), 1).deterministic) {
        return;
      }
      auto context = any_context();
      const auto first = message(rule, x, context);
      context.seed += 1;
      context.worker += 1;
      context.iteration += 1;
      const auto second = message(rule, x, context);
      RC_ASSERT(first.everything == second.everything);
      RC_ASSERT(first.entries == second.entries);
    });
  }
}

TYPED_TEST(SparsifierLaws, ARuleThatKeepsTheLargestIsTopK) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    SCOPED_TRACE(name);
    test::for_all([&rule = *rule] {
      const auto x = any_vector<TypeParam>();
      if (!rule.law(x.size(), 1).keeps_largest) {
        return;
      }
      const auto top = test::sparsifier({{"kind", "top-k"}, {"k", *rule.k(x.size())}});
      RC_ASSERT(kept(message(rule, x, any_context()), x) == kept(message(*top, x, {}), x));
    });
  }
}

TYPED_TEST(SparsifierLaws, ASharedSupportDependsOnNoAccumulator) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    SCOPED_TRACE(name);
    test::for_all([&rule = *rule] {
      const auto size = static_cast<std::size_t>(*rc::gen::inRange(3, 60));
      if (!rule.law(size, 1).shares_support) {
        return;
      }
      std::vector<TypeParam> x(size);
      std::iota(x.begin(), x.end(), TypeParam{1});
      auto context = any_context();
      const auto first = message(rule, x, context);
      std::reverse(x.begin(), x.end());
      context.worker += 1;
      RC_ASSERT(first.entries.indices == message(rule, x, context).entries.indices);
    });
  }
}

/// The flags of a law in the order of SparsifierLaw.
std::vector<bool> claims(const test::Json& values, std::size_t dimension) {
  const auto law = test::sparsifier(values)->law(dimension, 1);
  return {law.exact,
          law.deterministic,
          law.keeps_largest,
          law.shares_support,
          law.unbiased,
          law.threshold_scales};
}

TEST(Sparsifiers, ClaimWhatIsKnownOfThem) {
  using Flags = std::vector<bool>;
  EXPECT_EQ(claims({{"kind", "none"}}, 20), (Flags{true, true, true, true, true, false}));
  EXPECT_EQ(claims({{"kind", "top-k"}, {"k", 3}}, 20),
            (Flags{false, true, true, false, false, false}));
  EXPECT_EQ(claims({{"kind", "rand-k"}, {"k", 3}}, 20),
            (Flags{true, false, false, true, false, false}));
  EXPECT_EQ(claims({{"kind", "rand-k"}, {"k", 3}, {"mask", "per-worker"}}, 20),
            (Flags{true, false, false, false, false, false}));
  EXPECT_EQ(claims({{"kind", "rand-k"}, {"k", 15}, {"scaled", true}}, 20),
            (Flags{true, false, false, true, true, false}));
  EXPECT_EQ(claims({{"kind", "rand-k"}, {"k", 3}, {"scaled", true}}, 20),
            (Flags{false, false, false, true, true, false}))
      << "for k <= d/2 it is no contraction";
  EXPECT_EQ(claims({{"kind", "r-top-k"}, {"k", 3}}, 20),
            (Flags{false, false, false, false, false, false}));
  EXPECT_EQ(claims({{"kind", "chunk-top-k"}, {"k", 3}, {"block", 7}}, 20),
            (Flags{false, true, false, false, false, false}));
  EXPECT_EQ(claims({{"kind", "chunk-top-k"}, {"k", 3}, {"block", 20}}, 20),
            (Flags{false, true, true, false, false, false}))
      << "of one block it keeps the largest of all";
  EXPECT_EQ(claims({{"kind", "random-block"}, {"k", 3}, {"block", 7}}, 20),
            (Flags{true, false, false, true, false, false}));
  EXPECT_EQ(claims({{"kind", "random-block"}, {"k", 3}, {"mask", "per-worker"}}, 20),
            (Flags{true, false, false, false, false, false}));
  EXPECT_EQ(claims({{"kind", "random-block"}, {"k", 3}, {"block", 7}, {"scaled", true}}, 20),
            (Flags{false, false, false, true, true, false}))
      << "for m <= B/2 it is no contraction";
  EXPECT_EQ(claims({{"kind", "hard-threshold"}, {"threshold", 1}}, 20),
            (Flags{false, true, false, false, false, false}));
  EXPECT_EQ(claims({{"kind", "hard-threshold"}, {"threshold", 1}, {"rule", "eta-scaled"}}, 20),
            (Flags{false, true, false, false, false, true}));
  for (const char* kind : {"gaussian-k", "exponential-k", "gamma-k", "pareto-k"}) {
    EXPECT_EQ(claims({{"kind", kind}, {"density", 0.1}}, 20),
              (Flags{false, true, false, false, false, false}))
        << kind;
  }
}

TEST(Sparsifiers, OfTheirOwnClaimNothing) {
  const SparsifierLaw law;
  EXPECT_FALSE(law.exact || law.deterministic || law.keeps_values || law.keeps_largest ||
               law.shares_support || law.unbiased || law.threshold_scales);
}

/// A rule without scaling sends entries as they are, or not at all.
TEST(Sparsifiers, ThatDoNotScaleKeepValues) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    EXPECT_EQ(rule->law(20, 1).keeps_values, !is_scaled) << name;
  }
}

TEST(WeakerOf, HoldsWhereEitherDoes) {
  const SparsifierLaw strong{.contraction = 0.5,
                             .pathwise = true,
                             .threshold = 1,
                             .exact = true,
                             .deterministic = true,
                             .keeps_largest = true};
  SparsifierLaw weak = strong;
  weak.contraction = 0.25;
  weak.threshold = 3;
  weak.deterministic = false;

  const auto law = weaker_of(strong, weak);

  EXPECT_EQ(law.contraction, 0.25);
  EXPECT_EQ(law.threshold, 3);
  EXPECT_TRUE(law.pathwise);
  EXPECT_TRUE(law.keeps_largest);
  EXPECT_FALSE(law.deterministic);
  EXPECT_FALSE(law.exact) << "the share differs";
  EXPECT_TRUE(weaker_of(strong, strong).exact);
  weak.contraction.reset();
  EXPECT_FALSE(weaker_of(strong, weak).contraction.has_value());
}

TYPED_TEST(SparsifierLaws, TakeAVectorOfOneEntry) {
  for (const test::Json& values : {test::Json{{"kind", "none"}},
                                   test::Json{{"kind", "top-k"}, {"k", 1}},
                                   test::Json{{"kind", "rand-k"}, {"density", 0.1}},
                                   test::Json{{"kind", "hard-threshold"}, {"threshold", 1}}}) {
    const auto rule = test::sparsifier(values);
    const std::vector<TypeParam> x{-2};
    EXPECT_EQ(kept(message(*rule, x, {}), x), x) << values;
  }
}

TYPED_TEST(SparsifierLaws, SendNothingOfAZeroVectorButItsWhole) {
  for (const auto& [name, rule, is_scaled] : rules()) {
    const std::vector<TypeParam> zero(5);
    EXPECT_TRUE(message(*rule, zero, {}).entries.empty()) << name;
  }
}

TYPED_TEST(SparsifierLaws, KeepEverythingWhereKIsTheDimension) {
  const std::vector<TypeParam> x{1, 0, -2, 0.5};
  for (const char* kind : {"top-k", "rand-k", "r-top-k", "chunk-top-k", "random-block"}) {
    const auto rule = test::sparsifier({{"kind", kind}, {"k", 4}});
    EXPECT_EQ(kept(message(*rule, x, {}), x), x) << kind;
  }
}

TEST(Sparsifiers, RefuseAKAboveTheDimension) {
  for (const test::Json& values : {test::Json{{"kind", "top-k"}, {"k", 6}},
                                   test::Json{{"kind", "rand-k"}, {"k", 6}},
                                   test::Json{{"kind", "r-top-k"}, {"k", 6}},
                                   test::Json{{"kind", "chunk-top-k"}, {"k", 6}},
                                   test::Json{{"kind", "random-block"}, {"k", 6}},
                                   test::Json{{"kind", "gaussian-k"}, {"k", 6}},
                                   test::Json{{"kind", "hard-threshold"}, {"k", 6}}}) {
    const auto rule = test::sparsifier(values);
    EXPECT_THAT(test::error_of([&] { rule->k(5); }), testing::HasSubstr("only 5 parameters"))
        << values;
    EXPECT_EQ(test::error_of([&] { rule->k(6); }), "") << values;
  }
}

}  // namespace
}  // namespace residuum
