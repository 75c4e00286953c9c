// Rates of exact power laws, and an interval calculated by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reports/analysis/study_numbers.h"
#include "reports/page/sections.h"
#include "reports/summaries/summary_json.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;

TEST(LogLogSlope, IsTheExponentOfAPowerLaw) {
  const std::vector<double> x{10, 100, 1000, 5000};
  std::vector<double> y;
  for (const double at : x) {
    y.push_back(7 * std::pow(at, -0.5));
  }
  EXPECT_NEAR(*log_log_slope(x, y), -0.5, 1e-14);
}

TEST(LogLogSlope, IsThatOfLeastSquares) {
  // In units of log 10: x = 0, 1, 2 and y = 0, 0, -3; slope = (-1 * 0 + 1 * -3) / 2.
  EXPECT_NEAR(*log_log_slope({1, 10, 100}, {1, 1, 1e-3}), -1.5, 1e-14);
}

TEST(LogLogSlope, IsAbsentWhereThereIsNoLine) {
  EXPECT_FALSE(log_log_slope({}, {}));
  EXPECT_FALSE(log_log_slope({10}, {1}));
  EXPECT_FALSE(log_log_slope({10, 10}, {1, 2}));
  EXPECT_FALSE(log_log_slope({10, 100}, {1, 0}));
  EXPECT_FALSE(log_log_slope({10, 100}, {1, -1}));
  EXPECT_FALSE(log_log_slope({10, 100}, {1, HUGE_VAL}));
}

/// A folder whose runs finished with X_T given by a rule; nothing lies on the disk.
class Folder {
 public:
  void add(const std::string& aggregator, double iterations, double workers, int seed, double x) {
    Run run;
    run.id = fmt::format("run-{:012x}", folder_.runs.size());
    run.state = "finished";
    run.seed = seed;
    run.config["config"] = Json{{"aggregator", Json{{"kind", aggregator}}},
                                {"budget", Json{{"iterations", iterations}}},
                                {"workers", Json{{"count", workers}}}};
    run.varying = Json{{"aggregator.kind", aggregator},
                       {"budget.iterations", iterations},
                       {"workers.count", workers}};
    run.status["totals"] = Json{{"average_grad_norm_sq", x}};
    folder_.runs.push_back(run);
  }
  void lose(std::size_t run) { folder_.runs.at(run).state = "diverged"; }

  std::vector<Rate> rates() const { return fit_rates(folder_, group_runs(folder_)); }
  Summary summary() const {
    Summary summary;
    summary.rates = rates();
    return summary;
  }

 private:
  ResultFolder folder_;
};

TEST(Rates, AreFittedPerSeedWithStudentsInterval) {
  Folder folder;
  for (const double iterations : {1000.0, 100.0, 10000.0}) {
    folder.add("allgather", iterations, 4, 1, std::pow(iterations, -0.4));
    folder.add("allgather", iterations, 4, 2, std::pow(iterations, -0.5));
    folder.add("allgather", iterations, 4, 3, std::pow(iterations, -0.6));
  }
  const auto rates = folder.rates();

  ASSERT_EQ(rates.size(), 1U);
  EXPECT_EQ(rates[0].key, "budget.iterations");
  EXPECT_EQ(rates[0].label, "allgather, P=4");
  EXPECT_THAT(rates[0].x, ElementsAre(100, 1000, 10000));
  EXPECT_EQ(rates[0].slope.n, 3U);
  EXPECT_NEAR(*rates[0].slope.mean, -0.5, 1e-12);
  // Slopes -0.4, -0.5, -0.6: s = 0.1, t_{0.975, 2} = 4.302653.
  const double half = 4.302653 * 0.1 / std::sqrt(3);
  EXPECT_NEAR(rates[0].slope.interval->low, -0.5 - half, 1e-6);
  EXPECT_NEAR(rates[0].slope.interval->high, -0.5 + half, 1e-6);
}

TEST(Rates, EveryMethodAndKeyHasItsOwn) {
  Folder folder;
  for (const double iterations : {100.0, 400.0}) {
    for (const double workers : {1.0, 16.0}) {
      folder.add("allgather", iterations, workers, 1, 1 / (std::sqrt(iterations) * workers));
      folder.add("gtopk-tree", iterations, workers, 1, 1 / iterations);
    }
  }
  std::vector<std::pair<std::string, double>> found;
  for (const auto& rate : folder.rates()) {
    found.emplace_back(fmt::format("{}: {}", rate.key, rate.label),
                       std::round(*rate.slope.mean * 1e9) / 1e9);
  }

  EXPECT_THAT(found,
              ::testing::UnorderedElementsAre(
                  std::pair("budget.iterations: allgather, P=1", -0.5),
                  std::pair("budget.iterations: allgather, P=16", -0.5),
                  std::pair("budget.iterations: gtopk-tree, P=1", -1.0),
                  std::pair("budget.iterations: gtopk-tree, P=16", -1.0),
                  std::pair("workers.count: allgather, budget.iterations=100", -1.0),
                  std::pair("workers.count: allgather, budget.iterations=400", -1.0),
                  std::pair("workers.count: gtopk-tree, budget.iterations=100", 0.0),
                  std::pair("workers.count: gtopk-tree, budget.iterations=400", 0.0)));
}

TEST(Rates, ASeedThatDidNotFinishEverywhereIsLeftOut) {
  Folder folder;
  for (const double iterations : {100.0, 1000.0}) {
    for (int seed = 1; seed <= 3; ++seed) {
      folder.add("allgather", iterations, 4, seed, 1 / iterations);
    }
  }
  folder.lose(1);  // seed 2 at 100 iterations
  EXPECT_EQ(folder.rates()[0].slope.n, 2U);
  EXPECT_EQ(folder.rates()[0].unended, 1U);
  const Summary summary = folder.summary();
  const std::string note = "without 1 seed that diverged, failed or was cut";
  EXPECT_EQ(rates_json(summary)[0]["note"], note);
  EXPECT_EQ(rates_json(summary)[0]["unended_seeds"], 1);
  EXPECT_THAT(rates_table(summary), ::testing::HasSubstr(note));
}

TEST(Rates, OneSeedHasASlopeAndSaysWhyNoInterval) {
  Folder folder;
  folder.add("allgather", 100, 4, 1, 0.1);
  folder.add("allgather", 1000, 4, 1, 0.01);
  const Summary summary = folder.summary();

  const Json json = rates_json(summary)[0];
  EXPECT_NEAR(json["slope"].get<double>(), -1, 1e-12);
  EXPECT_EQ(json["interval"], nullptr);
  EXPECT_EQ(json["note"], "one seed: no interval");
  EXPECT_THAT(rates_table(summary), ::testing::HasSubstr("one seed: no interval"));
}

TEST(Rates, WithoutXTheNoteSaysWhatIsMissing) {
  Folder folder;
  folder.add("allgather", 100, 4, 1, 0.1);
  folder.add("allgather", 1000, 4, 1, 0.01);
  folder.lose(0);

  const Json json = rates_json(folder.summary())[0];
  EXPECT_EQ(json["slope"], nullptr);
  EXPECT_THAT(json["note"], ::testing::HasSubstr("every iteration measured and evaluated"));
}

TEST(Rates, OneValueIsNoRate) {
  Folder folder;
  folder.add("allgather", 100, 4, 1, 0.1);
  folder.add("gtopk-tree", 100, 4, 1, 0.1);
  EXPECT_TRUE(folder.rates().empty());
  EXPECT_EQ(rates_table(folder.summary()), "");
}

}  // namespace
}  // namespace residuum::reports
