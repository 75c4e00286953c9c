// Processes whose messages are carried by two functions.

#include "core/cluster/callback_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "core/cluster/cluster.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

/// Runs the action on `processes` processes, each a thread, whose messages go through queues.
template <class Action>
void on_carried_processes(int size, const Action& action) {
  test::MessageQueues queues;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&queues, &action, rank, size] {
      const auto world = make_callback_world(
          {.rank = rank,
           .size = size,
           .send = [&, rank](int to,
                             std::span<const std::byte> bytes) { queues.put(rank, to, bytes); },
           .receive =
               [&, rank](int from, std::span<std::byte> bytes) {
                 const Bytes message = queues.take(from, rank);
                 ASSERT_EQ(message.size(), bytes.size());
                 std::copy(message.begin(), message.end(), bytes.begin());
               }});
      action(*world);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(queues.is_empty());
}

std::span<std::byte> bytes_of(int& value) { return std::as_writable_bytes(std::span(&value, 1)); }

TEST(CallbackWorld, BothSendBeforeTheyReceive) {
  on_carried_processes(2, [](World& world) {
    int mine = 10 + world.rank();
    int theirs = 0;
    world.post(1 - world.rank(), bytes_of(theirs));
    world.send(1 - world.rank(), bytes_of(mine));
    EXPECT_EQ(world.take(1 - world.rank()), sizeof(int));
    EXPECT_EQ(theirs, 11 - world.rank());
  });
}

// A root that sent a whole sum before it took anything back would leave all of it to the transport.
TEST(CallbackWorld, HasFewBlocksOfALongSumUnderWay) {
  constexpr std::size_t kNumbers = 60 * (std::size_t{1} << 15U);  // 60 blocks of float64
  test::MessageQueues queues;
  std::atomic<int> sent_first = 0;
  std::atomic<bool> root_receives = false;
  const auto process = [&](int rank) {
    const auto world =
        make_callback_world({.rank = rank,
                             .size = 2,
                             .send =
                                 [&, rank](int to, std::span<const std::byte> bytes) {
                                   sent_first += rank == 0 && !root_receives ? 1 : 0;
                                   queues.put(rank, to, bytes);
                                 },
                             .receive =
                                 [&, rank](int from, std::span<std::byte> bytes) {
                                   root_receives = root_receives || rank == 0;
                                   root_receives.notify_all();
                                   root_receives.wait(false);  // the other process is slow
                                   const Bytes message = queues.take(from, rank);
                                   std::copy(message.begin(), message.end(), bytes.begin());
                                 }});
    const Cluster cluster(*world, 2);
    std::vector<double> sum(kNumbers);
    cluster.sum_in_worker_order(
        std::span(sum), false, [](int worker, std::size_t begin, std::span<double> block) {
          for (std::size_t i = 0; i < block.size(); ++i) {
            block[i] += static_cast<double>(worker + 1) * static_cast<double>(begin + i);
          }
        });
    if (rank == 0) {
      for (std::size_t i = 0; i < kNumbers; ++i) {
        ASSERT_EQ(sum[i], 3.0 * static_cast<double>(i));
      }
    }
  };
  std::thread other(process, 1);
  process(0);
  other.join();
  EXPECT_LE(sent_first, 2 * 20) << "a block is two messages: its length and its bytes";
}

TEST(CallbackWorld, TakesRoomsInTheirOrderAndShortAndEmptyMessages) {
  on_carried_processes(2, [](World& world) {
    if (world.rank() == 0) {
      const std::array<std::byte, 3> bytes{std::byte{7}, std::byte{8}, std::byte{9}};
      world.send(1, bytes);
      world.send(1, {});
      return;
    }
    std::array<std::byte, 5> first{};
    std::array<std::byte, 5> second{std::byte{1}};
    world.post(0, first);
    world.post(0, second);
    EXPECT_EQ(world.take(0), 3U);
    EXPECT_EQ(first[2], std::byte{9});
    EXPECT_EQ(world.take(0), 0U);
    EXPECT_EQ(second[0], std::byte{1});
  });
}

TEST(CallbackWorld, GathersBroadcastsAndAddsInTheOrderOfTheProcesses) {
  on_carried_processes(3, [](World& world) {
    int value = world.rank();
    world.broadcast(2, bytes_of(value));
    EXPECT_EQ(value, 2);
    EXPECT_EQ(world.minimum(5 - world.rank()), 3);
    // (2^24 + 1) + 1 is 2^24 in float32, and 2^24 + (1 + 1) is not.
    std::array<float, 1> sum{world.rank() == 0 ? 16777216.0F : 1.0F};
    world.add_up(std::span<float>(sum));
    EXPECT_EQ(sum[0], 16777216.0F);
    Gathered all;
    const std::vector<std::byte> mine(static_cast<std::size_t>(world.rank()), std::byte{4});
    world.all_gather(mine, all);
    ASSERT_EQ(all.parts(), 3U);
    EXPECT_EQ(all.part(2).size(), 2U);
  });
}

TEST(CallbackWorld, AfterAFailureEveryCallFailsAtOnce) {
  int calls = 0;
  const auto world = make_callback_world(
      {.rank = 1,
       .size = 2,
       .send =
           [&](int /*to*/, std::span<const std::byte> /*bytes*/) {
             ++calls;
             resource_error("process 0 is lost");
           },
       .receive = [](int /*from*/,
                     std::span<std::byte> /*b*/) { FAIL() << "nothing is waited for"; }});
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      world->minimum(1);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "process 0 is lost");
    }
  }
  EXPECT_EQ(calls, 1);
}

TEST(CallbackWorld, AMessageThatDoesNotFitIsRefused) {
  std::uint64_t length = 99;
  const auto world =
      make_callback_world({.rank = 0,
                           .size = 2,
                           .send = [](int /*to*/, std::span<const std::byte> /*bytes*/) {},
                           .receive =
                               [&](int /*from*/, std::span<std::byte> bytes) {
                                 std::memcpy(bytes.data(), &length, bytes.size());
                               }});
  std::array<std::byte, 4> room{};
  world->post(1, room);
  EXPECT_THROW(world->take(1), Error);
}

}  // namespace
}  // namespace residuum
