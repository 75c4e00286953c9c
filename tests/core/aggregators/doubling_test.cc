// gTop-k by recursive doubling: the merges of the tree, and the entries cut on each worker's own
// path.

#include "core/aggregators/doubling.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "tests/core/aggregators/on_processes.h"
#include "tests/core/aggregators/sum_oracle.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Vector = SparseVector<double>;
using test::Json;

constexpr std::array kDoublingWorkers{1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 31U};

std::vector<Message<double>> top_messages(const test::Rows<double>& rows, std::size_t k) {
  return test::messages_of(*test::sparsifier({{"kind", "top-k"}, {"k", k}}), rows);
}

test::Outcomes doubled(const test::Rows<double>& rows, std::size_t k, int processes = 1) {
  return test::exchanged(
      processes, {{"kind", "gtopk-doubling"}}, top_messages(rows, k), rows, k, 2);
}

/// The definition by recursion: every group's list, and for every worker the indices that the
/// merges of its groups have cut.
class PathOracle {
 public:
  PathOracle(const std::vector<test::Entries>& messages, std::size_t k)
      : messages_(messages), k_(k), whole_(std::bit_floor(messages.size())), cut_(messages.size()) {
    result_ = reduced(0, whole_);
  }

  test::Entries applied(std::size_t worker) const {
    test::Entries kept;
    for (const auto& [index, value] : messages_[worker]) {
      if (result_.contains(index) && !cut_[worker].contains(index)) {
        kept[index] = value;
      }
    }
    return kept;
  }

 private:
  test::Entries reduced(std::size_t first, std::size_t count) {
    if (count == 1) {
      const std::size_t folded = first + whole_;
      return folded < messages_.size() ? merged(messages_[first], messages_[folded], first, 1)
                                       : messages_[first];
    }
    const auto lower = reduced(first, count / 2);
    return merged(lower, reduced(first + count / 2, count / 2), first, count);
  }

  test::Entries merged(const test::Entries& a,
                       const test::Entries& b,
                       std::size_t first,
                       std::size_t count) {
    const auto total = test::sum(a, b);
    const auto kept = test::top(total, k_);
    for (const auto& [index, unused] : total) {
      for (std::size_t p = first; p < first + count && !kept.contains(index); ++p) {
        cut_[p].insert(index);
        if (p + whole_ < messages_.size()) {
          cut_[p + whole_].insert(index);
        }
      }
    }
    return kept;
  }

  const std::vector<test::Entries>& messages_;
  std::size_t k_;
  std::size_t whole_;
  test::Entries result_;
  std::vector<std::set<std::uint32_t>> cut_;
};

TEST(GTopKDoubling, HasTheBitsOfTheTree) {
  for (const std::size_t workers : kDoublingWorkers) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto rows = test::normal_rows(workers, 40, seed);
      const auto messages = top_messages(rows, 7);
      const auto tree =
          test::aggregate(*test::aggregator({{"kind", "gtopk-tree"}}), messages, rows, 7);
      EXPECT_EQ(doubled(rows, 7).sum, tree.sum) << "P = " << workers;
    }
  }
}

TEST(GTopKDoubling, AppliesWhatWasNeverCutOnItsSendersPath) {
  for (const std::size_t workers : kDoublingWorkers) {
    for (std::uint32_t number = 0; number < 40; ++number) {
      const auto rows = test::whole_rows(workers, 9, number);
      const auto messages = top_messages(rows, 3);
      std::vector<test::Entries> lists;
      for (const auto& message : messages) {
        lists.push_back(test::entries(message.entries));
      }
      const PathOracle oracle(lists, 3);
      const auto outcomes = doubled(rows, 3);
      std::vector<test::Entries> all;
      for (std::size_t p = 0; p < workers; ++p) {
        all.push_back(test::entries(outcomes.applied[p]));
        ASSERT_EQ(all.back(), oracle.applied(p)) << "worker " << p << " of " << workers;
        ASSERT_TRUE(outcomes.dropped_in_merges[p].empty());
      }
      ASSERT_EQ(test::sum(all), test::entries(outcomes.sum)) << "what is applied adds up to g";
    }
  }
}

// T-LEAK: merging (0,6) and (1,0) cuts 1 at index 0, which survives with 10: worker 3 keeps its 1,
// which the tree takes from it and gives to worker 2.
TEST(GTopKDoubling, LeavesWhatWasCutWithItsSender) {
  const auto outcomes = doubled({{5, 0}, {5, 0}, {0, 6}, {1, 0}}, 1);

  EXPECT_EQ(outcomes.sum, (Vector{{0}, {10}}));
  EXPECT_EQ(outcomes.applied,
            (std::vector<Vector>{Vector{{0}, {5}}, Vector{{0}, {5}}, Vector{}, Vector{}}));
}

