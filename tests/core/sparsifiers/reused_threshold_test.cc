// A threshold that is found at every period-th message and reused in between.

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using Vector = SparseVector<double>;

/// Returns what one worker sends of these accumulators at the iterations 0, 1, ...
std::vector<Vector> sent_of(const Sparsifier& rule, const std::vector<std::vector<double>>& rows) {
  SelectWorkspace workspace;
  std::vector<Vector> sent;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    Message<double> message;
    rule.select(std::span(rows[t]), {.iteration = t}, workspace, message);
    sent.push_back(message.entries);
  }
  return sent;
}

TEST(ReusedThreshold, SendsWhatReachesTheSmallestOfTheLastTopK) {
  const auto rule = test::sparsifier({{"kind", "reused-threshold"}, {"k", 1}, {"period", 3}});
  const auto sent = sent_of(*rule, {{3, 1, 2}, {-4, 1, 3}, {1, 2, 2}, {1, 1, 5}, {5, 5, 4}});
  EXPECT_EQ(sent[0], (Vector{{0}, {3}}));
  EXPECT_EQ(sent[1], (Vector{{0, 2}, {-4, 3}}));
  EXPECT_EQ(sent[2], (Vector{}));
  EXPECT_EQ(sent[3], (Vector{{2}, {5}}));
  EXPECT_EQ(sent[4], (Vector{{0, 1}, {5, 5}}));
}

TEST(ReusedThreshold, HasNoneUntilSomethingWasSent) {
  const auto rule = test::sparsifier({{"kind", "reused-threshold"}, {"k", 1}, {"period", 9}});
  const auto sent = sent_of(*rule, {{0, 0}, {1, 2}, {1, 2}, {3, 2}});
  EXPECT_EQ(sent[0], (Vector{}));
  EXPECT_EQ(sent[1], (Vector{{1}, {2}}));
  EXPECT_EQ(sent[3], (Vector{{0, 1}, {3, 2}}));
}

TEST(ReusedThreshold, HasOneForEachLayer) {
  const Section section(
      "sparsifier",
      test::Json{{"kind", "reused-threshold"}, {"k", 1}, {"period", 2}, {"scope", "layer"}});
  const std::vector<Segment> layers{{.begin = 0, .size = 2}, {.begin = 2, .size = 2}};
  const auto rule = make_sparsifier(section, layers);
  const auto sent = sent_of(*rule, {{5, 1, 2, 1}, {4, 6, 2, 3}});
  EXPECT_EQ(sent[0], (Vector{{0, 2}, {5, 2}}));
  EXPECT_EQ(sent[1], (Vector{{1, 2, 3}, {6, 2, 3}}));
  EXPECT_TRUE(rule->law(4, 1).reuses_threshold);
}

TEST(ReusedThreshold, RefusesAPeriodBelowOne) {
  EXPECT_NE(test::error_of([] {
              test::sparsifier({{"kind", "reused-threshold"}, {"k", 1}, {"period", 0}});
            }).find("period' must be at least 1, got 0"),
            std::string::npos);
}

}  // namespace
}  // namespace residuum
