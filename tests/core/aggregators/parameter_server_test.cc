// The parameter server by hand: worker 0 hosts it, messages go up as they are and the sum comes
// down, whole or as its k largest entries.

#include <gtest/gtest.h>

#include <vector>

#include "tests/core/support.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

using test::Json;
using test::Rows;

const Json kWholeDown{{"kind", "parameter-server"}};
const Json kLargestDown{{"kind", "parameter-server"}, {"down", "top-k"}};

template <class Real>
ExchangeResult<Real> served(const Json& aggregator,
                            const Json& sparsifier,
                            const Rows<Real>& rows,
                            std::size_t k) {
  const auto messages = test::messages_of(*test::sparsifier(sparsifier), rows);
  return test::aggregate(*test::aggregator(aggregator), messages, rows, k);
}

const Json kTopTwo{{"kind", "top-k"}, {"k", 2}};

// Three workers on ten numbers; the messages are {0: 5, 1: 4}, {0: 5, 2: 3}, {1: -4, 9: 2}.
const Rows<float> kThree{{5, 4, 0, 0, 0, 0, 0, 0, 0, 1},
                         {5, 0, 3, 0, 0, 0, 0, 0, 0, 1},
                         {1, -4, 0, 0, 0, 0, 0, 0, 0, 2}};

TEST(ParameterServer, SendsTheWholeSumToEveryWorker) {
  const auto exchanged = served(kWholeDown, kTopTwo, kThree, 2);

  EXPECT_FALSE(exchanged.is_dense);
  EXPECT_TRUE(exchanged.applied_whole);
  EXPECT_EQ(exchanged.sum, (SparseVector<float>{{0, 2, 9}, {10, 3, 2}}));
  // The three workers send two entries of 8 bytes each and get three.
  EXPECT_EQ(exchanged.traffic.bytes, 3U * 2 * 8 + 3U * 3 * 8);
  EXPECT_EQ(exchanged.traffic.down, 3U * 3 * 8);
  EXPECT_EQ(exchanged.traffic.rounds, 2U);
}

TEST(ParameterServer, SendsADenseVectorWhereThatIsShorter) {
  const Rows<float> rows{{1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 3, 0}};
  const auto exchanged = served(kWholeDown, {{"kind", "top-k"}, {"k", 1}}, rows, 1);
  EXPECT_EQ(exchanged.traffic.bytes, 3U * 8 + 3U * 4 * 4);

  const auto dense = served(kWholeDown, {{"kind", "none"}}, kThree, 10);
  EXPECT_TRUE(dense.is_dense);
  EXPECT_EQ(dense.dense_sum, (std::vector<float>{11, 0, 3, 0, 0, 0, 0, 0, 0, 4}));
  EXPECT_EQ(dense.traffic.bytes, 3U * 10 * 4 + 3U * 3 * 8) << "the sum has three entries";
}

TEST(ParameterServer, AddsInTheOrderOfWorkers) {
  // (1 + 2^-24) is 1 in float; only the order of workers gives 1 + 2^-23 at index 1.
  const float small = 1.0F / (1 << 24);
  const Rows<float> rows{{1, small}, {small, small}, {small, 1}};
  EXPECT_EQ(served(kWholeDown, {{"kind", "none"}}, rows, 2).dense_sum,
            (std::vector<float>{1, 1 + 2 * small}));
}

TEST(ParameterServer, SendsTheLargestOfTheSumAndLeavesTheRestWithTheWorkers) {
  const auto exchanged = served(kLargestDown, kTopTwo, kThree, 2);

  EXPECT_EQ(exchanged.sum, (SparseVector<float>{{0, 2}, {10, 3}}));
  EXPECT_FALSE(exchanged.applied_whole);
  EXPECT_EQ(exchanged.applied[0], (SparseVector<float>{{0}, {5}}));
  EXPECT_EQ(exchanged.applied[1], (SparseVector<float>{{0, 2}, {5, 3}}));
  EXPECT_TRUE(exchanged.applied[2].empty()) << "worker 2 takes both of its entries back";
  EXPECT_EQ(exchanged.traffic.bytes, 3U * 2 * 8 + 3U * 2 * 8);
}

TEST(ParameterServer, OfOneWorkerAnswersItInNoRound) {
  for (const Json& aggregator : {kWholeDown, kLargestDown}) {
    const auto exchanged = served<float>(aggregator, kTopTwo, {kThree[0]}, 2);
    EXPECT_EQ(exchanged.sum, (SparseVector<float>{{0, 1}, {5, 4}}));
    EXPECT_EQ(exchanged.traffic.bytes, 2U * 2 * 8);
    EXPECT_EQ(exchanged.traffic.rounds, 0U);
  }
}

