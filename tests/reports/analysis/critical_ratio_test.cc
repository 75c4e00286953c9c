// The search for the critical ratio keeps its stated error on runs whose differences are normal
// with known means, looks at the levels that it should, and says what it could not decide.

#include "reports/analysis/critical_ratio.h"

#include <boost/math/distributions/binomial.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/random/random.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Runs of a search that is number `study` of a simulation. Compressed and dense runs of a seed
/// share most of their noise, and their difference has the mean of the level and deviation 1.
struct NormalRuns {
  std::uint64_t study = 0;
  std::vector<double> means;  // of the loss, by level

  Ending operator()(std::size_t method, std::size_t seed) const {
    const auto at = static_cast<std::uint32_t>(seed);
    const double shared = 10 + 5 * RandomStream(study, Purpose::test, 0, at).normal();
    if (method == 0) {
      return {.kind = Ending::Kind::finished, .value = shared};
    }
    const double own =
        RandomStream(study, Purpose::test, static_cast<std::uint32_t>(method), at).normal();
    return {.kind = Ending::Kind::finished, .value = shared + means[method - 1] + own};
  }
};

SearchPlan plan_of(std::size_t levels, double margin, std::vector<std::size_t> looks) {
  return {.levels = levels, .margin = margin, .alpha = 0.1, .looks = std::move(looks)};
}

/// Whether a decision of the search is wrong, or an interval misses the mean.
bool is_wrong(const SearchResult& result, const NormalRuns& runs, double margin) {
  for (const auto& look : result.looks) {
    const double mean = runs.means[look.level];
    const bool claims_loss = look.decision == Decision::loss && mean <= margin;
    const bool claims_none = look.decision == Decision::no_loss && mean >= margin;
    const bool misses = mean < look.loss_interval->low || mean > look.loss_interval->high;
    if (claims_loss || claims_none || misses) {
      return true;
    }
  }
  return false;
}

/// The number of wrong searches out of `searches` that a rate of alpha exceeds with a chance of
/// one in a thousand.
double most_wrong(int searches, double alpha) {
  const boost::math::binomial_distribution<> wrong(searches, alpha);
  return boost::math::quantile(wrong, 0.999);
}

// A search looks at one or all of six levels at up to three looks, and all of its intervals are to
// hold together. The means are where errors are likeliest: at the margin.
TEST(CriticalRatio, IsWrongNoMoreOftenThanStated) {
  constexpr int kSearches = 2000;
  const auto plan = plan_of(6, 0.5, {4, 8, 16});
  int wrong = 0;
  for (int i = 0; i < kSearches; ++i) {
    const NormalRuns runs{.study = static_cast<std::uint64_t>(i),
                          .means = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}};
    wrong += is_wrong(follow_search(plan, runs), runs, plan.margin) ? 1 : 0;
  }
  EXPECT_LE(wrong, most_wrong(kSearches, plan.alpha));
}

// One level and one look spend all of alpha on one Student interval, which is exact.
TEST(CriticalRatio, SpendsAllOfAlphaOnASingleInterval) {
  constexpr int kSearches = 4000;
  const auto plan = plan_of(1, 0.5, {5});
  int wrong = 0;
  for (int i = 0; i < kSearches; ++i) {
    const NormalRuns runs{.study = static_cast<std::uint64_t>(i), .means = {0.5}};
    wrong += is_wrong(follow_search(plan, runs), runs, plan.margin) ? 1 : 0;
  }
  EXPECT_LE(wrong, most_wrong(kSearches, plan.alpha));
  EXPECT_GE(wrong, 2 * plan.alpha * kSearches - most_wrong(kSearches, plan.alpha));
}

/// A draw of mean 0 and deviation 1.
using Draw = double (*)(RandomStream&);
double exponential_draw(RandomStream& draws) { return draws.exponential() - 1; }
double lognormal_draw(RandomStream& draws) {
  const double e = std::exp(1.0);
  return (std::exp(draws.normal()) - std::sqrt(e)) / std::sqrt((e - 1) * e);
}

