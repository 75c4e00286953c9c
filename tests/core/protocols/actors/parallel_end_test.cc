// How a run over processes that threads play ends: on request, by an error, by a loss.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>

#include "core/protocols/actors/actor_message.h"
#include "core/protocols/actors/parallel.h"
#include "tests/core/protocols/actors/place_actors.h"
#include "tests/core/protocols/actors/thread_sites.h"

namespace residuum {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::comes_true;
using test::PacketHub;
using test::random_pauses;
using test::RandomRun;
using test::Sites;
using test::start;
using test::TinySite;
using test::with_message_queues;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ParallelEnd, StopsOnRequestOfAnyProcess) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const int processes = 1 + static_cast<int>(seed % 4);
    RandomRun run(seed, processes);
    (run.inhad ? run.inhad->versions : run.server->versions) = 1'000'000;
    SCOPED_TRACE(run.name());
    const auto asking = static_cast<int>(seed / 4 % static_cast<std::uint32_t>(processes));
    std::atomic<std::uint64_t> made = 0;
    Sites sites(
        run.cast(), processes, random_pauses(seed), [&](std::uint64_t version) { made = version; });
    PacketHub hub(processes, microseconds(400), seed);
    std::vector<std::uint64_t> made_at_the_end(static_cast<std::size_t>(processes));

    const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
      std::atomic<bool> stop = false;
      std::jthread signal;
      if (queue.rank() == asking) {
        signal = std::jthread([&] {
          comes_true([&] { return made >= 5; });
          stop = true;
        });
      }
      Parallel parallel = start(run, queue, sites, &stop);
      EXPECT_FALSE(parallel.advance_to(run.versions()));
      parallel.finish();
      made_at_the_end[static_cast<std::size_t>(queue.rank())] = parallel.made();
    });

    ASSERT_THAT(errors, Each(IsEmpty()));
    EXPECT_GE(sites.versions().size(), 5U);
    EXPECT_THAT(made_at_the_end, Each(sites.versions().size()));
    sites.expect_guarantees(run.largest_staleness());
    ASSERT_FALSE(HasFailure());
  }
}

TEST(ParallelEnd, EndsEarlyWhereAllFinishBeforeTheLastVersion) {
  constexpr int kProcesses = 3;
  const RandomRun run(4, kProcesses);
  ASSERT_GT(run.versions(), 2U);
  Sites sites(run.cast(), kProcesses, random_pauses(4));
  PacketHub hub(kProcesses, microseconds(100), 4);

  const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
    Parallel parallel = start(run, queue, sites);
    EXPECT_TRUE(parallel.advance_to(2));
    parallel.finish();
    EXPECT_EQ(parallel.made(), 2U);
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
  sites.expect_guarantees(run.largest_staleness());
}

TEST(ParallelEnd, DiscardsNothingWhileAGradientIsComputed) {
  // One process hosts two nodes. When STOP discards the sum of one, the worker of the other is
  // still at work.
  RandomRun run(1, 2);
  run.server.reset();
  run.inhad = {.nodes = 2, .workers = 2, .quota = 1, .versions = 20};
  std::atomic<int> computing = 0;
  Sites sites(run.cast(), 2, [&](const GradientId& gradient) {
    ++computing;
    std::this_thread::sleep_for(microseconds(300 + 500 * gradient.worker));
    --computing;
  });
  PacketHub hub(2, microseconds(100), 1);

  const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
    Parallel parallel = start(run, queue, sites);
    parallel.advance_to(20);
    EXPECT_TRUE(sites.of(queue).discarded.empty());
    parallel.finish();
    EXPECT_EQ(computing, 0);
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
  sites.expect_guarantees(kUnlimited);
}

