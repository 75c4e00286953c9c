// Examples that can be followed with a pencil.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/aggregators/tree.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Vector = SparseVector<double>;
using test::Json;

ExchangeResult<double> top_one(const std::string& kind, const test::Rows<double>& rows) {
  const auto messages = test::messages_of(*test::sparsifier({{"kind", "top-k"}, {"k", 1}}), rows);
  return test::aggregate(*test::aggregator({{"kind", kind}}), messages, rows, 1);
}

TEST(TreeRounds, AreThoseOfThePaperForEightWorkers) {
  using Round = std::vector<Edge>;
  const std::vector<Round> expected{{{1, 0}, {3, 2}, {5, 4}, {7, 6}}, {{2, 0}, {6, 4}}, {{4, 0}}};

  EXPECT_EQ(tree_rounds(8), expected);
}

TEST(TreeRounds, FoldTheWorkersBeyondAPowerOfTwoInFirst) {
  using Round = std::vector<Edge>;
  EXPECT_EQ(tree_rounds(3), (std::vector<Round>{{{2, 0}}, {{1, 0}}}));
  EXPECT_EQ(tree_rounds(6), (std::vector<Round>{{{4, 0}, {5, 1}}, {{1, 0}, {3, 2}}, {{2, 0}}}));
  EXPECT_TRUE(tree_rounds(1).empty());
}

TEST(TreeRounds, BringEveryWorkersListToTheRootOnce) {
  for (int workers = 1; workers <= 200; ++workers) {
    std::set<int> senders;
    for (const auto& round : tree_rounds(workers)) {
      std::set<int> busy;
      for (const auto& [from, to] : round) {
        EXPECT_FALSE(senders.contains(to)) << "a list goes to a worker that has sent its own";
        EXPECT_TRUE(busy.insert(from).second && busy.insert(to).second);
        EXPECT_TRUE(senders.insert(from).second);
      }
    }
    EXPECT_EQ(senders.size(), static_cast<std::size_t>(workers - 1));
    EXPECT_FALSE(senders.contains(0));
  }
}

TEST(GTopKTree, IsNotAssociative) {
  // T-ASSOC: (A T B) T C = {1: 4}, (A T C) T B = {0: 6}. P = 3 merges worker 2 first.
  EXPECT_EQ(top_one("gtopk-tree", {{3, 0}, {3, 0}, {0, 4}}).sum, (Vector{{1}, {4}}));
  EXPECT_EQ(top_one("gtopk-tree", {{3, 0}, {0, 4}, {3, 0}}).sum, (Vector{{0}, {6}}));
}

TEST(GTopKTree, CanMissWhatTheExactSelectionFinds) {
  const test::Rows<double> rows{{3, 0, 0}, {0, 4, 0}, {3, 0, 0}, {0, 0, 4}};

  EXPECT_EQ(top_one("gtopk-exact", rows).sum, (Vector{{0}, {6}}));
  EXPECT_EQ(top_one("gtopk-tree", rows).sum, (Vector{{1}, {4}}));
}

TEST(GTopKTree, DependsOnTheOrderOfWorkersAsTheExactSelectionDoesNot) {
  test::Rows<double> rows{{3, 0, 0}, {0, 4, 0}, {3, 0, 0}, {0, 0, 4}};
  std::sort(rows.begin(), rows.end());
  std::set<std::vector<double>> exact;
  std::set<std::vector<double>> tree;
  do {
    exact.insert(test::dense(top_one("gtopk-exact", rows).sum, 3));
    tree.insert(test::dense(top_one("gtopk-tree", rows).sum, 3));
  } while (std::next_permutation(rows.begin(), rows.end()));

  EXPECT_EQ(exact, (std::set<std::vector<double>>{{6, 0, 0}}));
  EXPECT_EQ(tree, (std::set<std::vector<double>>{{6, 0, 0}, {0, 4, 0}}));
}

TEST(GTopKTree, ReportsWhatAMergeCutAtAnIndexThatSurvived) {
  // T-LEAK: merging (0,6) and (1,0) cuts 1 at index 0, which survives with 10.
  const auto exchanged = top_one("gtopk-tree", {{5, 0}, {5, 0}, {0, 6}, {1, 0}});

  EXPECT_EQ(exchanged.sum, (Vector{{0}, {10}}));
  EXPECT_EQ(exchanged.dropped_in_merges[2], (Vector{{0}, {1}}));
  EXPECT_TRUE(exchanged.dropped_in_merges[0].empty());
  EXPECT_EQ(exchanged.applied[3], (Vector{{0}, {1}}));
  EXPECT_TRUE(exchanged.applied[2].empty());
}

