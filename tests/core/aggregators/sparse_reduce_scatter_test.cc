// The sum of all messages by regions: the bits of the all-gather, and bytes that depend on overlap.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/aggregators/on_processes.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Vector = SparseVector<double>;
using test::Json;

constexpr std::array kScatterWorkers{1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 31U};
const Json kScatter{{"kind", "sparse-reduce-scatter"}};

/// Each row as the message, zeros left out.
std::vector<Message<double>> whole_messages(const test::Rows<double>& rows) {
  std::vector<Message<double>> messages;
  for (const auto& row : rows) {
    messages.push_back({.entries = test::sparse(row)});
  }
  return messages;
}

test::Outcomes scattered(const test::Rows<double>& rows, int processes = 1) {
  return test::exchanged(processes, kScatter, whole_messages(rows), rows, rows.front().size(), 2);
}

TEST(SparseReduceScatter, HasTheBitsOfTheAllGather) {
  for (const std::size_t workers : kScatterWorkers) {
    for (const std::size_t d : {1U, 5U, 40U}) {
      const auto rows = test::normal_rows(workers, d, d);
      const auto messages = test::messages_of(
          *test::sparsifier({{"kind", "hard-threshold"}, {"threshold", 1}}), rows);
      const auto gathered =
          test::aggregate(*test::aggregator({{"kind", "allgather"}}), messages, rows, d);
      EXPECT_EQ(test::exchanged(1, kScatter, messages, rows, d).sum, gathered.sum)
          << "P = " << workers << ", d = " << d;
    }
  }
}

TEST(SparseReduceScatter, IsTheSameAtAnyNumberOfProcesses) {
  for (const std::size_t workers : kScatterWorkers) {
    for (const std::size_t d : {3U, 40U}) {
      const auto rows = test::normal_rows(workers, d, 11);
      const auto alone = scattered(rows);
      for (const int processes : {2, 3, 5}) {
        if (processes <= static_cast<int>(workers)) {
          EXPECT_EQ(scattered(rows, processes), alone) << processes << " for " << workers;
        }
      }
    }
  }
}

TEST(SparseReduceScatter, AddsPairsOfNeighbours) {
  // (1 + u) + (u + u) with u = 2^-53: 1 + u rounds to 1, u + u is exact. One after the other all
  // three would vanish.
  const double small = std::ldexp(1, -53);
  EXPECT_EQ(scattered({{1}, {small}, {small}, {small}}).sum, (Vector{{0}, {1 + 2 * small}}));
  EXPECT_EQ(((1 + small) + small) + small, 1);
}

// Regions of 2 of 6 indices. Worker 0 sends 2 entries to worker 1, worker 1 sends 1 to worker 0 and
// 1 to worker 2, worker 2 sends nothing. Region 0 has indices 0 and 1, region 1 index 3 (its 2s
// cancel), region 2 index 5, and each goes to two others. Lists may have all entries here, so a
// list that has all of its region is its values: 2 of 8 bytes. Other entries have 12 bytes.
TEST(SparseReduceScatter, SendsWhatAPencilSays) {
  const auto outcomes = scattered({{1, 0, 2, 3, 0, 0}, {0, 4, -2, 0, 0, 5}, {0, 0, 0, 0, 0, 6}});

  EXPECT_EQ(outcomes.sum, (Vector{{0, 1, 3, 5}, {1, 4, 3, 11}}));
  EXPECT_EQ(outcomes.bytes, (16U + 12 + 12) + 2 * (16 + 12 + 12));
  EXPECT_EQ(outcomes.rounds, 2U + 2);
}

// All P messages have all n entries, evenly over the regions: each worker sends the values of the
// other regions, and each sum goes to P - 1 others. The all-gather sends P times as much there.
TEST(SparseReduceScatter, GathersOnceWhatAllWorkersSend) {
  for (const std::size_t workers : {2U, 4U, 8U}) {
    const test::Rows<double> rows(workers, std::vector<double>(2 * workers, 1));
    EXPECT_EQ(scattered(rows).bytes, 2 * (workers - 1) * 2 * workers * 8);
  }
}

// All n entries of every worker, evenly over the regions: P - 1 messages of n/P values, then an
// all-gather of n/P values.
TEST(SparseReduceScatter, TakesTheTimeOfItsMessages) {
  const NetworkModel line{.name = "line", .links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}};
  for (const std::size_t workers : {1U, 2U, 4U, 8U}) {
    const test::Rows<double> rows(workers, std::vector<double>(2 * workers, 1));
    const auto others = static_cast<double>(workers - 1);
    const double part = 2 * 8 * 0.25;
    for (const int processes : {1, 2}) {
      if (processes <= static_cast<int>(workers)) {
        EXPECT_EQ(test::virtual_seconds(
                      processes, kScatter, whole_messages(rows), rows, 2 * workers, line),
                  others * (0.5 + part) + 0.5 * std::log2(workers) + others * part);
      }
    }
  }
}

}  // namespace
}  // namespace residuum
