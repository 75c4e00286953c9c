// The protocols over processes that threads play: their guarantees and their counts.

#include "core/protocols/actors/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <set>

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
using test::with_message_queues;
using ::testing::Each;
using ::testing::IsEmpty;

TEST(Parallel, KeepsTheGuaranteesOfRandomProtocols) {
  for (std::uint32_t seed = 1; seed <= 80; ++seed) {
    const int processes = 1 + static_cast<int>(seed % 5);
    const RandomRun run(seed, processes);
    SCOPED_TRACE(run.name());
    Sites sites(run.cast(), processes, random_pauses(seed));
    PacketHub hub(processes, microseconds(400), seed);

    const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
      Parallel parallel = start(run, queue, sites);
      EXPECT_TRUE(parallel.advance_to(run.versions()));
      EXPECT_EQ(parallel.made(), run.versions());
      parallel.finish();
      EXPECT_FALSE(queue.next(milliseconds(0)).has_value()) << "a message is left";
    });

    ASSERT_THAT(errors, Each(IsEmpty()));
    ASSERT_EQ(sites.versions().size(), run.versions());
    ASSERT_EQ(hub.packets_left(), 0U);
    sites.expect_guarantees(run.largest_staleness());
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Parallel, MeetsAtEveryVersionThatAllAskFor) {
  constexpr int kProcesses = 4;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const RandomRun run(seed, kProcesses);
    SCOPED_TRACE(run.name());
    Sites sites(run.cast(), kProcesses, random_pauses(seed));
    PacketHub hub(kProcesses, microseconds(200), seed);
    std::barrier meeting(kProcesses);

    const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
      Parallel parallel = start(run, queue, sites);
      for (std::uint64_t version = 1; version <= run.versions(); version += 3) {
        EXPECT_TRUE(parallel.advance_to(version));
        EXPECT_EQ(parallel.made(), version);
        meeting.arrive_and_wait();
        EXPECT_EQ(sites.versions().size(), version);  // nobody writes it now
        meeting.arrive_and_wait();
      }
      parallel.finish();
    });

    ASSERT_THAT(errors, Each(IsEmpty()));
    sites.expect_guarantees(run.largest_staleness());
  }
}

TEST(Parallel, RunsSeveralProtocolsOnOneMessageQueue) {
  constexpr int kProcesses = 3;
  constexpr std::uint32_t kRuns = 20;
  std::vector<std::unique_ptr<Sites>> sites;
  for (std::uint32_t seed = 0; seed < kRuns; ++seed) {
    sites.push_back(std::make_unique<Sites>(
        RandomRun(seed, kProcesses).cast(), kProcesses, random_pauses(seed)));
  }
  PacketHub hub(kProcesses, microseconds(200), 1);

  const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
    for (std::uint32_t seed = 0; seed < kRuns; ++seed) {
      const RandomRun run(seed, kProcesses);
      Parallel parallel = start(run, queue, *sites[seed]);
      EXPECT_TRUE(parallel.advance_to(run.versions()));
      parallel.finish();
    }
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
  for (std::uint32_t seed = 0; seed < kRuns; ++seed) {
    sites[seed]->expect_guarantees(RandomRun(seed, kProcesses).largest_staleness());
  }
}

/// InHAD with one worker on a process of its own; the server pulls after each gradient.
RandomRun run_of_one_worker(std::uint64_t versions) {
  RandomRun run(1, 2);
  run.server.reset();
  run.inhad = {.nodes = 1, .workers = 1, .quota = 1, .staleness = 5, .versions = versions};
  return run;
}

TEST(Parallel, ServesMessagesWhileAGradientIsComputed) {
  // Gradient 1 takes until version 1 is made, for which its process must answer a PULL.
  const RandomRun run = run_of_one_worker(3);
  std::atomic<std::uint64_t> made = 0;
  Sites sites(
      run.cast(),
      2,
      [&](const GradientId& gradient) {
        if (gradient.iteration == 1) {
          EXPECT_TRUE(comes_true([&] { return made >= 1; }));
        }
      },
      [&](std::uint64_t version) { made = version; });
  PacketHub hub(2, microseconds(100), 1);

  const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
    Parallel parallel = start(run, queue, sites);
    parallel.advance_to(3);
    parallel.finish();
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_EQ(sites.versions().size(), 3U);
}

TEST(Parallel, ComputesOnOneThreadInTheOrderOfTheReads) {
  RandomRun run(1, 2);
  run.inhad.reset();
  run.server = {.workers = 4, .versions = 100};
  std::vector<GradientId> order;  // only the compute thread of process 1 writes it
  std::set<std::thread::id> threads;
  Sites sites(run.cast(), 2, [&](const GradientId& gradient) {
    order.push_back(gradient);
    threads.insert(std::this_thread::get_id());
  });
  PacketHub hub(2, microseconds(100), 1);
  std::array<std::thread::id, 2> owners;
  std::vector<GradientId> computed;

  const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
    owners[static_cast<std::size_t>(queue.rank())] = std::this_thread::get_id();
    Parallel parallel = start(run, queue, sites);
    parallel.advance_to(100);
    parallel.finish();
    if (queue.rank() == 1) {
      computed = sites.of(queue).computed;
    }
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_EQ(order, computed);
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_FALSE(threads.contains(owners[0]));
  EXPECT_FALSE(threads.contains(owners[1]));
}

TEST(Parallel, CountsBytesWhereTheServerIs) {
  // Lockstep with N = 2, M = 4: as in the simulation, but for the payloads of 8 bytes.
  constexpr std::uint64_t kWithoutStarts = 4 * 24 + 2 * 16 + 2 * 48 + 2 * 16;
  RandomRun run(1, 3);
  run.server.reset();
  run.inhad = {.nodes = 2, .workers = 4, .quota = 4, .staleness = 0, .cap = 1, .versions = 3};
  Sites sites(run.cast(), 3, random_pauses(1));
  PacketHub hub(3, microseconds(100), 1);

  const auto errors = with_message_queues(hub, {}, [&](MessageQueue& queue) {
    Parallel parallel = start(run, queue, sites);
    for (const std::uint64_t version : {1, 2}) {
      parallel.advance_to(version);
      const SimulatedVersion notes = parallel.take_notes();
      if (queue.rank() == 0) {
        EXPECT_EQ(notes.version, version);
        EXPECT_EQ(notes.gradients, sites.versions().back());
        EXPECT_EQ(notes.control_bytes, kWithoutStarts + (version - 1) * 4 * 24);
        EXPECT_EQ(notes.bytes_up, 2 * 8U);
        EXPECT_EQ(notes.bytes_down, 2 * 8U);
        EXPECT_GT(notes.time, 0);
      } else {
        EXPECT_EQ(notes.control_bytes + notes.bytes_up + notes.bytes_down, 0U);
      }
    }
    parallel.finish();
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace residuum