TEST(ParallelEnd, ThrowsTheErrorOfOneProcessOnAll) {
  constexpr int kProcesses = 4;
  for (const bool on_the_server : {false, true}) {
    RandomRun run(1, kProcesses);
    run.inhad.reset();
    run.server = {.workers = 6, .versions = 1'000'000};
    Sites sites(
        run.cast(),
        kProcesses,
        [&](const GradientId& gradient) {
          if (!on_the_server && gradient.worker == 3 && gradient.iteration == 4) {
            resource_error("no memory for a gradient");
          }
        },
        [&](std::uint64_t version) {
          if (on_the_server && version == 30) {
            resource_error("no memory for a model");
          }
        });
    PacketHub hub(kProcesses, microseconds(100), 1);
    std::atomic<int> shared = 0;

    const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
      Parallel parallel = start(run, queue, sites);
      try {
        parallel.advance_to(run.versions());
      } catch (const SharedError& error) {
        EXPECT_EQ(error.code(), ExitCode::resource);
        ++shared;
        queue.close();
        throw;
      }
    });

    EXPECT_EQ(shared, kProcesses);
    EXPECT_THAT(errors, Each(on_the_server ? "no memory for a model" : "no memory for a gradient"));
  }
}

TEST(ParallelEnd, RefusesFramesThatAreNotWhatTheSenderMaySend) {
  // Process 1 hosts all workers. It sends what no Parallel sends.
  const Cast cast = make_parameter_server({.workers = 2, .versions = 5});
  Bytes of_another;
  pack(0, of_another);
  pack({.to = cast.roster.server(), .message = {.from = cast.roster.server()}}, of_another);
  Bytes to_another;
  pack(0, to_another);
  pack({.to = 1, .message = {.from = 0}}, to_another);
  Bytes of_no_kind;
  pack(99, of_no_kind);
  for (const Bytes& bytes : {of_another, to_another, of_no_kind, Bytes(3)}) {
    PacketHub hub(2, microseconds(100), 1);
    const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
      if (queue.rank() == 1) {
        queue.send(0, bytes);
        return;
      }
      TinySite site(cast.roster, {});
      Parallel parallel(make_parameter_server({.workers = 2, .versions = 5}),
                        test::place_actors(cast.roster, 2),
                        queue,
                        site.site());
      parallel.advance_to(5);
    });
    EXPECT_THAT(errors[0], HasSubstr("a message between processes is damaged"));
  }
}

TEST(ParallelEnd, NamesALostProcessOnAllOthersInTime) {
  constexpr int kProcesses = 4;
  constexpr milliseconds kPatience{1000};
  for (const int silent : {0, 1, 3}) {
    for (const bool is_inhad : {false, true}) {
      RandomRun run(1, kProcesses);
      run.inhad.reset();
      run.server = {.workers = 5, .versions = 1'000'000};
      if (is_inhad) {
        run.inhad = {.nodes = 3, .workers = 6, .quota = 6, .staleness = 2, .versions = 1'000'000};
      }
      std::atomic<std::uint64_t> made = 0;
      Sites sites(
          run.cast(), kProcesses, random_pauses(1), [&](std::uint64_t version) { made = version; });
      PacketHub hub(kProcesses, microseconds(100), 1);
      std::atomic<bool> is_frozen = false;
      std::chrono::steady_clock::time_point frozen_at;
      std::jthread freezer([&] {
        comes_true([&] { return made >= 10; });
        frozen_at = std::chrono::steady_clock::now();
        hub.freeze(silent);
        is_frozen = true;
      });

      const auto errors =
          with_message_queues(hub, {.patience = kPatience}, [&](MessageQueue& queue) {
            Parallel parallel = start(run, queue, sites);
            try {
              parallel.advance_to(run.versions());
              ADD_FAILURE() << "no loss is reported on process " << queue.rank();
            } catch (const LostPeer& lost) {
              ASSERT_TRUE(is_frozen);
              if (queue.rank() != silent) {
                EXPECT_EQ(lost.rank(), silent);
                EXPECT_LT(std::chrono::steady_clock::now() - frozen_at, std::chrono::seconds(20));
              }
              throw;
            }
          });

      for (int rank = 0; rank < kProcesses; ++rank) {
        if (rank != silent) {
          EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                      HasSubstr("process " + std::to_string(silent) + " is lost"));
        }
      }
    }
  }
}

}  // namespace
}  // namespace residuum