// P = 3 folds worker 2 into worker 0: its 1 at index 0 is cut there, worker 1's 9 survives.
TEST(GTopKDoubling, TellsAFoldedWorkerWhatWasCutOfIt) {
  const auto outcomes = doubled({{0, 5}, {9, 0}, {1, 0}}, 1);

  EXPECT_EQ(outcomes.sum, (Vector{{0}, {9}}));
  EXPECT_TRUE(outcomes.applied[2].empty());
}

// 2 and -2 cancel where workers 0 and 1 merge: nothing is cut, and both are applied beside the 3.
TEST(GTopKDoubling, AppliesWhatCancels) {
  const auto outcomes = doubled({{2, 0}, {-2, 0}, {3, 0}, {0, 1}}, 1);

  EXPECT_EQ(outcomes.sum, (Vector{{0}, {3}}));
  EXPECT_EQ(outcomes.applied,
            (std::vector<Vector>{Vector{{0}, {2}}, Vector{{0}, {-2}}, Vector{{0}, {3}}, Vector{}}));
}

TEST(GTopKDoubling, DoesTheSameUnderPublishedAsUnderCaptured) {
  for (std::uint32_t number = 0; number < 30; ++number) {
    const auto rows = test::whole_rows(8, 8, number);
    const auto residuals = [&](const char* putback) {
      return test::step_on(rows,
                           {.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                            .aggregator = {{"kind", "gtopk-doubling"}},
                            .feedback = {{"kind", "ef14"}, {"putback", putback}}})
          .residuals;
    };
    EXPECT_EQ(residuals("published"), residuals("captured"));
  }
}

TEST(GTopKDoubling, IsTheSameAtAnyNumberOfProcesses) {
  for (const std::size_t workers : kDoublingWorkers) {
    const auto rows = test::normal_rows(workers, 30, 3);
    const auto alone = doubled(rows, 5);
    for (const int processes : {2, 3, 4, 5, 7, 31}) {
      if (processes <= static_cast<int>(workers)) {
        EXPECT_EQ(doubled(rows, 5, processes), alone) << processes << " for " << workers;
      }
    }
  }
}

/// P workers with k entries each at indices of their own.
test::Rows<double> of_their_own(std::size_t workers, std::size_t k) {
  test::Rows<double> rows(workers, std::vector<double>(workers * k));
  for (std::size_t p = 0; p < workers; ++p) {
    for (std::size_t j = 0; j < k; ++j) {
      rows[p][p * k + j] = static_cast<double>(p + j + 1);
    }
  }
  return rows;
}

// Every worker sends k entries of 12 bytes in each of log2 P rounds. Of 6 workers, two send theirs
// before and get the result after, with two bytes for the marks of 9 entries.
TEST(GTopKDoubling, SendsAListPerWorkerAndRound) {
  EXPECT_EQ(doubled(of_their_own(8, 3), 3).bytes, 8U * 3 * (3 * 12));
  EXPECT_EQ(doubled(of_their_own(8, 3), 3).rounds, 3U);
  EXPECT_EQ(doubled(of_their_own(6, 9), 9).bytes, (4U * 2 + 2 + 2) * (9 * 12) + 2 * 2);
  EXPECT_EQ(doubled(of_their_own(6, 9), 9).rounds, 4U);
  EXPECT_EQ(doubled(of_their_own(1, 3), 3).bytes, 0U);
}

// log2 P (alpha + 12 k beta), where the tree takes twice that.
TEST(GTopKDoubling, TakesLogPMessagesOfKEntriesInVirtualTime) {
  const NetworkModel line{.name = "line", .links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}};
  for (const std::size_t workers : {1U, 2U, 4U, 8U, 32U}) {
    for (const int processes : {1, 3}) {
      if (processes <= static_cast<int>(workers)) {
        const auto rows = of_their_own(workers, 3);
        EXPECT_EQ(
            test::virtual_seconds(
                processes, {{"kind", "gtopk-doubling"}}, top_messages(rows, 3), rows, 3, line),
            std::log2(workers) * (0.5 + 12 * 3 * 0.25));
      }
    }
  }
}

}  // namespace
}  // namespace residuum
