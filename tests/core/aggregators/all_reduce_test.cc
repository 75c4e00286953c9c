// The all-reduces of dense sums: every one adds in the order that it states, at any number of
// processes, and is charged for its own messages.

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "core/aggregators/dense_sums.h"
#include "tests/core/support.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

using test::Json;
using test::Rows;

const std::vector<const char*> kFlat{"chain", "ring", "tree", "recursive-doubling"};

Json dense_by(const char* algorithm) { return {{"kind", "dense"}, {"algorithm", algorithm}}; }

Json dense_in_nodes(std::size_t per_node) {
  return {{"kind", "dense"}, {"algorithm", "hierarchical"}, {"per_node", per_node}};
}

/// Returns every all-reduce that works with `workers` workers.
std::vector<Json> all_reduces(std::size_t workers) {
  std::vector<Json> all;
  for (const char* algorithm : kFlat) {
    all.push_back(dense_by(algorithm));
  }
  for (std::size_t per_node = 1; per_node <= workers; ++per_node) {
    if (workers % per_node == 0) {
      all.push_back(dense_in_nodes(per_node));
    }
  }
  return all;
}

template <class Real>
Rows<Real> whole_rows(std::size_t workers, std::size_t d) {
  Rows<Real> rows(workers, std::vector<Real>(d));
  RandomStream random(29, Purpose::test, static_cast<std::uint32_t>(workers), 0);
  for (auto& row : rows) {
    for (Real& value : row) {
      value = static_cast<Real>(static_cast<int>(random.below(9)) - 4);
    }
  }
  return rows;
}

Rows<float> normal_rows(std::size_t workers, std::size_t d) {
  Rows<float> rows;
  for (std::size_t p = 0; p < workers; ++p) {
    rows.push_back(test::normal_vector<float>(d, p + 1));
  }
  return rows;
}

/// Returns the sum that the exchange makes of whole accumulators, or of their five largest entries.
template <class Real>
ExchangeResult<Real> summed(const Json& aggregator, const Rows<Real>& rows, bool whole = true) {
  const auto selection =
      test::sparsifier(whole ? Json{{"kind", "none"}} : Json{{"kind", "top-k"}, {"k", 5}});
  return test::aggregate(
      *test::aggregator(aggregator), test::messages_of(*selection, rows), rows, 5);
}

TEST(AllReduces, SumWholeNumbersExactlyAtAnyNumberOfWorkers) {
  for (const std::size_t workers : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 31U}) {
    for (const std::size_t d : {1U, 2U, 3U, 7U, 16U, 40U}) {
      const auto rows = whole_rows<float>(workers, d);
      std::vector<double> expected(d);
      for (const auto& row : rows) {
        for (std::size_t j = 0; j < d; ++j) {
          expected[j] += static_cast<double>(row[j]);
        }
      }
      for (const Json& all_reduce : all_reduces(workers)) {
        const auto sum = summed(all_reduce, rows).dense_sum;
        EXPECT_EQ(std::vector<double>(sum.begin(), sum.end()), expected)
            << all_reduce << ", P = " << workers << ", d = " << d;
      }
    }
  }
}

/// Returns the chunk of d numbers that number j lies in, by the definition.
std::size_t chunk_of(std::size_t j, std::size_t d, std::size_t chunks) {
  std::size_t chunk = 0;
  while ((chunk + 1) * d / chunks <= j) {
    ++chunk;
  }
  return chunk;
}

/// Returns number j of the sum by a ring over nodes, in which workers are added from last to first.
float ring_sum(const Rows<float>& rows, std::size_t j, std::size_t per_node) {
  const std::size_t nodes = rows.size() / per_node;
  const auto of_node = [&](std::size_t node) {
    float sum = rows[node * per_node + per_node - 1][j];
    for (std::size_t place = per_node - 1; place-- > 0;) {
      sum += rows[node * per_node + place][j];
    }
    return sum;
  };
  const std::size_t begin = chunk_of(j, rows[0].size(), nodes) + 1;
  float sum = of_node(begin % nodes);
  for (std::size_t step = 1; step < nodes; ++step) {
    sum += of_node((begin + step) % nodes);
  }
  return sum;
}

/// Plays recursive doubling with a number for each worker; all must end with the same one.
float doubled_sum(const Rows<float>& rows, std::size_t j) {
  const std::size_t whole = std::bit_floor(rows.size());
  std::vector<float> held;
  for (std::size_t p = 0; p < whole; ++p) {
    held.push_back(p + whole < rows.size() ? rows[p][j] + rows[p + whole][j] : rows[p][j]);
  }
  for (std::size_t distance = 1; distance < whole; distance *= 2) {
    const auto before = held;
    for (std::size_t p = 0; p < whole; ++p) {
      held[p] = before[p] + before[p ^ distance];
    }
  }
  EXPECT_EQ(held, std::vector<float>(whole, held[0])) << "workers have different sums";
  return held[0];
}

