// Methods at equal cost, on runs that can be followed by hand.

#include "reports/analysis/comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/page/report.h"
#include "reports/summaries/collect.h"
#include "tests/reports/analysis/straight_runs.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::straight_id;
using testing::StraightMethod;
using testing::TemporaryFolder;
using testing::write_straight;

class Comparisons : public ::testing::Test {
 protected:
  void write(const std::vector<StraightMethod>& methods) const { write_straight(path(), methods); }
  const std::filesystem::path& path() const { return folder_.path(); }
  Summary summary(const std::vector<StraightMethod>& methods) const {
    write(methods);
    return collect(path());
  }
  std::string page() const { return read_file(write_report(summarise(path())).file); }

 private:
  TemporaryFolder folder_;
};

/// "label value" of the methods, best first.
std::vector<std::string> order(const Summary& summary, const Standing& standing) {
  std::vector<std::string> lines;
  for (const auto& reached : standing.methods) {
    lines.push_back(
        fmt::format("{} {:.4f}", summary.groups[reached.group].group.label, *reached.value.mean));
  }
  return lines;
}

TEST_F(Comparisons, TakeTheLastValueWithinTheCommonBudget) {
  const Summary result = summary({{.aggregator = "dense", .fall = 0.04, .bytes = 1000},
                                  {.aggregator = "sparse", .iterations = 7, .bytes = 300}});
  ASSERT_EQ(result.comparisons.size(), 1U);
  EXPECT_EQ(result.comparisons[0].objective, "logistic, a9a");
  EXPECT_EQ(result.comparisons[0].quantity, "loss");
  const auto& standings = result.comparisons[0].standings;

  // Dense was evaluated at 0, 2, 4, 6, 8, 10, sparse at 0, 2, 4, 6, 7: the last that both were is
  // 6, 1 - 0.24 and 1 - 0.06. The seeds add 0.015.
  EXPECT_EQ(standings[0].budget, 6);
  EXPECT_EQ(order(result, standings[0]),
            (std::vector<std::string>{"dense 0.7750", "sparse 0.9550"}));
  // 2100 bytes: dense has sent 2000 before iteration 2, 1 - 0.08; sparse all of its 7 * 300.
  EXPECT_EQ(standings[1].budget, 2100);
  EXPECT_EQ(order(result, standings[1]),
            (std::vector<std::string>{"dense 0.9350", "sparse 0.9450"}));
  EXPECT_EQ(standings[1].methods[0].spent, 2000);
  EXPECT_EQ(standings[1].methods[1].spent, 2100);
}

TEST_F(Comparisons, HaveStudentsIntervalOverTheSeeds) {
  const Summary result = summary({{.aggregator = "a"}, {.aggregator = "b", .fall = 0.02}});
  const Spread& best = result.comparisons[0].standings[0].methods[0].value;

  // 0.81 and 0.82: t_{0.975, 1} = 12.7062, standard error 0.005.
  EXPECT_NEAR(*best.mean, 0.815, 1e-12);
  EXPECT_NEAR(best.interval->low, 0.815 - 12.7062 * 0.005, 1e-6);
  EXPECT_NEAR(best.interval->high, 0.815 + 12.7062 * 0.005, 1e-6);
}

TEST_F(Comparisons, ByModelledTimeWhereItWasMeasured) {
  const Summary with = summary(
      {{.aggregator = "slow", .fall = 0.02, .time = 2}, {.aggregator = "fast", .time = 0.5}});
  const Standing& standing = with.comparisons[0].standings[2];
  // 5 s: slow has spent 4 before iteration 2, 1 - 0.04; fast has ended, 1 - 0.1.
  EXPECT_EQ(standing.budget, 5);
  EXPECT_EQ(order(with, standing), (std::vector<std::string>{"fast 0.9150", "slow 0.9750"}));

  const Summary without = summary({{.aggregator = "a"}, {.aggregator = "b"}});
  EXPECT_FALSE(without.comparisons[0].standings[2].budget);
  EXPECT_THAT(without.comparisons[0].standings[2].absent, HasSubstr("no network model"));
}

