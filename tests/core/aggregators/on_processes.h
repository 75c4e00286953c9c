#pragma once
// One exchange by several processes, put together again: what must not depend on their number.

#include <mutex>
#include <vector>

#include "core/protocols/network_clocks.h"
#include "tests/core/support.h"
#include "tests/core/thread_world.h"

namespace residuum::test {

/// Outcomes are the results of one exchange for all workers, on however many processes.
struct Outcomes {
  SparseVector<double> sum;
  std::vector<SparseVector<double>> applied;            // of all workers, unless all was applied
  std::vector<SparseVector<double>> dropped_in_merges;  // of all workers, unless all was applied
  std::uint64_t bytes = 0;                              // sent by all workers
  std::uint64_t rounds = 0;
  friend bool operator==(const Outcomes&, const Outcomes&) = default;
};

/// Lets the processes exchange the rows' messages `times` times by one exchange; the result is that
/// of the last time. Every process must have the same sum.
inline Outcomes exchanged(int processes,
                          const Json& aggregator_values,
                          const std::vector<Message<double>>& messages,
                          const Rows<double>& rows,
                          std::size_t k,
                          int times = 1) {
  const std::size_t workers = rows.size();
  const auto rule = aggregator(aggregator_values);
  Outcomes all;
  all.applied.resize(workers);
  all.dropped_in_merges.resize(workers);
  std::mutex guard;
  std::vector<SparseVector<double>> sums;
  on_processes(processes, [&](World& world) {
    const Cluster cluster(world, static_cast<int>(workers));
    const auto brought = contributions_of(messages, rows);
    const auto mine = std::span(brought).subspan(static_cast<std::size_t>(cluster.first()),
                                                 static_cast<std::size_t>(cluster.count()));
    const auto exchange = rule->exchange<double>();
    ExchangeResult<double> exchanged;
    for (int time = 0; time < times; ++time) {
      exchange->combine(
          cluster, {.dimension = rows.front().size(), .k = k, .of_workers = mine}, exchanged);
    }
    const std::lock_guard lock(guard);
    sums.push_back(exchanged.sum);
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      if (!exchanged.applied_whole) {
        const auto at = static_cast<std::size_t>(worker);
        all.applied[at] = exchanged.applied[cluster.slot(worker)];
        all.dropped_in_merges[at] = exchanged.dropped_in_merges[cluster.slot(worker)];
      }
    }
    all.bytes += exchanged.traffic.bytes;
    all.rounds = exchanged.traffic.rounds;
  });
  all.sum = sums.front();
  for (const auto& sum : sums) {
    EXPECT_EQ(sum, all.sum) << "two processes disagree";
  }
  return all;
}

/// The virtual seconds of one exchange on this network, where gradients take no time.
inline double virtual_seconds(int processes,
                              const Json& aggregator_values,
                              const std::vector<Message<double>>& messages,
                              const Rows<double>& rows,
                              std::size_t k,
                              const NetworkModel& network) {
  const int workers = static_cast<int>(rows.size());
  double seconds = 0;
  on_processes(processes, [&](World& world) {
    const Cluster cluster(world, workers);
    const auto brought = contributions_of(messages, rows);
    const auto mine = std::span(brought).subspan(static_cast<std::size_t>(cluster.first()),
                                                 static_cast<std::size_t>(cluster.count()));
    const auto rule = aggregator(aggregator_values);
    Transfers transfers;
    ExchangeResult<double> exchanged;
    exchanged.transfers = &transfers;
    rule->exchange<double>()->combine(
        cluster, {.dimension = rows.front().size(), .k = k, .of_workers = mine}, exchanged);
    world.add_up(transfers.amounts());
    if (world.is_root()) {
      NetworkClocks clocks(network, {.compute = TimeLaw::constant(0)}, workers);
      clocks.exchange(transfers, /*with_work=*/true);
      seconds = clocks.now();
    }
  });
  return seconds;
}

/// Rows of whole numbers from -6 to 6, which add up exactly.
inline Rows<double> whole_rows(std::size_t workers, std::size_t d, std::uint32_t number) {
  Rows<double> rows(workers, std::vector<double>(d));
  RandomStream random(37, Purpose::test, static_cast<std::uint32_t>(workers), number);
  for (auto& row : rows) {
    for (double& value : row) {
      value = static_cast<double>(random.below(13)) - 6;
    }
  }
  return rows;
}

/// Rows of normal numbers, whose sums depend on their order in the last bits.
inline Rows<double> normal_rows(std::size_t workers, std::size_t d, std::uint64_t seed) {
  Rows<double> rows;
  for (std::size_t p = 0; p < workers; ++p) {
    rows.push_back(normal_vector(d, 1000 * seed + p));
  }
  return rows;
}

}  // namespace residuum::test
