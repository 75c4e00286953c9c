// Times on networks against tables that were written by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/error.h"
#include "reports/analysis/series.h"
#include "reports/analysis/study_numbers.h"
#include "reports/latex/study_tables.h"
#include "reports/page/report.h"
#include "reports/page/sections.h"
#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// f - f* falls by 1 each iteration from `first` on, so that the loss at the end, 4 iterations
/// later, decides the target.
std::function<void(Row&, int)> falling_from(double first) {
  return [first](Row& row, int seed) {
    row.set(Column::loss_gap, first - static_cast<double>(row.iteration()) + 0.25 * seed);
  };
}

class OnNetworks : public ::testing::Test {
 protected:
  OnNetworks() {
    study.seeds = 2;
    study.iterations = 4;
    study.methods = {SyntheticMethod{.change = falling_from(5)},
                     SyntheticMethod{.aggregator = "dense", .change = falling_from(4)}};
    study.write(folder_.path());
    for (int seed = 1; seed <= 2; ++seed) {
      write_times(0, seed, 1);
      write_times(1, seed, 10);
    }
  }

  /// Each iteration takes `each` seconds on "slow", half of them messages, and one on "fast".
  void write_times(std::size_t method, int seed, double each) const {
    std::string text = detail_header(kNetworksTable);
    for (int t = 0; t < 4; ++t) {
      const std::string id = SyntheticStudy::run_id(method, seed);
      text += fmt::format("{},{},slow,{},0,0,{},{},{}\n",
                          id,
                          t,
                          each / 2 * (t + 1),
                          each / 2 * (t + 1),
                          each * (t + 1),
                          each);
      text += fmt::format("{},{},fast,{},0,0,0,{},1\n", id, t, t + 1, t + 1);
    }
    write_file_atomically(file_of(method, seed), text);
  }
  std::filesystem::path file_of(std::size_t method, int seed) const {
    return folder_.path() / "runs" / SyntheticStudy::run_id(method, seed) / "networks.csv";
  }
  std::vector<NetworkComparison> compared() const {
    const auto folder = read_result_folder(folder_.path());
    return compare_on_networks(folder, group_runs(folder));
  }

  SyntheticStudy study;
  TemporaryFolder folder_;
};

// The end of every run is f - f* = 0.0003 at the latest, from status.json: 0.0002 + 0.0001 seed.
TEST_F(OnNetworks, TheTargetIsTheBestOfTheWorstRunAndTimeIsThatBeforeTheEvaluation) {
  const auto all = compared();
  ASSERT_EQ(all.size(), 1U);
  const auto& comparison = all.front();
  EXPECT_NEAR(comparison.target, 0.0004, 1e-12);
  EXPECT_EQ(comparison.networks, (std::vector<std::string>{"slow", "fast"}));
  ASSERT_EQ(comparison.times.size(), 4U);
  EXPECT_EQ(comparison.times[0].to_target.median, 4) << "at the end, after 4 iterations of 1 s";
  EXPECT_EQ(comparison.times[1].to_target.median, 4);
  EXPECT_EQ(comparison.times[2].to_target.median, 40);
  EXPECT_EQ(comparison.times[2].network, "slow");
  EXPECT_EQ(comparison.times[2].total.mean, 40);
  EXPECT_EQ(comparison.times[2].parts[0].mean, 20) << "gradients";
  EXPECT_EQ(comparison.times[2].parts[3].mean, 20) << "messages";
  EXPECT_EQ(comparison.times[2].to_target.n, 2U);
}

TEST_F(OnNetworks, ARunThatIsThereEarlierTookLess) {
  study.methods[0].change = [](Row& row, int /*seed*/) {
    row.set(Column::loss_gap, row.iteration() < 2 ? 1 : 0);
  };
  study.write(folder_.path());
  write_times(0, 1, 1);
  write_times(0, 2, 1);
  const auto all = compared();
  EXPECT_EQ(all.front().times[0].to_target.median, 2)
      << "evaluated at w_2, which two iterations have made";
}

TEST_F(OnNetworks, ATimeThatNoRowTellsIsNotKnown) {
  study.methods[0].change = [](Row& row, int /*seed*/) {
    row.set(Column::loss_gap, row.iteration() < 2 ? 1 : 0);
  };
  study.write(folder_.path());
  for (int seed = 1; seed <= 2; ++seed) {
    write_file_atomically(
        file_of(0, seed),
        detail_header(kNetworksTable) +
            fmt::format("{},0,slow,1,0,0,0,1,1\n", SyntheticStudy::run_id(0, seed)));
  }
  EXPECT_EQ(compared().front().times[0].to_target.n, 0U);
}

TEST_F(OnNetworks, ThereIsNothingWithoutTables) {
  for (std::size_t method = 0; method < 2; ++method) {
    for (int seed = 1; seed <= 2; ++seed) {
      std::filesystem::remove(file_of(method, seed));
    }
  }
  EXPECT_TRUE(compared().empty());
  EXPECT_EQ(network_tables(summarise(folder_.path())), "");
}