TEST_F(Comparisons, SayWhenAValueIsFromLongBefore) {
  write({{.aggregator = "dense", .fall = 0.04, .bytes = 700}, {.aggregator = "sparse"}});
  const Summary result = collect(path());
  // 1000 bytes: dense was evaluated at 0 and at 1400.
  EXPECT_EQ(result.comparisons[0].standings[1].methods[1].spent, 0);
  EXPECT_THAT(page(), HasSubstr("<small>evaluated at 0 B</small>"));
}

TEST_F(Comparisons, KnowTheBytesOfIterationsThatWereNotMeasuredByTheirRunningTotal) {
  // Measured at 0, 2, .. 8, and the last of 9 is one of them.
  const Summary result = summary({{.aggregator = "dense",
                                   .iterations = 9,
                                   .fall = 0.04,
                                   .bytes = 1000,
                                   .has_totals = true,
                                   .measured_every = 2},
                                  {.aggregator = "sparse",
                                   .iterations = 9,
                                   .bytes = 300,
                                   .has_totals = true,
                                   .measured_every = 2}});
  // 2700 bytes: dense has sent 2000 before iteration 2, 1 - 0.08; sparse all of its 9 * 300.
  const Standing& standing = result.comparisons[0].standings[1];
  EXPECT_EQ(standing.budget, 2700);
  EXPECT_EQ(order(result, standing), (std::vector<std::string>{"sparse 0.9250", "dense 0.9350"}));
}

TEST_F(Comparisons, WithoutEveryIterationThereAreNoBytes) {
  const Summary result = summary({{.aggregator = "a"}, {.aggregator = "b", .measured_every = 2}});
  const auto& standings = result.comparisons[0].standings;

  EXPECT_EQ(standings[0].budget, 10);
  EXPECT_FALSE(standings[1].budget);
  EXPECT_THAT(standings[1].absent, HasSubstr("not every iteration was measured"));
}

TEST_F(Comparisons, OfDifferentObjectivesAreNone) {
  EXPECT_TRUE(summary({{.aggregator = "a"}, {.aggregator = "b", .objective = "ridge"}})
                  .comparisons.empty());
  EXPECT_THAT(page(), Not(HasSubstr("At equal cost")));
}

TEST_F(Comparisons, AMethodThatDivergedComesLast) {
  write({{.aggregator = "a", .seeds = 1}, {.aggregator = "b", .seeds = 1}});
  testing::change_status(
      path(), straight_id(0, 1), [](Json& status) { status["state"] = "diverged"; });
  const Summary result = collect(path());
  const auto& methods = result.comparisons[0].standings[0].methods;

  ASSERT_EQ(methods.size(), 2U);
  EXPECT_EQ(result.groups[methods[1].group].group.label, "a");
  EXPECT_FALSE(methods[1].value.mean);
}

TEST_F(Comparisons, ARunThatDivergedIsInfinite) {
  // b ends at 0.81 to 0.86, but for two of its six seeds.
  write({{.aggregator = "a", .seeds = 6}, {.aggregator = "b", .fall = 0.02, .seeds = 6}});
  for (const int seed : {2, 5}) {
    testing::change_status(
        path(), straight_id(1, seed), [](Json& status) { status["state"] = "diverged"; });
  }
  const Summary result = collect(path());
  const Standing& standing = result.comparisons[0].standings[0];

  ASSERT_EQ(standing.methods.size(), 2U);
  EXPECT_EQ(standing.methods[0].group, 0U) << "b has no mean";
  const Reached& b = standing.methods[1];
  EXPECT_EQ(b.value.n, 6U);
  EXPECT_EQ(b.missing, 2U);
  EXPECT_NEAR(*b.value.median, 0.85, 1e-12) << "of 0.81, 0.83, 0.84, 0.86, inf, inf";
  EXPECT_EQ(b.value.upper_quartile, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::student));
  const Spread* loss = result.groups[1].metric("final_loss");
  EXPECT_NEAR(*loss->median, 0.85, 1e-12) << "where the runs ended, too";
  EXPECT_EQ(loss->n, 6U);
  EXPECT_EQ(result.groups[1].misses(), "2 of 6 diverged");
}

