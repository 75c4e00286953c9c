// Workers on processes: every (P, R) that can be, and the exchanges on ranks that are threads.

#include "core/cluster/cluster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "tests/core/support.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

TEST(CeilLog2, CountsTheDoublingsUpToN) {
  EXPECT_EQ(ceil_log2(1), 0);
  for (int n = 2; n <= 300; ++n) {
    const int rounds = ceil_log2(n);
    EXPECT_GE(1 << rounds, n);
    EXPECT_LT(1 << (rounds - 1), n);
  }
}

TEST(Cluster, GivesEveryWorkerOneHostInContiguousEvenBlocks) {
  for (int workers = 1; workers <= 40; ++workers) {
    for (int processes = 1; processes <= workers; ++processes) {
      int next = 0;
      for (int rank = 0; rank < processes; ++rank) {
        test::NumberedWorld world(rank, processes);
        const Cluster cluster(world, workers);
        ASSERT_EQ(cluster.first(), next);
        ASSERT_GE(cluster.count(), workers / processes);
        ASSERT_LE(cluster.count(), workers / processes + 1);
        for (int worker = 0; worker < workers; ++worker) {
          const bool here = worker >= next && worker < next + cluster.count();
          ASSERT_EQ(cluster.here(worker), here);
          ASSERT_EQ(cluster.host(worker) == rank, here)
              << "worker " << worker << " of " << workers << " on " << processes;
        }
        ASSERT_EQ(cluster.slot(cluster.first()), 0U);
        next += cluster.count();
      }
      ASSERT_EQ(next, workers);
    }
  }
}

TEST(Cluster, RefusesMoreProcessesThanWorkersAndFewerWorkersThanOne) {
  test::NumberedWorld three(0, 3);
  EXPECT_EQ(test::error_of([&] { Cluster(three, 2); }),
            "3 processes for 2 workers: start at most as many processes as 'workers.count', or "
            "divide them into more --groups");
  test::NumberedWorld one(0, 1);
  EXPECT_EQ(test::error_of([&] { Cluster(one, 0); }), "'workers.count' must be at least 1, got 0");
}

/// A vector that is like no other worker's; that of worker 2 is empty.
SparseVector<float> message_of(int worker) {
  if (worker == 2) {
    return {};
  }
  const auto index = static_cast<std::uint32_t>(worker);
  return {.indices = {index, index + 10}, .values = {1.5F * static_cast<float>(worker + 1), -1}};
}

/// `body(cluster)` for P = 1..6 workers on every number of processes.
void on_every_cluster(const std::function<void(const Cluster&)>& body) {
  for (int workers = 1; workers <= 6; ++workers) {
    for (int processes = 1; processes <= workers; ++processes) {
      test::on_processes(processes, [&](World& world) { body(Cluster(world, workers)); });
    }
  }
}

TEST(Cluster, DeliversAlongEveryEdge) {
  on_every_cluster([](const Cluster& cluster) {
    ReceiveBuffers<float> buffers;
    for (int from = 0; from < cluster.workers(); ++from) {
      for (int to = 0; to < cluster.workers(); ++to) {
        const auto message = message_of(from);
        cluster.post_receive(from, to, 2, buffers);
        const auto* arrived =
            cluster.send_along<float>(from, to, cluster.here(from) ? &message : nullptr, buffers);
        ASSERT_EQ(arrived != nullptr, cluster.here(to));
        if (arrived != nullptr) {
          ASSERT_EQ(*arrived, message);
        }
      }
    }
  });
}

TEST(Cluster, DeliversInOrderWhatWasExpectedInAdvance) {
  on_every_cluster([](const Cluster& cluster) {
    ReceiveBuffers<float> buffers;
    const int last = cluster.workers() - 1;
    for (int round = 0; round < 3; ++round) {
      for (int from = 0; from < last; ++from) {
        cluster.post_receive(from, last, 2, buffers);
      }
      for (int from = 0; from < last; ++from) {
        const auto message = message_of(from + round);
        const auto* arrived =
            cluster.send_along<float>(from, last, cluster.here(from) ? &message : nullptr, buffers);
        if (cluster.here(last)) {
          ASSERT_EQ(*arrived, message);
        }
      }
    }
  });
}

TEST(Cluster, BroadcastsFromEveryWorker) {
  on_every_cluster([](const Cluster& cluster) {
    ReceiveBuffers<float> buffers;
    for (int from = 0; from < cluster.workers(); ++from) {
      SparseVector<float> vector{.indices = {77}, .values = {7}};
      if (cluster.here(from)) {
        vector = message_of(from);
      }
      cluster.broadcast(from, 2, vector, buffers);
      ASSERT_EQ(vector, message_of(from));
    }
  });
}

// A child says that a message of more than 64 KiB has arrived.
TEST(Cluster, BroadcastsLongListsFromEveryWorker) {
  constexpr std::size_t kEntries = 10000;
  on_every_cluster([](const Cluster& cluster) {
    ReceiveBuffers<float> buffers;
    for (int from = 0; from < cluster.workers(); ++from) {
      SparseVector<float> sent;
      for (std::uint32_t i = 0; i < kEntries; ++i) {
        sent.push_back(i, static_cast<float>(i) + 0.5F * static_cast<float>(from));
      }
      SparseVector<float> vector;
      if (cluster.here(from)) {
        vector = sent;
      }
      cluster.broadcast(from, kEntries, vector, buffers);
      ASSERT_EQ(vector, sent);
    }
  });
}