// "slow" takes 1 s an iteration for the first method and 10 s for the second, "fast" 1 s for both.
TEST_F(OnNetworks, TheClocksOfAllNetworksAreKnownAtTheIterationsAskedFor) {
  write_times(1, 2, 30);
  const auto folder = read_result_folder(folder_.path());

  const auto clocks = read_network_clocks(folder, group_runs(folder)[1], {0, 3});

  ASSERT_EQ(clocks.size(), 2U);
  EXPECT_EQ(clocks[0].network, "slow");
  EXPECT_EQ(clocks[0].ends, (std::map<std::uint64_t, double>{{0, 20}, {3, 80}})) << "medians";
  EXPECT_EQ(clocks[1].ends, (std::map<std::uint64_t, double>{{0, 1}, {3, 4}}));
}

TEST_F(OnNetworks, ThePageOffersTheTimeOnEachOfThem) {
  const std::string html = read_file(write_report(summarise(folder_.path())).file);

  EXPECT_THAT(html, HasSubstr("\"networks\":[\"slow\",\"fast\"]"));
  EXPECT_THAT(html, HasSubstr("\"time:fast\":[1,2,3,4]"));
  EXPECT_THAT(html, Not(HasSubstr("\"time:slow\""))) << "that is the time of all tables";

  std::filesystem::remove(file_of(0, 1));
  EXPECT_THAT(read_file(write_report(summarise(folder_.path())).file),
              HasSubstr("\"networks\":[\"slow\",\"fast\"]"))
      << "the other method has them";
}

TEST_F(OnNetworks, TheReportNamesTheFastestAndByWhatTheOthersAreSlower) {
  const std::string html = network_tables(summarise(folder_.path()));
  EXPECT_THAT(html, HasSubstr("<strong>4 s</strong>"));
  EXPECT_EQ(html.find("<strong>"), html.rfind("<strong>")) << "on fast, both take 4 s";
  EXPECT_THAT(html, HasSubstr("10 times the fastest"));
  EXPECT_THAT(html, HasSubstr("f(w) − f* ≤ 0.0004"));
}

TEST_F(OnNetworks, TheFastestIsBoldOnlyIfTheSeedsDecideIt) {
  // 40 s against 4 and 76: the differences are 36 and -36.
  write_times(1, 1, 1);
  write_times(1, 2, 19);
  write_times(0, 1, 10);
  write_times(0, 2, 10);
  EXPECT_THAT(network_tables(summarise(folder_.path())), Not(HasSubstr("<strong>")));
  write_times(1, 1, 19.5);
  EXPECT_THAT(network_tables(summarise(folder_.path())), HasSubstr("<strong>40 s</strong>"));
}

TEST_F(OnNetworks, ARunThatDivergedBeforeTheTargetTakesInfinitelyLong) {
  testing::change_status(folder_.path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["state"] = "diverged";
  });
  const auto comparison = compared().front();

  const NetworkTime& slow = comparison.times[0];
  EXPECT_EQ(slow.to_target.n, 2U);
  EXPECT_EQ(slow.to_target.lower_quartile, std::numeric_limits<double>::infinity())
      << "a quarter of the way from 4 s to a miss";
  EXPECT_EQ(slow.total.n, 1U) << "only one is a whole run";
  EXPECT_FALSE(slow.is_fastest);
  const std::string html = network_tables(summarise(folder_.path()));
  EXPECT_THAT(html, Not(HasSubstr("<strong>")));
  EXPECT_THAT(html, HasSubstr("1 of 2 diverged"));
  EXPECT_THAT(html, HasSubstr("∞ s"));
}

TEST_F(OnNetworks, StandInATableForPapers) {
  const auto specs = study_tables(summarise(folder_.path()), {}, IntervalKind::quartiles);
  const auto spec = std::find_if(
      specs.begin(), specs.end(), [](const TableSpec& one) { return one.name == "network-times"; });
  ASSERT_NE(spec, specs.end());
  EXPECT_THAT(table_markdown(*spec), HasSubstr("| slow | **4** \\[4, 4\\] | 4 |\n"));
  EXPECT_THAT(table_markdown(*spec), HasSubstr("| slow | 40 \\[40, 40\\] | 40 |\n"));
}

TEST_F(OnNetworks, ADamagedTableNamesFileAndLine) {
  write_file_atomically(file_of(0, 1),
                        detail_header(kNetworksTable) +
                            fmt::format("{},0,slow,1,0,0,0,,1\n", SyntheticStudy::run_id(0, 1)));
  try {
    static_cast<void>(compared());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("networks.csv:2"));
    EXPECT_THAT(error.what(), HasSubstr("a time is missing or not finite"));
  }
}

}  // namespace
}  // namespace residuum::reports
