// Every matcher passes where the law holds and explains itself where it does not.

#include "assumptions/testing/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/assumptions/support.h"

namespace residuum {
namespace {

using matchers::ConservesMass;
using matchers::HasNoLostMass;
using matchers::IsContractive;
using matchers::KeepsItsLaw;
using matchers::SatisfiesGTopKAssumption;
using matchers::StaysUnderCertificate;
using testing::AllOf;
using testing::ExplainMatchResult;
using testing::HasSubstr;
using testing::Not;
using testing::StringMatchResultListener;

/// Returns the text by which the matcher explains its verdict on the subject.
template <class Matcher, class Subject>
std::string explanation(const Matcher& matcher, const Subject& subject) {
  StringMatchResultListener listener;
  ExplainMatchResult(matcher, subject, &listener);
  return listener.str();
}

/// Sends what `choose` says, in the order it says.
class Scripted final : public SparsifierFor<Scripted> {
 public:
  using Choose = void (*)(std::size_t d, std::uint64_t seed, std::vector<std::uint32_t>& indices);
  Scripted(Choose choose, SparsifierLaw law) : choose_(choose), law_(law) {}

  template <class Real>
  void select(std::span<const Real> a,
              const SelectionContext& context,
              SelectWorkspace& /*workspace*/,
              Message<Real>& message) const {
    message.everything = false;
    message.entries.clear();
    std::vector<std::uint32_t> indices;
    choose_(a.size(), context.seed, indices);
    for (const std::uint32_t i : indices) {
      message.entries.push_back(i, a[i]);
    }
  }
  std::optional<std::size_t> k(std::size_t /*dimension*/) const override { return 1; }
  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override { return law_; }

 private:
  Choose choose_;
  SparsifierLaw law_;
};

/// A sparsifier that sends the same entries as `rule` and claims another law.
class Renamed final : public SparsifierFor<Renamed> {
 public:
  Renamed(const Sparsifier& rule, SparsifierLaw law) : rule_(rule), law_(law) {}

  template <class Real>
  void select(std::span<const Real> a,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    rule_.select(a, context, workspace, message);
  }
  std::optional<std::size_t> k(std::size_t dimension) const override { return rule_.k(dimension); }
  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override { return law_; }