TEST(Cluster, GathersTheVectorsOfAllWorkersInTheirOrder) {
  on_every_cluster([](const Cluster& cluster) {
    std::vector<SparseVector<float>> mine;
    std::vector<double> numbers;
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      mine.push_back(message_of(worker));
      numbers.push_back(worker);
      numbers.push_back(-worker);
    }
    std::vector<const SparseVector<float>*> where;
    for (const auto& vector : mine) {
      where.push_back(&vector);
    }
    ReceiveBuffers<float> buffers;
    const auto all = cluster.all_gather<float>(where, buffers);
    const auto all_numbers = cluster.all_gather(numbers);

    ASSERT_EQ(all.size(), static_cast<std::size_t>(cluster.workers()));
    ASSERT_EQ(all_numbers.size(), 2 * all.size());
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      const auto w = static_cast<std::size_t>(worker);
      ASSERT_EQ(*all[w], message_of(worker));
      ASSERT_EQ(all_numbers[2 * w], worker);
      ASSERT_EQ(all_numbers[2 * w + 1], -worker);
    }
  });
}

/// Numbers whose float sum depends on the order: large ones that swallow, then cancel.
std::vector<float> summand(int worker) {
  const auto w = static_cast<float>(worker);
  return {worker % 2 == 0 ? 1e8F : -1e8F, 0.1F + w, 1 / (1 + w)};
}

TEST(Cluster, SumsInWorkerOrderToTheSameBitsOnEveryNumberOfProcesses) {
  on_every_cluster([](const Cluster& cluster) {
    std::vector<float> expected(3);
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      for (std::size_t j = 0; j < 3; ++j) {
        expected[j] += summand(worker)[j];
      }
    }
    for (const bool everywhere : {true, false}) {
      std::vector<float> sum(3, 99.0F);
      const auto add = [](int worker, std::size_t begin, std::span<float> block) {
        for (std::size_t j = 0; j < block.size(); ++j) {
          block[j] += summand(worker)[begin + j];
        }
      };
      cluster.sum_in_worker_order(std::span(sum), everywhere, add);
      if (everywhere || cluster.world().is_root()) {
        ASSERT_EQ(sum, expected);
      }
    }
  });
}

TEST(Cluster, SumsVectorsOfManyBlocksWithAShortLastOne) {
  constexpr std::size_t kSize = 150'001;  // 262 144 bytes are a block
  const auto number = [](int worker, std::size_t j) {
    return 1 / static_cast<double>(static_cast<std::size_t>(worker) + 3 * j + 1);
  };
  for (const int processes : {1, 2, 5}) {
    test::on_processes(processes, [&](World& world) {
      const Cluster cluster(world, 5);
      for (const bool everywhere : {true, false}) {
        std::vector<double> sum(kSize, 99);
        cluster.sum_in_worker_order(std::span(sum),
                                    everywhere,
                                    [&](int worker, std::size_t begin, std::span<double> block) {
                                      for (std::size_t j = 0; j < block.size(); ++j) {
                                        block[j] += number(worker, begin + j);
                                      }
                                    });
        for (std::size_t j = 0; j < kSize && (everywhere || world.is_root()); ++j) {
          double expected = 0;
          for (int worker = 0; worker < 5; ++worker) {
            expected += number(worker, j);
          }
          ASSERT_EQ(sum[j], expected) << "at " << j << " on " << processes << " processes";
        }
      }
    });
  }
}

TEST(Cluster, SumsInAnyOrderOnEveryProcess) {
  on_every_cluster([](const Cluster& cluster) {
    // Whole numbers: their sum does not depend on the order.
    std::vector<float> sum(70'000, 99.0F);
    cluster.sum_in_any_order(
        std::span(sum), [](int worker, std::size_t begin, std::span<float> block) {
          for (std::size_t j = 0; j < block.size(); ++j) {
            block[j] += static_cast<float>(worker) + static_cast<float>((begin + j) % 10);
          }
        });
    const int workers = cluster.workers();
    for (std::size_t j = 0; j < sum.size(); ++j) {
      const int expected = workers * (workers - 1) / 2 + workers * static_cast<int>(j % 10);
      ASSERT_EQ(sum[j], static_cast<float>(expected));
    }
  });
}

TEST(Cluster, SumsEmptyVectors) {
  on_every_cluster([](const Cluster& cluster) {
    std::vector<double> sum;
    const auto add = [](int /*worker*/, std::size_t /*begin*/, std::span<double> block) {
      FAIL() << "a block of " << block.size() << " numbers of none";
    };
    cluster.sum_in_worker_order(std::span(sum), true, add);
    cluster.sum_in_worker_order(std::span(sum), false, add);
    cluster.sum_in_any_order(std::span(sum), add);
  });
}

TEST(Together, ThrowsTheErrorOfTheLowestRankThatFailedOnEveryRank) {
  test::on_processes(4, [](World& world) {
    const auto action = [&] {
      if (world.rank() == 1) {
        resource_error("no room on rank 1");
      }
      if (world.rank() == 3) {
        usage_error("a slip on rank 3");
      }
    };
    try {
      together(world, action);
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "no room on rank 1");
      EXPECT_EQ(error.code(), ExitCode::resource);
    }
  });
}

TEST(Together, ReturnsWhereNobodyFails) {
  test::on_processes(3, [](World& world) {
    int done = 0;
    together(world, [&] { ++done; });
    EXPECT_EQ(done, 1);
  });
}

TEST(Together, PassesAnErrorOnInASingleProcess) {
  const auto world = make_single_process();

  EXPECT_EQ(test::error_of([&] { together(*world, [] { usage_error("alone"); }); }), "alone");
}

}  // namespace
}  // namespace residuum