// Eight workers see 256 samples an iteration, one sees 32.
TEST_F(Comparisons, AtEqualIterationsOfUnequalSamplesHaveNoBestAndStandBesideEqualSamples) {
  write({{.aggregator = "a", .iterations = 40, .fall = 0.001, .seeds = 6, .workers = 1},
         {.aggregator = "a", .iterations = 40, .fall = 0.004, .seeds = 6, .workers = 8}});
  const Summary result = collect(path());
  const auto& standings = result.comparisons[0].standings;

  ASSERT_EQ(standings.size(), 4U);
  EXPECT_EQ(standings[0].budget, 40);
  EXPECT_FALSE(best_is_decided(standings[0], IntervalKind::student));
  EXPECT_EQ(standings[0].unequal, "an iteration takes 32 to 256 samples, by method");
  // 40 * 32 samples are five iterations of eight workers, evaluated at 4: 1 - 0.016.
  EXPECT_EQ(standings[3].cost, "samples");
  EXPECT_EQ(standings[3].budget, 1280);
  EXPECT_EQ(standings[3].methods[0].spent, 1280);
  EXPECT_EQ(standings[3].methods[1].spent, 4 * 256);
  EXPECT_TRUE(best_is_decided(standings[3], IntervalKind::student)) << "one worker, at 0.96";
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("At equal iterations no method is bold"));
  const std::string tables = read_file(path() / "tables" / "results.md") +
                             read_file(path() / "tables" / "equal-iterations.md");
  EXPECT_THAT(tables, Not(HasSubstr("**")));
  EXPECT_THAT(tables, HasSubstr("samples compares them"));
  EXPECT_THAT(read_file(path() / "tables" / "equal-samples.md"), HasSubstr("**"));
}

TEST_F(Comparisons, OfEqualSamplesHaveABestAtEqualIterations) {
  const Summary result = summary({{.aggregator = "a", .fall = 0.001, .seeds = 6, .workers = 8},
                                  {.aggregator = "b", .fall = 0.004, .seeds = 6, .workers = 8}});
  ASSERT_EQ(result.comparisons[0].standings.size(), 3U);
  EXPECT_TRUE(best_is_decided(result.comparisons[0].standings[0], IntervalKind::student));
}

/// A method's values over seeds, as a comparison has them.
Reached reached(std::size_t group,
                const std::vector<double>& values,
                const std::vector<std::int64_t>& seeds) {
  return {.group = group, .value = spread_of(values), .spent = 1, .seeds = seeds};
}

TEST(Differences, OfCommonSeedsHaveThePairedInterval) {
  // R: t.test(c(5.1, 4.9, 6.2, 5.8), c(5.0, 4.6, 6.0, 5.3), paired = TRUE) gives
  // [0.00324691162, 0.54675308838]; unpaired, the two overlap widely.
  const Reached worse = reached(0, {5.1, 4.9, 6.2, 5.8}, {1, 2, 3, 4});
  const Reached best = reached(1, {5.3, 5.0, 6.0, 4.6}, {4, 1, 3, 2});
  const Difference difference = difference_of(worse, best, IntervalKind::quartiles);

  EXPECT_TRUE(difference.is_paired);
  EXPECT_NEAR(*difference.mean, 0.275, 1e-12);
  EXPECT_NEAR(difference.interval->low, 0.00324691162, 1e-9);
  EXPECT_NEAR(difference.interval->high, 0.54675308838, 1e-9);
  const Standing standing{
      .cost = "bytes", .unit = "bytes", .budget = 1, .methods = {best, worse}, .absent = {}};
  EXPECT_TRUE(best_is_decided(standing, IntervalKind::student));
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::bootstrap));  // of four seeds there is none
}