TEST(ParameterServer, ChoosesAsTheExactGTopKWhereSumsAreExact) {
  for (const std::size_t workers : {2U, 3U, 5U, 8U}) {
    Rows<double> rows(workers, std::vector<double>(9));
    for (std::size_t p = 0; p < workers; ++p) {
      RandomStream random(31, Purpose::test, static_cast<std::uint32_t>(p), 0);
      for (double& value : rows[p]) {
        value = static_cast<int>(random.below(9)) - 4;
      }
    }
    const auto exchanged = served(kLargestDown, kTopTwo, rows, 2);
    const auto exact = served({{"kind", "gtopk-exact"}}, kTopTwo, rows, 2);
    EXPECT_EQ(exchanged.sum, exact.sum);
    EXPECT_EQ(exchanged.applied, exact.applied);
  }
}

TEST(ParameterServer, GivesTheSameBitsAndTrafficAtAnyNumberOfProcesses) {
  Rows<float> rows;
  for (std::uint64_t p = 0; p < 6; ++p) {
    rows.push_back(test::normal_vector<float>(200, p + 1));
  }
  for (const Json& sparsifier : {Json{{"kind", "top-k"}, {"k", 9}}, Json{{"kind", "none"}}}) {
    for (const Json& aggregator : {kWholeDown, kLargestDown}) {
      const auto alone = served(aggregator, sparsifier, rows, 9);
      const auto messages = test::messages_of(*test::sparsifier(sparsifier), rows);
      const auto all = test::contributions_of(messages, rows);
      const auto rule = test::aggregator(aggregator);
      for (const int processes : {2, 3, 5}) {
        test::on_processes(processes, [&](World& world) {
          const Cluster cluster(world, 6);
          const auto first = static_cast<std::size_t>(cluster.first());
          const auto here =
              std::span(all).subspan(first, static_cast<std::size_t>(cluster.count()));
          ExchangeResult<float> exchanged;
          rule->exchange<float>()->combine(
              cluster, {.dimension = 200, .k = 9, .of_workers = here}, exchanged);

          EXPECT_EQ(exchanged.dense_sum, alone.dense_sum);
          EXPECT_EQ(exchanged.sum, alone.sum);
          for (std::size_t slot = 0; slot < exchanged.applied.size(); ++slot) {
            EXPECT_EQ(exchanged.applied[slot], alone.applied[first + slot]);
          }
          std::vector<double> bytes{static_cast<double>(exchanged.traffic.bytes)};
          world.add_up(std::span(bytes));
          EXPECT_EQ(bytes[0], static_cast<double>(alone.traffic.bytes));
        });
      }
    }
  }
}

TEST(ParameterServer, SaysByItsLawWhatTheWayDownDoes) {
  const auto whole = test::aggregator(kWholeDown);
  EXPECT_TRUE(whole->law().applies_whole_messages);
  EXPECT_FALSE(whole->law().is_sparse || whole->law().selects_largest || whole->needs_k());
  const auto largest = test::aggregator(kLargestDown);
  EXPECT_FALSE(largest->law().applies_whole_messages || largest->law().drops_in_merges);
  EXPECT_TRUE(largest->law().is_sparse && largest->law().selects_largest && largest->needs_k());
}

TEST(ParameterServer, HasABoundOfItsTrafficThatFullMessagesMeet) {
  Rows<float> rows(4, std::vector<float>(40));
  for (std::size_t p = 0; p < 4; ++p) {
    rows[p][2 * p] = 1;
    rows[p][2 * p + 1] = 2;
  }
  const TrafficShape shape{.workers = 4, .entries = 8, .dimension = 40, .k = 2};
  EXPECT_EQ(test::aggregator(kWholeDown)->traffic_model(shape).bytes, 4 * 16 + 4 * 64);
  EXPECT_EQ(served(kWholeDown, kTopTwo, rows, 2).traffic.bytes, 4U * 16 + 4U * 64);
  EXPECT_EQ(test::aggregator(kLargestDown)->traffic_model(shape).bytes, 4 * 16 + 4 * 16);
  EXPECT_EQ(served(kLargestDown, kTopTwo, rows, 2).traffic.bytes, 4U * 16 + 4U * 16);
}

}  // namespace
}  // namespace residuum
