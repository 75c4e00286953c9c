// Ok-Topk: which entries of the sum reach the reused threshold, and what the workers send for it.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/aggregators/on_processes.h"
#include "tests/core/aggregators/sum_oracle.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Vector = SparseVector<double>;
using test::Json;

Json ok_topk(int period, int region_period) {
  return {{"kind", "ok-topk"}, {"period", period}, {"region_period", region_period}};
}

/// Each row as the message, zeros left out.
std::vector<Message<double>> rows_as_messages(const test::Rows<double>& rows) {
  std::vector<Message<double>> messages;
  for (const auto& row : rows) {
    messages.push_back({.entries = test::sparse(row)});
  }
  return messages;
}

/// The results of one exchange that gets these rows one after the other, on the root.
struct Exchanged {
  std::vector<Vector> sums;
  std::vector<double> bytes;  // of all workers
  std::vector<std::uint64_t> rounds;
  friend bool operator==(const Exchanged&, const Exchanged&) = default;
};

Exchanged applied(int processes,
                  const Json& values,
                  const std::vector<test::Rows<double>>& sequence,
                  std::size_t k) {
  const auto rule = test::aggregator(values);
  Exchanged all;
  test::on_processes(processes, [&](World& world) {
    const Cluster cluster(world, static_cast<int>(sequence.front().size()));
    const auto exchange = rule->exchange<double>();
    ExchangeResult<double> exchanged;
    for (const auto& rows : sequence) {
      const auto messages = rows_as_messages(rows);
      const auto brought = test::contributions_of(messages, rows);
      const auto mine = std::span(brought).subspan(static_cast<std::size_t>(cluster.first()),
                                                   static_cast<std::size_t>(cluster.count()));
      exchange->combine(
          cluster, {.dimension = rows.front().size(), .k = k, .of_workers = mine}, exchanged);
      std::vector<double> bytes{static_cast<double>(exchanged.traffic.bytes)};
      world.add_up(std::span(bytes));
      if (world.is_root()) {
        all.sums.push_back(exchanged.sum);
        all.bytes.push_back(bytes.front());
        all.rounds.push_back(exchanged.traffic.rounds);
      }
    }
  });
  return all;
}

// Worker 0 would begin the second region at index 2, worker 1 at index 4: it begins at 3. Worker 0
// sends 1 entry, worker 1 sends 2. The sums 6, 2, 9 | 4, 7, 8 are gathered, then 9 | 8.
TEST(OkTopk, SendsWhatAPencilSays) {
  const test::Rows<double> rows{{1, 2, 3, 4, 0, 0, 0, 0}, {5, 0, 6, 0, 7, 0, 8, 0}};
  const auto twice = applied(1, ok_topk(2, 4), {rows, rows}, 2);

  EXPECT_EQ(twice.sums[0], (Vector{{2, 6}, {9, 8}}));
  EXPECT_EQ(twice.sums[1], twice.sums[0]);
  const double regions = 2 * 8;
  const double lengths = 2 * 4;
  EXPECT_EQ(twice.bytes[0], regions + (3 + 6) * 12);
  EXPECT_EQ(twice.bytes[1], lengths + (3 + 2) * 12);
  EXPECT_EQ(twice.rounds, (std::vector<std::uint64_t>{1 + 1 + 1, 1 + 1 + 1}));
}

// The regions have two indices each, as no worker has a wish at first. Then worker 0's region has
// all that is to be gathered: it gives one entry to worker 2 and one to worker 4.
TEST(OkTopk, EvensOutWhatOneWorkerHas) {
  const test::Rows<double> nothing(5, std::vector<double>(10));
  auto one_region = nothing;
  one_region[0][0] = 3;
  one_region[0][1] = -3;
  const auto sent = applied(1, ok_topk(9, 9), {nothing, one_region}, 2);

  EXPECT_EQ(sent.sums[1], (Vector{{0, 1}, {3, -3}}));
  const double lengths = 5 * 4 * 4;
  EXPECT_EQ(sent.bytes[1], lengths + (2 + 2 * 4) * 12);
  EXPECT_EQ(sent.rounds[1], 4U + 3 + 1 + 3);
}

TEST(OkTopk, LeavesListsAloneThatAreNotFourTimesTheMean) {
  const test::Rows<double> nothing(4, std::vector<double>(8));
  auto one_region = nothing;
  one_region[0][0] = 3;
  const auto sent = applied(1, ok_topk(9, 9), {nothing, one_region}, 2);
  EXPECT_EQ(sent.bytes[1], 4 * 3 * 4 + 3 * 12);
}

/// The update of each exchange from the definition, in maps.
std::vector<test::Entries> expected_updates(const std::vector<test::Rows<double>>& sequence,
                                            std::size_t k,
                                            std::size_t period) {
  std::vector<test::Entries> updates;
  double threshold = 0;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    std::vector<test::Entries> messages;
    for (const auto& row : sequence[t]) {
      messages.push_back(test::entries(row));
    }
    auto sum = test::sum(messages);
    // A sum of no more than k entries sets no threshold.
    if (t % period == 0) {
      threshold = 0;
      const auto largest = sum.size() > k ? test::top(sum, k) : test::Entries();
      for (const auto& [index, value] : largest) {
        threshold = threshold == 0 ? std::abs(value) : std::min(threshold, std::abs(value));
      }
    }
    std::erase_if(sum, [&](const auto& entry) { return std::abs(entry.second) < threshold; });
    updates.push_back(sum);
  }
  return updates;
}