TEST(Differences, WithoutCommonSeedsAreDecidedByIntervalsThatDoNotOverlap) {
  // The half width is 2.776445 sqrt(0.5) = 1.963: the best is in [1.037, 4.963].
  const Reached best = reached(0, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5});
  const Reached near = reached(1, {4.9, 5.9, 6.9, 7.9, 8.9}, {6, 7, 8, 9, 10});  // from 4.937
  const Reached far = reached(2, {5, 6, 7, 8, 9}, {6, 7, 8, 9, 10});             // from 5.037
  const Difference difference = difference_of(far, best, IntervalKind::student);

  EXPECT_FALSE(difference.is_paired);
  EXPECT_DOUBLE_EQ(*difference.mean, 4);
  EXPECT_FALSE(difference.interval);
  Standing standing{
      .cost = "bytes", .unit = "bytes", .budget = 1, .methods = {best, far}, .absent = {}};
  EXPECT_TRUE(best_is_decided(standing, IntervalKind::student));
  standing.methods.push_back(near);
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::student));
}

TEST(Differences, AreNotDecidedAgainstAMethodWithoutValuesAlone) {
  const Reached best = reached(0, {1, 2, 3}, {1, 2, 3});
  Standing standing{.cost = "bytes",
                    .unit = "bytes",
                    .budget = 1,
                    .methods = {best, reached(1, {}, {})},
                    .absent = {}};
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::student));
  standing.methods.insert(standing.methods.begin() + 1, reached(2, {2, 3, 4.1}, {1, 2, 3}));
  EXPECT_TRUE(best_is_decided(standing, IntervalKind::student));
}

TEST(Differences, NoMissMakesAMethodTheBest) {
  constexpr double kMiss = std::numeric_limits<double>::infinity();
  const Reached good = reached(0, {1, 1.1, 0.9, kMiss}, {1, 2, 3, 4});
  const Reached bad = reached(1, {5, 5.2, 5.1, 5.3}, {1, 2, 3, 4});
  Standing standing{
      .cost = "bytes", .unit = "bytes", .budget = 1, .methods = {good, bad}, .absent = {}};
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::student));
  EXPECT_EQ(difference_of(good, bad, IntervalKind::student).mean, kMiss);
  EXPECT_FALSE(difference_of(good, bad, IntervalKind::student).interval);

  // With its misses at the other side, a method is the further behind: t.test of 4, 4.1, 4.2 alone
  // has [3.85, 4.35].
  const Reached whole = reached(0, {1, 1.1, 0.9, 1}, {1, 2, 3, 4});
  standing.methods = {whole, reached(1, {5, 5.2, 5.1, kMiss}, {1, 2, 3, 4})};
  EXPECT_TRUE(best_is_decided(standing, IntervalKind::student));
  standing.methods[0].missing = 1;  // a seed that has not finished
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::student));
}

TEST(Differences, ToAMethodWithMissesAreDecidedAlikeByStudentAndTheBootstrap) {
  constexpr double kMiss = std::numeric_limits<double>::infinity();
  const std::vector<std::int64_t> seeds{1, 2, 3, 4, 5, 6};
  const Reached best = reached(0, {1, 1.1, 0.9, 1, 1.2, 0.8}, seeds);
  const Reached five = reached(1, {5, 5.2, 5.1, 5.3, kMiss, 5.4}, seeds);
  Standing standing{
      .cost = "bytes", .unit = "bytes", .budget = 1, .methods = {best, five}, .absent = {}};
  EXPECT_TRUE(best_is_decided(standing, IntervalKind::student));
  EXPECT_TRUE(best_is_decided(standing, IntervalKind::bootstrap));

  // The differences 4, -4 and 4.1 alone decide nothing: t.test has [-10.2, 12.9].
  standing.methods[1] = reached(1, {5, -2.9, 5, kMiss, kMiss, kMiss}, seeds);
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::student));
  EXPECT_FALSE(best_is_decided(standing, IntervalKind::bootstrap));
}