/// The share of wrong searches at the margin whose differences are such draws.
double wrong_share(Draw draw) {
  constexpr int kSearches = 2000;
  const auto plan = plan_of(6, 0.5, {4, 8, 16});
  const std::vector<double> means(6, 0.5);
  int wrong = 0;
  for (std::uint64_t study = 0; study < kSearches; ++study) {
    const auto runs = [&](std::size_t method, std::size_t seed) {
      RandomStream draws(study,
                         Purpose::test,
                         static_cast<std::uint32_t>(method),
                         static_cast<std::uint32_t>(seed));
      const double own = method == 0 ? 0 : means[method - 1] + draw(draws);
      return Ending{.kind = Ending::Kind::finished, .value = 10 + own};
    };
    const NormalRuns truth{.study = study, .means = means};
    wrong += is_wrong(follow_search(plan, runs), truth, plan.margin) ? 1 : 0;
  }
  return static_cast<double>(wrong) / kSearches;
}

// Student's interval of few skewed differences ends too low: what a look states is the skewness.
TEST(CriticalRatio, IsWrongMoreOftenThanStatedWhereDifferencesAreSkewed) {
  const double exponential = wrong_share(exponential_draw);
  EXPECT_GT(exponential, 0.1);
  EXPECT_LT(exponential, 0.3);
  const double lognormal = wrong_share(lognormal_draw);
  EXPECT_GT(lognormal, exponential);
  EXPECT_LT(lognormal, 0.5);
}

TEST(CriticalRatio, StatesTheSkewnessOfTheDifferences) {
  // 0, 0, 0, 4: mean 1, m_2 = 3, m_3 = (27 - 3)/4 = 6.
  EXPECT_NEAR(skewness_of(std::vector<double>{0, 0, 0, 4}), 6 / std::pow(3, 1.5), 1e-12);
  EXPECT_EQ(skewness_of(std::vector<double>{1, 1}), 0);
  const auto plan = plan_of(1, 10, {4});
  const auto runs = [](std::size_t method, std::size_t seed) {
    const double own = method == 1 && seed == 3 ? 4 : 0;
    return Ending{.kind = Ending::Kind::finished, .value = own};
  };
  EXPECT_NEAR(follow_search(plan, runs).looks[0].skewness, 6 / std::pow(3, 1.5), 1e-12);
}

