// The rows of staleness.csv are held against counts that are made by hand.

#include <gtest/gtest.h>

#include "assumptions/detail_rows.h"
#include "tests/assumptions/support.h"

namespace residuum {
namespace {

std::vector<DetailRow> staleness_rows(const StepView& view) {
  test::RowKeeper keeper;
  write_staleness_details(view, keeper);
  return keeper.details;
}

TEST(StalenessDetails, HaveARowForEachStalenessThatAGradientHad) {
  const std::vector<std::uint64_t> counts{5, 0, 0, 2, 1};
  StepView view;
  view.iteration = 7;
  view.notes.emplace();
  view.notes->staleness_counts = counts;

  const auto rows = staleness_rows(view);

  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(&rows[i].table(), &kStalenessTable);
    EXPECT_EQ(rows[i].iteration(), 7U);
    EXPECT_EQ(rows[i].part(), (std::vector<std::string>{"0", "3", "4"})[i]);
    EXPECT_EQ(rows[i].get(StalenessColumn::gradients), (std::vector<double>{5, 2, 1})[i]);
  }
}

TEST(StalenessDetails, AreNotThereInLockstep) { EXPECT_TRUE(staleness_rows(StepView{}).empty()); }

}  // namespace
}  // namespace residuum