/// Returns what an all-reduce makes by its definition, in the order of its additions.
std::vector<float> by_definition(const Json& all_reduce, const Rows<float>& rows) {
  const auto algorithm = all_reduce["algorithm"];
  std::vector<float> sum(rows[0].size());
  for (std::size_t j = 0; j < sum.size(); ++j) {
    if (algorithm == "chain") {
      for (const auto& row : rows) {
        sum[j] += row[j];
      }
    } else if (algorithm == "ring" || algorithm == "hierarchical") {
      sum[j] = ring_sum(rows, j, all_reduce.value("per_node", std::size_t{1}));
    } else {
      sum[j] = doubled_sum(rows, j);
    }
  }
  return sum;
}

TEST(AllReduces, AddInTheOrderThatTheyState) {
  for (const std::size_t workers : {1U, 2U, 3U, 4U, 5U, 6U, 8U, 9U, 12U, 31U}) {
    for (const std::size_t d : {3U, 40U}) {
      const auto rows = normal_rows(workers, d);
      for (const Json& all_reduce : all_reduces(workers)) {
        EXPECT_EQ(summed(all_reduce, rows).dense_sum, by_definition(all_reduce, rows))
            << all_reduce << ", P = " << workers << ", d = " << d;
      }
    }
  }
}

TEST(AllReduces, AddInTheSameOrderInVectorsOfManyBlocks) {
  const auto rows = normal_rows(6, 70'001);
  for (const Json& all_reduce : all_reduces(6)) {
    EXPECT_EQ(summed(all_reduce, rows).dense_sum, by_definition(all_reduce, rows)) << all_reduce;
  }
}

TEST(AllReduces, DifferInTheirBitsWhereTheirOrdersDiffer) {
  const auto rows = normal_rows(8, 40);
  const auto chain = summed(dense_by("chain"), rows).dense_sum;
  const auto tree = summed(dense_by("tree"), rows).dense_sum;
  EXPECT_EQ(summed({{"kind", "dense"}}, rows).dense_sum, chain);
  EXPECT_NE(tree, chain);
  EXPECT_NE(summed(dense_by("ring"), rows).dense_sum, chain);
  EXPECT_NE(summed(dense_in_nodes(4), rows).dense_sum, chain);
  EXPECT_EQ(summed(dense_by("recursive-doubling"), rows).dense_sum, tree);
}

/// Calls check(exchanged, first worker here) on every process.
void on_processes_by(const Json& aggregator,
                     const Rows<float>& rows,
                     bool whole,
                     int processes,
                     const std::function<void(World&, const ExchangeResult<float>&)>& check) {
  const auto selection =
      test::sparsifier(whole ? Json{{"kind", "none"}} : Json{{"kind", "top-k"}, {"k", 5}});
  const auto messages = test::messages_of(*selection, rows);
  const auto rule = test::aggregator(aggregator);
  test::on_processes(processes, [&](World& world) {
    const Cluster cluster(world, static_cast<int>(rows.size()));
    const auto all = test::contributions_of(messages, rows);
    const auto here = std::span(all).subspan(static_cast<std::size_t>(cluster.first()),
                                             static_cast<std::size_t>(cluster.count()));
    ExchangeResult<float> exchanged;
    rule->exchange<float>()->combine(
        cluster, {.dimension = rows[0].size(), .k = 5, .of_workers = here}, exchanged);
    check(world, exchanged);
  });
}

TEST(AllReduces, GiveTheSameBitsAndTrafficAtAnyNumberOfProcesses) {
  for (const std::size_t workers : {5U, 6U, 12U}) {
    for (const std::size_t d : {7U, 40'000U}) {
      const auto rows = normal_rows(workers, d);
      for (const Json& all_reduce : all_reduces(workers)) {
        for (const bool whole : {true, false}) {
          const auto alone = summed(all_reduce, rows, whole);
          for (const int processes : {2, 3, 5}) {
            on_processes_by(
                all_reduce, rows, whole, processes, [&](World& world, const auto& exchanged) {
                  EXPECT_EQ(exchanged.dense_sum, alone.dense_sum)
                      << all_reduce << ", P = " << workers << " on " << processes;
                  std::vector<double> bytes{static_cast<double>(exchanged.traffic.bytes)};
                  world.add_up(std::span(bytes));
                  EXPECT_EQ(bytes[0], static_cast<double>(alone.traffic.bytes)) << all_reduce;
                  EXPECT_EQ(exchanged.traffic.rounds, alone.traffic.rounds) << all_reduce;
                });
          }
        }
      }
    }
  }
}

std::pair<std::uint64_t, std::uint64_t> cost_of_sum(const Json& all_reduce,
                                                    std::size_t workers,
                                                    std::size_t d) {
  const auto traffic = summed(all_reduce, whole_rows<float>(workers, d)).traffic;
  return {traffic.bytes, traffic.rounds};
}

TEST(AllReduces, AreChargedTheMessagesOfTheirAlgorithms) {
  using Cost = std::pair<std::uint64_t, std::uint64_t>;
  // 2 (P-1) rounds, in each of which all chunks are sent once: 2 (P-1) vectors of d floats.
  EXPECT_EQ(cost_of_sum(dense_by("ring"), 4, 12), (Cost{2 * 3 * 12 * 4, 6}));
  EXPECT_EQ(cost_of_sum(dense_by("ring"), 3, 5), (Cost{2 * 2 * 5 * 4, 4}));
  EXPECT_EQ(cost_of_sum(dense_by("ring"), 9, 2), (Cost{2 * 8 * 2 * 4, 16}))
      << "most chunks are empty";
  EXPECT_EQ(cost_of_sum(dense_by("tree"), 8, 10), (Cost{2 * 7 * 10 * 4, 6}));
  EXPECT_EQ(cost_of_sum(dense_by("tree"), 6, 10), (Cost{2 * 5 * 10 * 4, 6}));
  // Every one of 8 workers sends d floats in each of 3 rounds.
  EXPECT_EQ(cost_of_sum(dense_by("recursive-doubling"), 8, 10), (Cost{8 * 3 * 10 * 4, 3}));
  // With 6 workers two are folded in, four exchange twice, and two get the sum.
  EXPECT_EQ(cost_of_sum(dense_by("recursive-doubling"), 6, 10), (Cost{(2 + 8 + 2) * 10 * 4, 4}));
  // In three nodes one message each way, and a ring of three.
  EXPECT_EQ(cost_of_sum(dense_in_nodes(2), 6, 10), (Cost{(6 + 4) * 10 * 4, 6}));
  EXPECT_EQ(cost_of_sum(dense_in_nodes(6), 6, 10), cost_of_sum(dense_by("chain"), 6, 10));
  EXPECT_EQ(cost_of_sum(dense_in_nodes(1), 6, 10), cost_of_sum(dense_by("ring"), 6, 10));
  for (const char* algorithm : kFlat) {
    EXPECT_EQ(cost_of_sum(dense_by(algorithm), 1, 10), (Cost{0, 0})) << algorithm;
  }
}

TEST(AllReduces, HaveExactTrafficModels) {
  for (const std::size_t workers : {1U, 2U, 3U, 4U, 6U, 7U, 8U, 12U}) {
    for (const Json& all_reduce : all_reduces(workers)) {
      const auto model =
          test::aggregator(all_reduce)
              ->traffic_model({.workers = static_cast<int>(workers), .dimension = 11});
      EXPECT_TRUE(model.exact);
      EXPECT_EQ(model.bytes, static_cast<double>(cost_of_sum(all_reduce, workers, 11).first))
          << all_reduce << ", P = " << workers;
    }
  }
}

std::string all_reduce_refusal(Json values) {
  values["kind"] = "dense";
  return test::error_of([&] { test::aggregator(values)->check(6, {}); });
}

TEST(AllReduces, RefuseKeysThatDoNotGoTogether) {
  EXPECT_EQ(all_reduce_refusal({{"algorithm", "ring"}, {"reduction", "fast"}}),
            "'aggregator.reduction': MPI_Allreduce chooses an order of its own, so that \"fast\" "
            "goes with algorithm \"chain\" alone; take out one of the two keys");
  EXPECT_EQ(all_reduce_refusal({{"algorithm", "hierarchical"}, {"per_node", 4}}),
            "'aggregator.per_node': 6 workers are no whole number of nodes of 4; choose a divisor "
            "of 'workers.count'");
  EXPECT_EQ(all_reduce_refusal({{"algorithm", "hierarchical"}, {"per_node", 0}}),
            "'aggregator.per_node' must be at least 1 and divide 'workers.count', got 0");
  EXPECT_NE(all_reduce_refusal({{"algorithm", "hierarchical"}}), "") << "per_node has no default";
  EXPECT_NE(all_reduce_refusal({{"algorithm", "ring"}, {"per_node", 2}}), "");
  EXPECT_EQ(all_reduce_refusal({{"algorithm", "chain"}, {"reduction", "fast"}}), "");
  EXPECT_EQ(all_reduce_refusal({{"algorithm", "hierarchical"}, {"per_node", 3}}), "");
}

TEST(AllReduces, RecordTheAlgorithmAndTheReduction) {
  const Section section("aggregator", Json{{"kind", "dense"}});
  static_cast<void>(make_aggregator(section));
  EXPECT_EQ(section.resolved(),
            (Json{{"kind", "dense"}, {"algorithm", "chain"}, {"reduction", "ordered"}}));
}

}  // namespace
}  // namespace residuum
