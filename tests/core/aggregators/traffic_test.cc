// Bytes and rounds, counted by hand and against the cost models (T-BYTES).

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

/// P workers with k entries each at indices of their own: merged lists always have k entries. Those
/// of worker p lie in the region of worker p + 1, where the indices are divided among the workers.
template <class Real>
ExchangeResult<Real> disjoint(const std::string& kind, std::size_t workers, std::size_t k) {
  test::Rows<Real> rows(workers, std::vector<Real>(workers * k));
  for (std::size_t p = 0; p < workers; ++p) {
    for (std::size_t j = 0; j < k; ++j) {
      rows[p][(p + 1) % workers * k + j] = static_cast<Real>(p + j + 1);
    }
  }
  const auto messages = test::messages_of(*test::sparsifier({{"kind", "top-k"}, {"k", k}}), rows);
  return test::aggregate(*test::aggregator({{"kind", kind}}), messages, rows, k);
}

TEST(Traffic, OfTheTreeIsEightKPerEdgeUpAndDownAndTwoLogPRounds) {
  for (const std::size_t k : {std::size_t{1}, std::size_t{3}}) {
    EXPECT_EQ(disjoint<float>("gtopk-tree", 4, k).traffic.bytes, 8 * k * 6);
    EXPECT_EQ(disjoint<float>("gtopk-tree", 4, k).traffic.rounds, 4U);
    EXPECT_EQ(disjoint<float>("gtopk-tree", 8, k).traffic.bytes, 8 * k * 14);
    EXPECT_EQ(disjoint<float>("gtopk-tree", 8, k).traffic.rounds, 6U);
    EXPECT_EQ(disjoint<double>("gtopk-tree", 8, k).traffic.bytes, 12 * k * 14);
  }
  EXPECT_EQ(disjoint<float>("gtopk-tree", 1, 2).traffic.bytes, 0U);
  EXPECT_EQ(disjoint<float>("gtopk-tree", 1, 2).traffic.rounds, 0U);
}

TEST(Traffic, OfTheTreeHasOneMoreRoundEachWayWhereWorkersAreFoldedIn) {
  EXPECT_EQ(disjoint<float>("gtopk-tree", 5, 2).traffic.rounds, 6U);
  EXPECT_EQ(disjoint<float>("gtopk-tree", 5, 2).traffic.bytes, 8U * 2 * 8);
}

TEST(Traffic, OfTheAllGatherIsEveryMessageToEveryOtherWorker) {
  for (const char* kind : {"allgather", "gtopk-exact"}) {
    EXPECT_EQ(disjoint<float>(kind, 4, 3).traffic.bytes, 4U * 3 * 3 * 8);
    EXPECT_EQ(disjoint<float>(kind, 4, 3).traffic.rounds, 2U);
    EXPECT_EQ(disjoint<float>(kind, 5, 3).traffic.rounds, 3U);
    EXPECT_EQ(disjoint<float>(kind, 1, 3).traffic.bytes, 0U);
  }
}

TEST(Traffic, OfTheDenseSumIsAVectorAlongTheChainAndBack) {
  EXPECT_EQ(disjoint<float>("dense", 4, 3).traffic.bytes, 2U * 3 * 12 * 4);
  EXPECT_EQ(disjoint<double>("dense", 4, 3).traffic.bytes, 2U * 3 * 12 * 8);
  EXPECT_EQ(disjoint<float>("dense", 4, 3).traffic.rounds, 6U);
}

TEST(Traffic, OfTheMaskIsListsUpSupportDownValuesUpAndDown) {
  EXPECT_EQ(disjoint<float>("gtopk-mask", 4, 3).traffic.bytes, 3U * 3 * (8 + 4 + 4 + 4));
  EXPECT_EQ(disjoint<float>("gtopk-mask", 4, 3).traffic.rounds, 8U);
}

TEST(Traffic, ShrinksWithListsThatCancelOrCoincide) {
  // Both messages are at index 0 and cancel in the merge: one edge up with an entry, none down.
  const auto messages =
      test::messages_of<float>(*test::sparsifier({{"kind", "top-k"}, {"k", 1}}), {{2, 0}, {-2, 0}});
  const auto exchanged = test::aggregate<float>(
      *test::aggregator({{"kind", "gtopk-tree"}}), messages, {{2, 0}, {-2, 0}}, 1);

  EXPECT_EQ(exchanged.traffic.bytes, 8U);
}

/// P workers that send all d entries, as whole accumulators or as the list of them.
template <class Real>
Traffic of_all_entries(const std::string& kind, bool is_whole, std::size_t workers, std::size_t d) {
  test::Rows<Real> rows(workers, std::vector<Real>(d));
  for (std::size_t p = 0; p < workers; ++p) {
    for (std::size_t j = 0; j < d; ++j) {
      rows[p][j] = static_cast<Real>(p + j + 1);
    }
  }
  const auto rule = is_whole ? test::sparsifier({{"kind", "none"}})
                             : test::sparsifier({{"kind", "top-k"}, {"k", d}});
  return test::aggregate(
             *test::aggregator({{"kind", kind}}), test::messages_of(*rule, rows), rows, d)
      .traffic;
}