 private:
  const Sparsifier& rule_;
  SparsifierLaw law_;
};

void first_entry(std::size_t /*d*/, std::uint64_t /*seed*/, std::vector<std::uint32_t>& indices) {
  indices = {0};
}

TEST(IsContractive, HoldsForTopKUpToKOverD) {
  const auto top_k = test::sparsifier({{"kind", "top-k"}, {"k", 6}});
  EXPECT_THAT(*top_k, IsContractive(0.1, 60));
  EXPECT_THAT(*top_k, Not(IsContractive(0.11, 60))) << "equal magnitudes attain k/d";
}

TEST(IsContractive, NamesTheVectorThatSpeaksAgainstIt) {
  const auto top_k = test::sparsifier({{"kind", "top-k"}, {"k", 6}});
  EXPECT_THAT(explanation(IsContractive(0.5, 60), *top_k),
              AllOf(HasSubstr("'all of one magnitude' of 60 entries"),
                    HasSubstr("= 0.9 |a|^2"),
                    HasSubstr("allowed is 0.5 |a|^2")));
}

TEST(IsContractive, IsAboutTheExpectationOfARandomRule) {
  // E|a - Rand_k(a)|^2 = (1 - k/d) |a|^2 exactly; a single draw can lose everything of a one-hot.
  const auto rand_k = test::sparsifier({{"kind", "rand-k"}, {"k", 15}});
  EXPECT_THAT(*rand_k, IsContractive(0.25, 60));
  EXPECT_THAT(*rand_k, Not(IsContractive(0.35, 60)));
  EXPECT_THAT(explanation(IsContractive(0.5, 60), *rand_k), HasSubstr("mean of 2000 draws"));
}

TEST(IsContractive, SeesThatAFixedEntryIsNoSelection) {
  const Scripted fixed(first_entry, {});
  EXPECT_THAT(fixed, Not(IsContractive(0.001)));
}

TEST(KeepsItsLaw, HoldsForEverySparsifierOfTheRegistry) {
  for (const auto& entry : sparsifiers()) {
    const auto made = entry.make(example_section("sparsifier", entry));
    EXPECT_THAT(*made, KeepsItsLaw()) << entry.name;
  }
}

TEST(KeepsItsLaw, SeesWhatIsWrong) {
  const auto fault = [](Scripted::Choose choose, const SparsifierLaw& law) {
    return explanation(KeepsItsLaw(), Scripted(choose, law));
  };
  const auto unsorted = [](std::size_t, std::uint64_t, std::vector<std::uint32_t>& indices) {
    indices = {3, 1};
  };
  EXPECT_THAT(fault(unsorted, {}), HasSubstr("sorted by index, without zeros"));
  const auto too_many = [](std::size_t d, std::uint64_t, std::vector<std::uint32_t>& indices) {
    indices = {0, static_cast<std::uint32_t>(d - 1)};
  };
  EXPECT_THAT(fault(too_many, {}), HasSubstr("2 entries are sent, but k is 1"));
  EXPECT_THAT(fault(first_entry, {.contraction = {}, .pathwise = true, .threshold = 0.5}),
              HasSubstr("of magnitude 0.75 is not sent, the threshold is 0.5"));
  const auto restless = [](std::size_t, std::uint64_t, std::vector<std::uint32_t>& indices) {
    static std::uint32_t calls = 0;
    indices = {++calls % 2};
  };
  EXPECT_THAT(fault(restless, {}), HasSubstr("two different messages"));
}

TEST(KeepsItsLaw, SeesAClaimThatIsTooBold) {
  const auto nothing = [](std::size_t, std::uint64_t, std::vector<std::uint32_t>&) {};
  const Scripted silent(nothing, {.contraction = 0.1, .pathwise = true, .threshold = {}});
  EXPECT_THAT(explanation(KeepsItsLaw(), silent), HasSubstr("= 1 |a|^2, allowed is 0.9 |a|^2"));
}

/// One entry, the seed's.
void drawn_entry(std::size_t d, std::uint64_t seed, std::vector<std::uint32_t>& indices) {
  indices = {static_cast<std::uint32_t>(seed % d)};
}

/// No entry: a message that every vector allows.
void no_entry(std::size_t /*d*/, std::uint64_t /*seed*/, std::vector<std::uint32_t>& /*indices*/) {}

TEST(KeepsItsLaw, SeesClaimsThatAreNotTrue) {
  const auto fault = [](Scripted::Choose choose, const SparsifierLaw& law) {
    return explanation(KeepsItsLaw(), Scripted(choose, law));
  };
  EXPECT_THAT(fault(drawn_entry, {.contraction = {}, .threshold = {}, .deterministic = true}),
              HasSubstr("though the law is 'deterministic'"));
  EXPECT_THAT(fault(no_entry, {.contraction = {}, .threshold = {}, .keeps_largest = true}),
              HasSubstr("though the law is 'keeps_largest'"));
  EXPECT_THAT(fault(no_entry, {.contraction = {}, .threshold = {}, .unbiased = true}),
              HasSubstr("though the law is 'unbiased'"));
  EXPECT_THAT(fault(no_entry, {.contraction = {}, .threshold = {}, .exact = true}),
              HasSubstr("'exact', but has no contraction"));
  EXPECT_THAT(fault(no_entry, {.contraction = {}, .threshold = 1e300, .threshold_scales = true}),
              HasSubstr("'threshold_scales'"));
}

TEST(KeepsItsLaw, SeesAnExactnessThatIsOnlyABound) {
  const auto top_k = test::sparsifier({{"kind", "top-k"}, {"k", 6}});
  const Renamed bold(*top_k,
                     {.contraction = 0.1, .pathwise = true, .threshold = {}, .exact = true});

  EXPECT_THAT(*top_k, KeepsItsLaw());
  EXPECT_THAT(explanation(KeepsItsLaw(), bold), HasSubstr("required is 0.9 |a|^2"));
}

TEST(KeepsItsLaw, SeesValuesThatAreNotKept) {
  const auto scaled = test::sparsifier({{"kind", "rand-k"}, {"k", 6}, {"scaled", true}});
  const Renamed bold(*scaled, {.contraction = {}, .threshold = {}, .keeps_values = true});

  EXPECT_THAT(*scaled, KeepsItsLaw());
  EXPECT_THAT(explanation(KeepsItsLaw(), bold), HasSubstr("'keeps_values'"));
}

TEST(KeepsItsLaw, SeesASupportThatIsNotShared) {
  const auto masks = test::sparsifier({{"kind", "rand-k"}, {"k", 6}, {"mask", "per-worker"}});
  const Renamed bold(*masks, {.contraction = {}, .threshold = {}, .shares_support = true});

  EXPECT_THAT(explanation(KeepsItsLaw(), bold), HasSubstr("'shares_support'"));
}

TEST(KeepsItsLaw, HoldsForRandomRulesInAllTheirForms) {
  for (const test::Json& values : {test::Json{{"kind", "rand-k"}, {"k", 6}},
                                   test::Json{{"kind", "rand-k"}, {"k", 6}, {"mask", "per-worker"}},
                                   test::Json{{"kind", "rand-k"}, {"k", 6}, {"scaled", true}},
                                   test::Json{{"kind", "rand-k"}, {"k", 45}, {"scaled", true}}}) {
    EXPECT_THAT(*test::sparsifier(values), KeepsItsLaw()) << values;
  }
}

TEST(ConservesMass, HoldsForTheCapturedPutBack) {
  for (const auto& aggregator : test::list_aggregator_names()) {
    EXPECT_THAT(laws::method_of({.sparsifier = {{"kind", "top-k"}, {"k", 3}},
                                 .aggregator = {{"kind", aggregator}}}),
                ConservesMass())
        << aggregator;
  }
}

TEST(ConservesMass, SaysWithHowManyWorkersWhatWasLost) {
  // Cannot happen with two workers: the first merge that cuts another's entry needs three.
  const Method tree = laws::method_of({.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                                       .aggregator = {{"kind", "gtopk-tree"}},
                                       .feedback = {{"kind", "ef14"}, {"putback", "published"}}});
  EXPECT_THAT(tree, Not(ConservesMass()));
  EXPECT_THAT(explanation(ConservesMass(), tree),
              testing::ContainsRegex("^P = [3-9] in float64, iteration [0-7]: .sum a - sum e"));

  const Method forgetful = laws::method_of({.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                                            .aggregator = {{"kind", "allgather"}},
                                            .feedback = {{"kind", "none"}}});
  EXPECT_THAT(explanation(ConservesMass(), forgetful), HasSubstr("P = 1 in float64"));
}

TEST(ConservesMass, AMethodWithAnUnknownKeyIsRefused) {
  EXPECT_THAT(test::error_of([] {
                laws::method_of({.sparsifier = {{"kind", "top-k"}, {"k", 1}, {"kk", 2}},
                                 .aggregator = {{"kind", "allgather"}}});
              }),
              HasSubstr("kk"));
}

TEST(SatisfiesGTopKAssumption, SplitsDeltaWhereItFails) {
  // Mean a = (5, 10.5, 10.5), the selection {0, 1}: in 100 / D, out 110.25 / D, D = 245.5 / 3.
  const laws::Vectors broken{{30, 0, 0}, {-20, 21, 21}};
  EXPECT_THAT(broken, Not(SatisfiesGTopKAssumption("gtopk-exact", 2)));
  EXPECT_THAT(explanation(SatisfiesGTopKAssumption("gtopk-exact", 2), broken),
              AllOf(HasSubstr("delta = 2.569246"),
                    HasSubstr("1.221996 on the selected"),
                    HasSubstr("1.347251 off them")));

  const laws::Vectors fine{{3, 0, 0}, {0, 4, 0}, {3, 0, 0}, {0, 0, 4}};
  EXPECT_THAT(fine, SatisfiesGTopKAssumption("gtopk-exact", 1));
  EXPECT_THAT(fine, Not(SatisfiesGTopKAssumption("gtopk-tree", 1)));
}

TEST(SatisfiesGTopKAssumption, WhatIsNotDefinedIsNotSatisfied) {
  const laws::Vectors cancelled{{1, 2}, {-1, -2}};
  EXPECT_THAT(explanation(SatisfiesGTopKAssumption("gtopk-exact", 1), cancelled),
              HasSubstr("not defined"));
  const laws::Vectors ragged{{1, 2}, {1}};
  EXPECT_THAT(test::error_of([&] { laws::satisfies_gtopk_assumption(ragged, "gtopk-exact", 1); }),
              HasSubstr("2 and 1 entries"));
}

TEST(HasNoLostMass, TellsThePublishedFromTheCapturedPutBack) {
  const laws::Vectors workers{{5, 0}, {5, 0}, {0, 6}, {1, 0}};
  EXPECT_THAT(workers, HasNoLostMass("gtopk-tree", 1, "captured"));
  EXPECT_THAT(explanation(HasNoLostMass("gtopk-tree", 1, "published"), workers),
              HasSubstr("|sum a - sum e - g|^2 = 1"));
}

/// f = w^2 / 2 from w = 1 with step 1/2: w = 1, 1/2, 1/4.
laws::RecordedRun halving() {
  return {.smoothness = 1,
          .first_value = 0.5,
          .last_value = 1.0 / 32,
          .step_size = {0.5, 0.5},
          .grad_norm_sq = {1, 0.25},
          .mean_grad_norm_sq = {1, 0.25},
          .gap_norm_sq = {0, 0}};
}

TEST(StaysUnderCertificate, TheTermsAreThoseOfTheTheorem) {
  const laws::Certificate found = laws::certificate_of(halving());

  EXPECT_DOUBLE_EQ(found.average, 0.625);
  EXPECT_DOUBLE_EQ(found.optimisation, 2 * (0.5 - 1.0 / 32));
  EXPECT_DOUBLE_EQ(found.noise, 0.25 * 1.25);
  EXPECT_EQ(found.residual, 0);
  EXPECT_THAT(halving(), StaysUnderCertificate());
}

TEST(StaysUnderCertificate, WeighsByStepsAndCountsTheGap) {
  laws::RecordedRun run = halving();
  run.smoothness = 2;
  run.step_size = {0.25, 0.75};
  run.gap_norm_sq = {0, 3};
  const laws::Certificate found = laws::certificate_of(run);

  EXPECT_DOUBLE_EQ(found.average, 0.25 + 0.75 * 0.25);
  EXPECT_DOUBLE_EQ(found.noise, 2 * (0.0625 + 0.5625 * 0.25));
  EXPECT_DOUBLE_EQ(found.residual, 4 * 0.75 * 3);
}

TEST(StaysUnderCertificate, SaysByHowMuchItIsBroken) {
  laws::RecordedRun run = halving();
  run.smoothness = 0.1;
  run.last_value = 0.4;
  EXPECT_THAT(run, Not(StaysUnderCertificate()));
  EXPECT_THAT(explanation(StaysUnderCertificate(), run),
              AllOf(HasSubstr("is 0.625"), HasSubstr("optimisation 0.2")));
}

/// The rows of 200 iterations of Top-2 on f = sum_p f_p, f_p = (p + 1) |w|^2 of three workers, from
/// w = 1/2 in six dimensions with exact gradients: grad f = 12 w, so L = 12 and f >= 0.
std::vector<Row> rows_of_a_bowl() {
  const test::TinyObjective bowl(std::vector<double>(6, 0.5),
                                 [](const Draw& draw, auto w, auto gradient) {
                                   for (std::size_t j = 0; j < w.size(); ++j) {
                                     gradient[j] = 3 * 2 * (draw.worker + 1) * w[j];
                                   }
                                 });
  const auto run = test::measure(bowl,
                                 {.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                                  .aggregator = {{"kind", "gtopk-tree"}},
                                  .step = {{"value", 0.02}},
                                  .workers = 3,
                                  .iterations = 200,
                                  .evaluated = 1});
  std::vector<Row> rows;
  for (const auto& seen : run.rows) {
    rows.push_back(seen.row);
  }
  return rows;
}

TEST(StaysUnderCertificate, HoldsForARunWithExactGradients) {
  const auto rows = rows_of_a_bowl();
  const laws::RecordedRun run = laws::recorded_run(rows, 12, 0);

  EXPECT_EQ(run.first_value, 6 * 6 * 0.25);
  EXPECT_EQ(run.gap_norm_sq[0], 0);
  EXPECT_GT(run.gap_norm_sq[1], 0);
  EXPECT_EQ(run.gap_norm_sq[1], rows[0].get(Column::gap_norm_sq));
  EXPECT_THAT(run, StaysUnderCertificate());
  // f(z_T) cannot have stayed at f(z_0) with what the gradients were and so smooth an f.
  EXPECT_THAT(laws::recorded_run(rows, 0.5, 9), Not(StaysUnderCertificate()));
}

TEST(StaysUnderCertificate, RefusesRowsThatAreMissing) {
  auto rows = rows_of_a_bowl();
  rows.erase(rows.begin() + 5);
  EXPECT_THAT(test::error_of([&] { laws::recorded_run(rows, 12, 0); }),
              HasSubstr("iteration 6 stands where 5 belongs"));
  EXPECT_THAT(test::error_of([&] { laws::recorded_run(std::vector<Row>{Row(0)}, 12, 0); }),
              HasSubstr("iteration 0 has no step_size"));
}

TEST(StaysUnderCertificate, RefusesSeriesThatDoNotFit) {
  laws::RecordedRun run = halving();
  run.gap_norm_sq.pop_back();
  EXPECT_THAT(test::error_of([&] { laws::certificate_of(run); }), HasSubstr("of one length"));
  EXPECT_THAT(test::error_of([] { laws::certificate_of({}); }), HasSubstr("at least one"));
  run = halving();
  run.last_value = std::nan("");
  EXPECT_THAT(test::error_of([&] { laws::certificate_of(run); }), HasSubstr("finite"));
}

}  // namespace
}  // namespace residuum
