// Shares of failures are rounded to per cents, but never to none and never to all.

#include <gtest/gtest.h>

#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

std::string word_of_share(std::uint64_t violations, std::uint64_t measured, bool counts_all) {
  EveryVerdict every;
  every.state = AssumptionState::fails;
  every.violations = violations;
  every.measured = measured;
  every.share = static_cast<double>(violations) / static_cast<double>(measured);
  every.counts_all = counts_all;
  return every_word(every);
}

TEST(ShareOfFailures, IsAllOnlyWhereEveryIterationFails) {
  EXPECT_EQ(word_of_share(2400, 2400, true), "fails 100 %");
  EXPECT_EQ(word_of_share(2398, 2400, true), "fails >99 %");
  EXPECT_EQ(word_of_share(2398, 2400, false), "fails >99 %");
  EXPECT_EQ(word_of_share(99, 100, true), "fails 99 %");
  EXPECT_EQ(word_of_share(2, 2400, true), "fails <1 %");
}

}  // namespace
}  // namespace residuum::reports