// d values to each of the others, and no index: what a quantiser's form counts with its own values.
TEST(Traffic, OfMessagesWithAllEntriesHasNoIndices) {
  constexpr std::size_t kD = 12;
  for (const bool is_whole : {true, false}) {
    for (const std::size_t workers : {2U, 3U, 4U}) {
      const std::size_t others = workers - 1;
      for (const char* kind : {"allgather", "gtopk-exact"}) {
        EXPECT_EQ(of_all_entries<float>(kind, is_whole, workers, kD).bytes,
                  workers * others * kD * 4)
            << kind << ", whole: " << is_whole;
        EXPECT_EQ(of_all_entries<double>(kind, is_whole, workers, kD).bytes,
                  workers * others * kD * 8);
      }
      EXPECT_EQ(of_all_entries<float>("sparse-reduce-scatter", is_whole, workers, kD).bytes,
                2 * others * kD * 4);
      EXPECT_EQ(of_all_entries<float>("parameter-server", is_whole, workers, kD).bytes,
                2 * workers * kD * 4);
      EXPECT_EQ(of_all_entries<float>("gtopk-tree", is_whole, workers, kD).bytes,
                2 * others * kD * 4);
    }
  }
}

// Zeros of a whole accumulator are values like others.
TEST(Traffic, OfWholeAccumulatorsDoesNotDependOnTheirZeros) {
  const test::Rows<float> rows{{0, 2, 0, 1}, {3, 0, 0, 0}};
  const auto messages = test::messages_of(*test::sparsifier({{"kind", "none"}}), rows);
  for (const auto& [kind, bytes] : {std::pair{"allgather", 2U * 4 * 4},
                                    {"gtopk-exact", 2U * 4 * 4},
                                    {"sparse-reduce-scatter", 2U * 4 * 4}}) {
    EXPECT_EQ(test::aggregate(*test::aggregator({{"kind", kind}}), messages, rows, 4).traffic.bytes,
              bytes)
        << kind;
  }
}

TEST(TrafficModel, IsMetByFullListsOfEveryAggregator) {
  for (const auto& entry : test::aggregators_of_messages()) {
    for (const std::size_t workers : {1U, 2U, 3U, 4U, 7U, 8U, 32U}) {
      const std::string name(entry.name);
      const TrafficShape shape{.workers = static_cast<int>(workers),
                               .entries = static_cast<double>(workers * 2),
                               .dimension = static_cast<double>(workers * 2),
                               .k = 2,
                               .value_bytes = 4};
      const auto model = test::aggregator({{"kind", name}})->traffic_model(shape);

      const auto bytes = static_cast<double>(disjoint<float>(name, workers, 2).traffic.bytes);
      if (name == "ok-topk") {  // its bound has messages that its first exchange has not
        EXPECT_LE(bytes, model.bytes) << "P = " << workers;
        continue;
      }
      EXPECT_EQ(bytes, model.bytes) << name << ", P = " << workers;
    }
  }
}

TEST(TrafficModel, HoldsForEverySparsifierWithEveryAggregatorAlsoWhereAccumulatorsHaveZeros) {
  const test::Rows<float> rows{{0, 2, 0, 1}, {3, 0, 0, 0}, {0, 0, 0, 0}};
  for (const auto& selection : sparsifiers()) {
    const auto rule = selection.make(example_section("sparsifier", selection));
    const auto messages = test::messages_of(*rule, rows);
    double entries = 0;
    double bytes_together = 0;
    for (const auto& message : messages) {
      entries += message.everything ? 4 : static_cast<double>(message.entries.size());
      bytes_together += static_cast<double>(message.bytes(4));
    }
    const bool is_listed = messages.front().form == IndexForm{};
    for (const auto& exchange : test::aggregators_of_messages()) {
      const auto exchanged =
          test::aggregate(*exchange.make(Section()), messages, rows, rule->k(4).value_or(4));
      const TrafficShape shape{
          .workers = 3,
          .entries = entries,
          .whole_messages = messages.front().everything,
          .dimension = 4,
          .k = static_cast<double>(rule->k(4).value_or(4)),
          .value_bytes = 4,
          .coded_bytes = is_listed ? std::nullopt : std::optional(bytes_together)};
      const auto model = exchange.make(Section())->traffic_model(shape);
      const auto bytes = static_cast<double>(exchanged.traffic.bytes);

      EXPECT_TRUE(model.exact ? bytes == model.bytes : bytes <= model.bytes)
          << selection.name << " with " << exchange.name << ": " << bytes << " counted, "
          << model.bytes << " by the model";
    }
  }
}

}  // namespace
}  // namespace residuum