TEST(OkTopk, HasWhatReachesTheThresholdOfTheLastEvaluation) {
  for (const std::size_t workers : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 16U}) {
    for (const std::size_t d : {1U, 6U, 40U}) {
      std::vector<test::Rows<double>> sequence;
      for (std::uint32_t t = 0; t < 8; ++t) {
        sequence.push_back(test::whole_rows(workers, d, t));
      }
      const std::size_t k = std::min<std::size_t>(d, 4);
      const auto expected = expected_updates(sequence, k, 3);
      auto values = ok_topk(3, 4);
      values["k"] = k;  // messages have up to d entries
      const auto alone = applied(1, values, sequence, d);
      for (std::size_t t = 0; t < sequence.size(); ++t) {
        EXPECT_EQ(test::entries(alone.sums[t]), expected[t])
            << "P = " << workers << ", d = " << d << ", t = " << t;
      }
      for (const int processes : {2, 3, 5}) {
        if (processes <= static_cast<int>(workers)) {
          EXPECT_EQ(applied(processes, values, sequence, d), alone)
              << processes << " for " << workers;
        }
      }
    }
  }
}

// Sums of normal numbers depend on the order in the last bits: it is that of the all-gather.
TEST(OkTopk, AddsInTheOrderOfTheAllGather) {
  for (const std::size_t workers : {3U, 5U, 8U}) {
    const auto rows = test::normal_rows(workers, 30, 5);
    const auto all = test::aggregate(
        *test::aggregator({{"kind", "allgather"}}), rows_as_messages(rows), rows, 30);
    EXPECT_EQ(applied(2, ok_topk(1, 1), {rows}, 30).sums[0], all.sum);
  }
}

TEST(OkTopk, TakesAKOfItsOwn) {
  auto values = ok_topk(1, 1);
  values["k"] = 1;
  const test::Rows<double> rows{{1, 5, 2, 0}, {0, 0, 2, 3}};
  EXPECT_EQ(applied(1, values, {rows}, 4).sums[0], (Vector{{1}, {5}}));
  EXPECT_FALSE(test::aggregator(values)->needs_k());
  EXPECT_TRUE(test::aggregator(ok_topk(1, 1))->needs_k());
  const std::vector<MatrixPlace> layers{{.begin = 0, .rows = 2, .columns = 2}};
  const auto of_five = test::aggregator({{"kind", "ok-topk"}, {"k", 5}});
  EXPECT_NE(test::error_of([&] { of_five->check(2, layers); }), "");
}

TEST(OkTopk, RefusesPeriodsBelowOne) {
  for (const char* key : {"period", "region_period"}) {
    EXPECT_NE(test::error_of([&] {
                test::aggregator({{"kind", "ok-topk"}, {key, 0}});
              }).find("must be at least 1, got 0"),
              std::string::npos);
  }
}

// All P messages have all n entries, evenly over the regions: log2 P messages of the regions'
// borders, P - 1 messages of n/P values, then an all-gather of n/P values.
TEST(OkTopk, TakesTheTimeOfItsMessages) {
  const NetworkModel line{.name = "line", .links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}};
  for (const std::size_t workers : {1U, 2U, 4U, 8U}) {
    const test::Rows<double> rows(workers, std::vector<double>(2 * workers, 1));
    const auto others = static_cast<double>(workers - 1);
    const double depth = std::log2(workers);
    const double part = 2 * 8 * 0.25;
    EXPECT_EQ(
        test::virtual_seconds(1, ok_topk(4, 4), rows_as_messages(rows), rows, 2 * workers, line),
        depth * (0.5 + others * 8 * 0.25) + others * (0.5 + part) + 0.5 * depth + others * part);
  }
}

// The model bounds the counted traffic, whatever the messages are.
TEST(OkTopk, SendsNoMoreThanItsModelSays) {
  for (const std::size_t workers : {1U, 2U, 3U, 5U, 8U, 13U}) {
    std::vector<test::Rows<double>> sequence;
    double entries = 0;
    for (std::uint32_t t = 0; t < 6; ++t) {
      sequence.push_back(test::whole_rows(workers, 40, t));
    }
    const auto sent = applied(1, ok_topk(2, 3), sequence, 4);
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      entries = 0;
      for (const auto& row : sequence[t]) {
        entries += static_cast<double>(test::sparse(row).size());
      }
      const TrafficShape shape{.workers = static_cast<int>(workers),
                               .entries = entries,
                               .dimension = 40,
                               .k = 4,
                               .value_bytes = 8};
      const auto model = test::aggregator(ok_topk(2, 3))->traffic_model(shape);
      EXPECT_FALSE(model.exact);
      EXPECT_LE(sent.bytes[t], model.bytes);
    }
  }
}

}  // namespace
}  // namespace residuum