TEST_F(Comparisons, AreBoldWhereEverySeedSaysTheSame) {
  write({{.aggregator = "a"}, {.aggregator = "b", .fall = 0.02}});
  collect(path());

  // The seeds add 0.01 and 0.02 to both: the difference, 0.1, has no spread at all.
  EXPECT_THAT(page(), HasSubstr("<strong>0.815</strong><small>[0.8125, 0.8175]</small>"));
  EXPECT_THAT(page(), HasSubstr("<small>+0.1 [0.1, 0.1] to the best, same seeds</small>"));
  const Json methods =
      read_json(path() / "summary.json")["comparisons"][0]["at_equal"][0]["methods"];
  EXPECT_EQ(methods[0]["behind_best"], nullptr);
  EXPECT_NEAR(methods[1]["behind_best"]["mean"].get<double>(), 0.1, 1e-12);
  EXPECT_EQ(methods[1]["behind_best"]["pairs"], 2);
  EXPECT_EQ(methods[1]["behind_best"]["seeds_to_decide"], nullptr);
}

TEST(Differences, SayHowManySeedsWouldDecide) {
  const std::vector<std::int64_t> seeds{1, 2};
  const Reached best = reached(0, {1, 1}, seeds);

  // Differences of 0.5 and 1.5 have the interval [-5.4, 7.4]: 7.849 / 2 + 1.921 seeds would decide.
  const auto open = difference_of(reached(1, {1.5, 2.5}, seeds), best, IntervalKind::student);
  EXPECT_EQ(seeds_to_decide(open), 6);
  const auto decided = difference_of(reached(1, {1.5, 1.51}, seeds), best, IntervalKind::student);
  EXPECT_EQ(seeds_to_decide(decided), std::nullopt);
  const auto unpaired = difference_of(reached(1, {1.5, 2.5}, {3, 4}), best, IntervalKind::student);
  EXPECT_EQ(seeds_to_decide(unpaired), std::nullopt);
}

TEST_F(Comparisons, SayHowManySeedsWouldDecide) {
  write({{.aggregator = "a"}, {.aggregator = "b", .fall = 0.005}});
  change_status(path(), straight_id(1, 2), [](Json& status) { status["final"]["loss"] = 1.17; });
  collect(path());

  // The differences are 0.05 and 0.25: mean 0.15, variance 0.02, 7.849 * 0.02 / 0.0225 + 1.921.
  EXPECT_THAT(page(), HasSubstr(" to the best, same seeds; about 9 would decide</small>"));
  const Json methods =
      read_json(path() / "summary.json")["comparisons"][0]["at_equal"][0]["methods"];
  EXPECT_EQ(methods[1]["behind_best"]["seeds_to_decide"], 9);
}

TEST_F(Comparisons, StandInSummaryAndReport) {
  write(
      {{.aggregator = "<dense>", .fall = 0.04, .seeds = 1}, {.aggregator = "sparse", .seeds = 1}});
  collect(path());
  const Json json = read_json(path() / "summary.json")["comparisons"][0];
  EXPECT_EQ(json["quantity"], "loss");
  const Json& first = json["at_equal"][0];
  EXPECT_EQ(first["cost"], "iterations");
  EXPECT_EQ(first["budget"], 10);
  EXPECT_EQ(first["methods"][0]["label"], "<dense>");
  EXPECT_EQ(first["methods"][0]["seeds"], 1);
  EXPECT_EQ(first["methods"][0]["interval"], nullptr);
  EXPECT_EQ(json["at_equal"][2]["absent"], "not measured, as there is no network model");

  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("<h3>At equal cost</h3>"));
  EXPECT_THAT(html, HasSubstr("0.61<small>one seed: no interval</small>"));
  EXPECT_THAT(html, Not(HasSubstr("<strong>")));
  EXPECT_THAT(html, HasSubstr("At equal modelled time: not measured"));
  EXPECT_THAT(html, Not(HasSubstr("<dense>")));
}

}  // namespace
}  // namespace residuum::reports
