// Published values held against runs that can be followed by hand.

#include "reports/analysis/expected.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/latex/study_tables.h"
#include "tests/reports/analysis/straight_runs.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

class ExpectedOfAStudy : public ::testing::Test {
 protected:
  /// Writes a study of dense and sparse runs, of two seeds each, with these expectations.
  void expect(const Json& expected) const {
    testing::write_straight(folder_.path(),
                            {{.aggregator = "dense"}, {.aggregator = "sparse", .fall = 0.02}});
    Json study = read_json(folder_.path() / "study.resolved.json");
    study["expected"] = expected;
    write_json_atomically(folder_.path() / "study.resolved.json", study);
  }
  std::vector<ExpectedResult> results() const {
    const ResultFolder folder = read_result_folder(folder_.path());
    return hold_against_expected(folder, group_runs(folder));
  }
  TableSpec table() const {
    const ResultFolder folder = read_result_folder(folder_.path());
    const auto groups = group_runs(folder);
    return *expected_spec(hold_against_expected(folder, groups), groups, IntervalKind::quartiles);
  }

 private:
  TemporaryFolder folder_;
};

Json loss_at(const Json& at) {
  return {{"quantity", "loss"}, {"at", at}, {"value", 0.9}, {"source", "a figure"}};
}

TEST_F(ExpectedOfAStudy, IsTheEndTheLargestTheMeanOrAnIterationOfAColumn) {
  // f is 1.01 - 0.01 t and 1.02 - 0.01 t at t = 0, 2, .. 8: the mean is over five rows.
  expect({loss_at("end"), loss_at("max"), loss_at("mean"), loss_at(5)});
  const auto all = results();

  ASSERT_EQ(all.size(), 8U);  // two methods each
  EXPECT_THAT(all[0].values, ElementsAre(DoubleEq(0.93), DoubleEq(0.94)));
  EXPECT_THAT(all[2].values, ElementsAre(DoubleEq(1.01), DoubleEq(1.02)));
  EXPECT_THAT(all[4].values, ElementsAre(DoubleEq(0.97), DoubleEq(0.98)));
  EXPECT_THAT(all[6].values, ElementsAre(DoubleEq(0.97), DoubleEq(0.98)));  // that of t = 4
}

TEST_F(ExpectedOfAStudy, IsAboutTheMethodsThatHaveTheSettings) {
  Json one = loss_at("end");
  one["where"] = Json{{"aggregator.kind", "sparse"}};
  Json nobody = loss_at("end");
  nobody["where"] = Json{{"aggregator.kind", "tree"}};
  expect(Json::array({one, nobody}));
  const auto all = results();

  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].group, 1U);
  EXPECT_FALSE(all[1].group);
  EXPECT_THAT(table_markdown(table()), HasSubstr("| no such method |"));
}

TEST_F(ExpectedOfAStudy, StandsBesideOursWithTheSeedsAndTheKindOfTheInterval) {
  // Ours ends at 0.91 and 0.92: 0.915 +- 12.7062 * 0.005, [0.8515, 0.9785].
  Json value{{"quantity", "final_loss"}, {"at", "end"}, {"value", 0.98}, {"source", "Table 1 | b"}};
  value["where"] = Json{{"aggregator.kind", "dense"}};
  Json interval = value;
  interval.erase("value");
  interval["interval"] = {0.97, 0.99};
  expect(Json::array({value, interval}));

  const std::string text = table_markdown(table());
  EXPECT_THAT(text, HasSubstr("mean, in brackets the 95 % interval (Student), over n = 2 seeds."));
  EXPECT_THAT(text,
              HasSubstr("| final\\_loss | dense | 0.98 | 0.92 \\[0.85, 0.98\\] | 2 | no | "
                        "Table 1 \\| b |\n"));
  EXPECT_THAT(text,
              HasSubstr("| final\\_loss | dense | – \\[0.97, 0.99\\] | 0.92 \\[0.85, 0.98\\] | "
                        "2 | yes | Table 1 \\| b |\n"));
  EXPECT_THAT(table_csv(table()),
              HasSubstr("quantity,method,published,published_low,published_high,published_n,ours,"
                        "ours_low,ours_high,ours_n,seeds,meets,source\n"));
}

TEST_F(ExpectedOfAStudy, IsAUsageErrorWhereItIsNoList) {
  expect("everything");
  EXPECT_THROW(results(), Error);
}

TEST_F(ExpectedOfAStudy, OfAnotherProgramIsShownWithoutOurs) {
  expect(Json::array({Json{{"quantity", 3}, {"interval", {"a", "b"}}}}));
  const auto all = results();

  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].values.empty());
  EXPECT_THAT(table_csv(table()), HasSubstr(",dense,,,0,–,\n"));
}

}  // namespace
}  // namespace residuum::reports