TEST(GTopKTree, WorksForThreeFiveSixAndSevenWorkers) {
  // T-P3567: worker p brings p + 1 at index p, the last one also wins by its size.
  for (const std::size_t workers : {3U, 5U, 6U, 7U}) {
    test::Rows<double> rows(workers, std::vector<double>(8));
    for (std::size_t p = 0; p < workers; ++p) {
      rows[p][p] = static_cast<double>(p) + 1;
    }
    const auto last = static_cast<std::uint32_t>(workers - 1);
    EXPECT_EQ(top_one("gtopk-tree", rows).sum, (Vector{{last}, {static_cast<double>(workers)}}));
  }
}

TEST(GTopKMask, SumsTheWholeAccumulatorsOnTheSupport) {
  // The tree picks index 0 (30); worker 1 adds its unsent -20 there.
  const auto exchanged = top_one("gtopk-mask", {{30, 0, 0}, {-20, 21, 21}});

  EXPECT_EQ(exchanged.sum, (Vector{{0}, {10}}));
  EXPECT_EQ(exchanged.applied[1], (Vector{{0}, {-20}}));
}

TEST(GTopKMask, AddsInTheOrderOfTheTree) {
  // 2^53 + 1 is rounded to 2^53. The tree adds the two ones to each other first, a chain loses
  // both.
  constexpr double kLarge = 0x1p53;
  const auto exchanged = top_one("gtopk-mask", {{kLarge, 0}, {0, 0}, {1, 0}, {1, 0}});

  EXPECT_EQ(exchanged.sum, (Vector{{0}, {kLarge + 2}}));
}

TEST(GTopKMask, DropsAnIndexWhereTheAccumulatorsCancel) {
  const auto exchanged = top_one("gtopk-mask", {{2, 0}, {-2, 3}});

  EXPECT_EQ(exchanged.sum, (Vector{{1}, {3}}));
  EXPECT_TRUE(top_one("gtopk-mask", {{2, 0}, {0, 0}, {0, 0}, {-2, 0}}).sum.empty());
}

ExchangeResult<double> top_two_weighed(const Json& keys, const test::Rows<double>& rows) {
  Json section{{"kind", "allgather"}};
  section.update(keys);
  const auto messages = test::messages_of(*test::sparsifier({{"kind", "top-k"}, {"k", 2}}), rows);
  return test::aggregate(*test::aggregator(section), messages, rows, 2);
}

TEST(WeighedAllGather, DividesEntriesByTheirSenders) {
  // Index 0 is sent by three of four, 1 by one, 2 by two, 3 by two: times 4/3, 4, 2, 2.
  const auto exchanged = top_two_weighed({{"weighting", "senders"}},
                                         {{3, 1, 0, 0}, {6, 0, 5, 1}, {0, 0, 4, -2}, {3, 0, 0, 7}});
  EXPECT_EQ(exchanged.sum, (Vector{{0, 1, 2, 3}, {16, 4, 18, 10}}));
  EXPECT_EQ(exchanged.applied[1], (Vector{{0, 2}, {6, 5}})) << "workers clear what they sent";
  EXPECT_FALSE(exchanged.applied_whole);
}

TEST(WeighedAllGather, ClipsMessagesToTheLowerMedianOfTheirNorms) {
  // Norms 5, 10, 1, 26: the lower median is 5, so that the second is halved and the last is 5.
  const auto exchanged = top_two_weighed({{"clip", "median-norm"}},
                                         {{3, 4, 0, 0}, {6, 8, 0, 0}, {1, 0, 0, 0}, {0, 0, 26, 0}});
  EXPECT_EQ(exchanged.sum, (Vector{{0, 1, 2}, {3 + 3 + 1, 4 + 4, 5}}));
}

TEST(WeighedAllGather, DoesBothAtOnce) {
  // As above; index 0 is sent by three of four, 1 by two, 2 by one.
  const auto exchanged = top_two_weighed({{"weighting", "senders"}, {"clip", "median-norm"}},
                                         {{3, 4, 0, 0}, {6, 8, 0, 0}, {2, 0, 0, 0}, {0, 0, 26, 0}});
  EXPECT_EQ(exchanged.sum, (Vector{{0, 1, 2}, {4 * 8 / 3.0, 16, 20}}));
}

TEST(WeighedAllGather, IsPlainWhereTheKeysSayWhatIsDefault) {
  const auto plain =
      test::aggregator({{"kind", "allgather"}, {"weighting", "workers"}, {"clip", "none"}});
  EXPECT_TRUE(plain->law().applies_whole_messages);
  EXPECT_FALSE(plain->law().weighs_messages);
}

}  // namespace
}  // namespace residuum
