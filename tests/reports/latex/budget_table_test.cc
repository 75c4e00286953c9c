// Methods at budgets of bytes that a user names, in studies that can be followed by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "reports/analysis/byte_budgets.h"
#include "reports/latex/study_tables.h"
#include "reports/latex/write_tables.h"
#include "tests/reports/analysis/straight_runs.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ValueAtBudget, LiesOnTheLineBetweenTheEvaluationsAroundIt) {
  const std::vector<std::pair<double, double>> evaluations{{10, 1}, {100, 0.5}, {300, 0.1}};

  EXPECT_EQ(value_at_budget(evaluations, 10), 1);
  EXPECT_EQ(value_at_budget(evaluations, 55), 0.75);
  EXPECT_EQ(value_at_budget(evaluations, 100), 0.5);
  EXPECT_DOUBLE_EQ(value_at_budget(evaluations, 200).value(), 0.3);
  EXPECT_EQ(value_at_budget(evaluations, 9), std::nullopt);
  EXPECT_EQ(value_at_budget(evaluations, 301), std::nullopt);
  EXPECT_EQ(value_at_budget({}, 1), std::nullopt);
}

class AtBytes : public ::testing::Test {
 protected:
  std::vector<TableSpec> tables(const std::vector<double>& budgets) const {
    return budget_specs(summarise(folder_.path()), budgets, IntervalKind::quartiles);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

// f(w_t) = 1 - 0.01 t + seed / 100 at every second t, with 100 bytes an iteration: 300 bytes are
// spent at t = 3, where the seeds are at 0.98 and 0.99. The slow one is there at t = 6.
TEST_F(AtBytes, HaveTheMiddleOfTheSeedsAndSayTheResolution) {
  testing::write_straight(path(), {{.aggregator = "a"}, {.aggregator = "b", .bytes = 50}});

  const auto specs = tables({300, 1000});

  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].name, "at-bytes");
  EXPECT_THAT(specs[0].columns[1].title, "300 B");
  EXPECT_DOUBLE_EQ(specs[0].rows[0][1].value.value(), 0.985);
  EXPECT_EQ(specs[0].rows[0][1].n, 2U);
  EXPECT_DOUBLE_EQ(specs[0].rows[1][1].value.value(), 0.955);
  EXPECT_DOUBLE_EQ(specs[0].rows[0][2].value.value(), 0.915);
  EXPECT_EQ(specs[0].rows[1][2].value, std::nullopt) << "it ended at 500 bytes";
  EXPECT_THAT(specs[0].caption, HasSubstr("are at most 200 B apart"));
  EXPECT_THAT(specs[0].caption, HasSubstr("ended before the budget has no value there"));
  EXPECT_THAT(tables({300})[0].caption, Not(HasSubstr("ended before")));
  EXPECT_TRUE(tables({}).empty());
}

TEST_F(AtBytes, CountRunsThatDivergedAsInfinite) {
  testing::write_straight(path(), {{.aggregator = "a", .seeds = 3}, {.aggregator = "b"}});
  for (const int seed : {1, 2}) {
    testing::change_status(
        path(), testing::straight_id(0, seed), [](Json& status) { status["state"] = "diverged"; });
  }

  EXPECT_EQ(tables({300})[0].rows[0][1].value, std::numeric_limits<double>::infinity());
}

TEST_F(AtBytes, ThatNoMethodReachedAreRefused) {
  testing::write_straight(path(), {{.aggregator = "a"}});
  try {
    tables({300, 2e6});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("--at 2 MB: no method"));
    EXPECT_THAT(error.what(), HasSubstr("the most that a run has sent is 1 kB"));
  }
}

TEST(PrintedTables, HaveTheChosenColumnsInTheirOrder) {
  const TableSpec one{.name = "one",
                      .caption = "",
                      .interval = "",
                      .columns = {{.key = "method", .title = "method"},
                                  {.key = "x", .title = "x", .is_number = true},
                                  {.key = "y", .title = "y", .is_number = true}},
                      .rows = {{text_of("a"), number_of(1), number_of(2)}}};
  TableSpec other = one;
  other.name = "other";
  other.columns[1].key = other.columns[2].key = "z";

  const auto printed = printed_tables(
      {one, other}, {.budgets = {}, .columns = {"y", "x"}, .digits = 2, .wide = {"other"}});

  ASSERT_EQ(printed[0].columns.size(), 3U);
  EXPECT_EQ(printed[0].columns[1].key, "y");
  EXPECT_EQ(printed[0].rows[0][1].value, 2);
  EXPECT_EQ(printed[0].rows[0][2].value, 1);
  EXPECT_EQ(printed[0].digits, 2);
  EXPECT_FALSE(printed[0].is_wide);
  EXPECT_EQ(printed[1].columns.size(), 3U) << "it has none of the columns";
  EXPECT_TRUE(printed[1].is_wide);
}

TEST(PrintedTables, AlwaysHaveTheQuantityThatTheyAreOf) {
  const TableSpec equal{
      .name = "equal-bytes",
      .caption = "",
      .interval = "",
      .columns = {{.key = "method", .title = "method"},
                  {.key = "loss", .title = "f", .is_number = true, .is_quantity = true},
                  {.key = "behind_best", .title = "behind", .is_number = true},
                  {.key = "sent_bytes", .title = "bytes", .is_number = true}},
      .rows = {{text_of("a"), number_of(1), number_of(2), number_of(3)}}};
  const auto printed = [&](const std::vector<std::string>& columns) {
    return printed_tables({equal}, {.budgets = {}, .columns = columns, .digits = {}, .wide = {}})
        .front();
  };

  ASSERT_EQ(printed({"sent_bytes"}).columns.size(), 3U);
  EXPECT_EQ(printed({"sent_bytes"}).columns[1].key, "loss");
  EXPECT_EQ(printed({"sent_bytes"}).columns[2].key, "sent_bytes");
  EXPECT_EQ(printed({"sent_bytes", "loss"}).columns[1].key, "sent_bytes") << "in their order";
}

}  // namespace
}  // namespace residuum::reports
