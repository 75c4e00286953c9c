// PowerSGD sends the same on any number of processes, and refuses what does not fit it.

#include <gtest/gtest.h>

#include "core/protocols/network_clocks.h"
#include "core/training/method.h"
#include "tests/core/aggregators/power_run.h"

namespace residuum {
namespace {

using test::Json;
using test::kMixed;
using test::kMixedSize;
using test::PowerRun;
using test::powersgd;
using test::Rows;

// A matrix of 6 x 4 has 2 (6 + 4) = 20 numbers of rank 2, a vector 3: the first all-reduce has
// 12 + 3 numbers, the second 8.
TEST(PowerSgdExchange, SendsItsFactorsAndTheVectorsAndNothingElse) {
  const std::vector<MatrixPlace> layers{{.begin = 0, .rows = 6, .columns = 4},
                                        {.begin = 24, .rows = 3, .columns = 1}};
  PowerRun<float> run(powersgd(2), layers);
  const Rows<float> rows(4, std::vector<float>(27, 1));
  const Traffic traffic = run.exchange(rows).traffic;
  EXPECT_EQ(traffic.bytes, 2U * 3 * (15 + 8) * 4);
  EXPECT_EQ(traffic.rounds, 2U * 2 * 3);
  // Without a matrix there is nothing for a second all-reduce.
  PowerRun<float> dense(powersgd(2), {});
  EXPECT_EQ(dense.exchange(rows).traffic.bytes, 2U * 3 * 27 * 4);
  EXPECT_EQ(dense.exchange(rows).traffic.rounds, 2U * 3);
}

std::vector<Json> ways_to_sum() {
  std::vector<Json> ways;
  for (const char* algorithm : {"chain", "ring", "tree", "recursive-doubling"}) {
    Json keys = powersgd(2);
    keys["algorithm"] = algorithm;
    ways.push_back(keys);
  }
  return ways;
}

TEST(PowerSgdExchange, SendsTheBytesOfItsModelByEveryAllReduce) {
  for (const Json& keys : ways_to_sum()) {
    for (const std::size_t workers : {1U, 2U, 3U, 4U, 7U}) {
      PowerRun<double> run(keys, kMixed);
      const auto rows = test::normal_rows(workers, kMixedSize, 5);
      EXPECT_EQ(static_cast<double>(run.exchange(rows).traffic.bytes),
                run.bytes_by_the_model(workers, kMixedSize))
          << keys << ", P = " << workers;
    }
  }
}

TEST(PowerSgdExchange, HasTheSameBitsOnAnyNumberOfProcesses) {
  for (const Json& keys : ways_to_sum()) {
    const auto on_one = test::dense_sums_on(1, keys, kMixedSize, kMixed);
    for (const int processes : {2, 3, 5}) {
      EXPECT_EQ(test::dense_sums_on(processes, keys, kMixedSize, kMixed), on_one)
          << keys << " on " << processes;
    }
  }
}

TEST(PowerSgdExchange, TakesTheTimeOfItsTwoAllReduces) {
  // With one second for a byte and none for a message, a chain of 3 workers passes every vector
  // 2 (3 - 1) times.
  const auto rows = test::normal_rows(3, kMixedSize, 5);
  const auto rule = test::aggregator(powersgd(2));
  const auto world = make_single_process();
  const Cluster cluster(*world, 3);
  const std::vector<Message<double>> messages(3, {.everything = true});
  const auto brought = test::contributions_of(messages, rows);
  Transfers transfers;
  ExchangeResult<double> exchanged;
  exchanged.transfers = &transfers;
  rule->exchange<double>()->combine(
      cluster,
      {.dimension = kMixedSize, .of_workers = brought, .layers = kMixed, .seed = 1},
      exchanged);
  NetworkClocks clocks(
      {.links = {.alpha_s = 0, .beta_s_per_byte = 1}}, {.compute = TimeLaw::constant(0)}, 3);
  clocks.exchange(transfers, /*with_work=*/false);
  const double first = 2 * 9 + (kMixedSize - 63);
  const double second = 2 * 7;
  EXPECT_DOUBLE_EQ(clocks.now(), 4 * 8 * (first + second));
}

std::string refused_parts(const Json& sparsifier, const Json& feedback) {
  const Section selection("sparsifier", sparsifier);
  const Section exchange("aggregator", powersgd(2));
  const Section memory("feedback", feedback);
  Method method{.sparsifier = make_sparsifier(selection),
                .aggregator = make_aggregator(exchange),
                .feedback = make_feedback(memory),
                .step_rule = nullptr};
  return test::error_of([&] { check_approximation(method, 10, selection, exchange, memory); });
}

TEST(PowerSgdExchange, RefusesWhatSelectsBeforeItOrNeedsLists) {
  EXPECT_EQ(refused_parts({{"kind", "none"}}, {{"kind", "ef14"}}), "");
  EXPECT_EQ(refused_parts({{"kind", "none"}}, {{"kind", "ef21"}}), "");
  EXPECT_EQ(refused_parts({{"kind", "none"}}, {{"kind", "dgc"}, {"masking", false}}), "");
  EXPECT_EQ(
      refused_parts({{"kind", "top-k"}, {"k", 2}}, {{"kind", "ef14"}}),
      "'sparsifier.kind': aggregator 'powersgd' compresses whole accumulators itself, so that "
      "nothing may be selected before; take out [sparsifier], or use kind \"none\"");
  EXPECT_EQ(refused_parts({{"kind", "none"}}, {{"kind", "dgc"}}),
            "'feedback.kind': this feedback needs entries applied whole, and aggregator 'powersgd' "
            "applies a part; use \"ef14\", or take the masking out of \"dgc\"");
  EXPECT_EQ(test::error_of([] { test::aggregator(powersgd(0)); }),
            "'aggregator.rank' must lie in 1..2147483647, got 0");
}

}  // namespace
}  // namespace residuum