// A test that looks five times at one level, each at the whole alpha, would be wrong in about a
// quarter of the searches; the ascending order looks at all levels.
TEST(CriticalRatio, IsNotWrongMoreOftenByLookingMoreOften) {
  constexpr int kSearches = 2000;
  auto plan = plan_of(5, 0, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  plan.ascends = true;
  int wrong = 0;
  for (int i = 0; i < kSearches; ++i) {
    const NormalRuns runs{.study = static_cast<std::uint64_t>(i), .means = {0, 0, 0, 0, 0}};
    wrong += is_wrong(follow_search(plan, runs), runs, plan.margin) ? 1 : 0;
  }
  EXPECT_LE(wrong, most_wrong(kSearches, plan.alpha));
}

// A loss of 10 deviations is seen after 4 seeds and one of 0 is far within a margin of 5: most
// searches are right at the first look.
TEST(CriticalRatio, IsFoundWhereEffectsAreLarge) {
  const auto plan = plan_of(6, 5, {4, 8, 16, 32});
  int found = 0;
  std::size_t seeds = 0;
  for (int i = 0; i < 200; ++i) {
    const NormalRuns runs{.study = static_cast<std::uint64_t>(i), .means = {0, 0, 0, 0, 15, 15}};
    const auto result = follow_search(plan, runs);
    found += result.largest == 3 && result.is_over ? 1 : 0;
    seeds += result.seeds[0];
  }
  EXPECT_EQ(found, 200);
  EXPECT_LE(seeds, 200 * 16);
}

/// Runs that end at given values, the same for each seed but for a small spread that is known.
struct GivenRuns {
  std::vector<double> losses;  // by level
  std::map<std::pair<std::size_t, std::size_t>, Ending::Kind> others = {};

  Ending operator()(std::size_t method, std::size_t seed) const {
    const auto other = others.find({method, seed});
    if (other != others.end()) {
      return {.kind = other->second, .value = 0};
    }
    const double spread = seed % 2 == 0 ? 1e-3 : -1e-3;
    const double own = method == 0 ? 0 : losses[method - 1] + spread;
    return {.kind = Ending::Kind::finished, .value = 2 + static_cast<double>(seed) + own};
  }
};

std::vector<std::size_t> levels_of(const SearchResult& result) {
  std::vector<std::size_t> levels;
  for (const auto& look : result.looks) {
    levels.push_back(look.level);
  }
  return levels;
}

TEST(CriticalRatio, IsFoundByBisectionWhereverItLies) {
  for (std::size_t m = 1; m <= 9; ++m) {
    for (std::size_t lossless = 0; lossless <= m; ++lossless) {
      GivenRuns runs{.losses = std::vector<double>(m, 1.0)};
      std::fill_n(runs.losses.begin(), lossless, 0.0);
      const auto plan = plan_of(m, 0.5, {4});

      const auto result = follow_search(plan, runs);

      EXPECT_TRUE(result.is_over);
      EXPECT_EQ(result.largest.has_value(), lossless > 0);
      EXPECT_EQ(result.largest.value_or(m), lossless > 0 ? lossless - 1 : m);
      EXPECT_LE(result.looks.size(), most_levels(plan));
    }
  }
}

TEST(CriticalRatio, GoesUpFromTheLeastCompressionWhereAskedTo) {
  auto plan = plan_of(5, 0.5, {4});
  plan.ascends = true;

  const auto result = follow_search(plan, GivenRuns{.losses = {0, 0, 1, 0, 1}});

  EXPECT_THAT(levels_of(result), ElementsAre(0, 1, 2));
  EXPECT_EQ(result.largest, 1U);
}

TEST(CriticalRatio, AsksForTheSeedsOfTheNextLookAlone) {
  const auto plan = plan_of(3, 0.5, {2, 4});
  GivenRuns runs{.losses = {0, 0.5, 1}};
  runs.others[{2, 3}] = Ending::Kind::missing;

  const auto result = follow_search(plan, runs);

  EXPECT_FALSE(result.is_over);
  EXPECT_THAT(result.seeds, ElementsAre(4, 0, 4, 0));
  EXPECT_THAT(levels_of(result), ElementsAre(1)) << "the look after two seeds";
}

TEST(CriticalRatio, IsUndecidedAtTheMarginAndGoesToWeakerCompression) {
  const auto plan = plan_of(3, 0.5, {2, 4});

  const auto result = follow_search(plan, GivenRuns{.losses = {0, 0.5, 1}});

  EXPECT_TRUE(result.is_over);
  EXPECT_EQ(result.largest, 0U);
  EXPECT_EQ(result.last_look(1)->decision, Decision::undecided);
  EXPECT_EQ(result.last_look(1)->n, 4U);
  EXPECT_EQ(result.last_look(2), nullptr);
}

TEST(CriticalRatio, WithoutAMarginIsWhereNoLossWasFound) {
  const auto result = follow_search(plan_of(3, 0, {2, 4}), GivenRuns{.losses = {0, 0, 1}});

  EXPECT_EQ(result.largest, 1U);
  EXPECT_EQ(result.last_look(1)->decision, Decision::none_found);
  EXPECT_EQ(result.last_look(2)->decision, Decision::loss);
}

TEST(CriticalRatio, TakesADivergedRunForALossWithoutBound) {
  GivenRuns runs{.losses = {0, 0, 0}};
  runs.others[{2, 1}] = Ending::Kind::diverged;

  const auto result = follow_search(plan_of(3, 0.5, {4, 8}), runs);

  EXPECT_EQ(result.largest, 0U);
  EXPECT_EQ(result.last_look(1)->loss, std::numeric_limits<double>::infinity());
  EXPECT_EQ(result.last_look(1)->n, 4U);
  EXPECT_FALSE(result.last_look(1)->loss_interval.has_value());
}

TEST(CriticalRatio, StopsWhereDenseTrainingDivergesOrARunFails) {
  GivenRuns diverged{.losses = {0, 0}};
  diverged.others[{0, 2}] = Ending::Kind::diverged;
  EXPECT_EQ(follow_search(plan_of(2, 1, {4}), diverged).trouble,
            "dense training diverged with seed number 3");
  GivenRuns failed{.losses = {0, 0}};
  failed.others[{2, 0}] = Ending::Kind::failed;
  const auto result = follow_search(plan_of(2, 1, {4}), failed);
  EXPECT_EQ(result.trouble, "compression number 2 failed with seed number 1");
  EXPECT_FALSE(result.is_over);
  EXPECT_THAT(result.looks, IsEmpty());
}

// x - 1.1 y with y = 2, 3, 4, 5 and x = y + 0.2 +- 0.001: the mean excess is 0.2 - 0.35.
TEST(CriticalRatio, TakesARelativeMarginOfEachPairsDenseRun) {
  auto plan = plan_of(1, 0.1, {4});
  plan.is_relative = true;

  const auto result = follow_search(plan, GivenRuns{.losses = {0.2}});

  EXPECT_NEAR(result.looks[0].loss, 0.2, 1e-12);
  EXPECT_NEAR(result.looks[0].excess, -0.15, 1e-12);
}

TEST(CriticalRatio, CountsALowerAccuracyAsALoss) {
  auto plan = plan_of(1, 0.5, {4});
  plan.higher_is_better = true;

  EXPECT_EQ(follow_search(plan, GivenRuns{.losses = {-1}}).looks[0].decision, Decision::loss);
  EXPECT_EQ(follow_search(plan, GivenRuns{.losses = {1}}).looks[0].decision, Decision::no_loss);
}

TEST(CriticalRatio, SeesThatAWeakerCompressionLosesMore) {
  auto plan = plan_of(3, 0.5, {4});
  EXPECT_TRUE(follow_search(plan, GivenRuns{.losses = {1, 2, 3}}).is_monotone);
  EXPECT_FALSE(follow_search(plan, GivenRuns{.losses = {3, 2, 1}}).is_monotone);
}

// Equal differences have no spread: chance could make them equal, and nothing is decided by them.
TEST(CriticalRatio, IsNotDecidedByDifferencesWithoutSpread) {
  const auto constant = [](std::size_t method, std::size_t /*seed*/) {
    return Ending{.kind = Ending::Kind::finished, .value = static_cast<double>(method)};
  };
  EXPECT_EQ(follow_search(plan_of(1, 0.5, {4}), constant).looks[0].decision, Decision::undecided);
  const auto same = [](std::size_t /*method*/, std::size_t seed) {
    return Ending{.kind = Ending::Kind::finished, .value = static_cast<double>(seed)};
  };
  EXPECT_EQ(follow_search(plan_of(1, 0.5, {4}), same).looks[0].decision, Decision::no_loss);
}

TEST(CriticalRatio, DividesItsErrorAmongLevelsAndLooks) {
  const auto plan = plan_of(4, 0, {4, 8, 16});
  // alpha/m = 0.025; (1/4)^2, (1/2)^2 - (1/4)^2 and 1 - (1/2)^2 of it.
  EXPECT_DOUBLE_EQ(error_of_look(plan, 0), 0.025 / 16);
  EXPECT_DOUBLE_EQ(error_of_look(plan, 1), 0.025 * 3 / 16);
  EXPECT_DOUBLE_EQ(error_of_look(plan, 2), 0.025 * 12 / 16);
}

TEST(CriticalRatio, LooksAtTwiceAsManySeedsEachTime) {
  EXPECT_THAT(doubling_looks(4, 20), ElementsAre(4, 8, 16, 20));
  EXPECT_THAT(doubling_looks(4, 16), ElementsAre(4, 8, 16));
  EXPECT_THAT(doubling_looks(4, 4), ElementsAre(4));
}

}  // namespace
}  // namespace residuum::reports
