// The message queue over MPI. Every process goes through every test.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <ctime>
#include <thread>

#include "core/cluster/mpi_world.h"
#include "tests/core/mpi_test_world.h"

namespace residuum {
namespace {

using test::mpi_test_world;

constexpr std::size_t kPiece = 100'000;
constexpr auto kWait = std::chrono::seconds(60);

/// Some sizes are one piece, some are several with a shorter one at the end, some are whole pieces.
constexpr std::array<std::size_t, 8> kLengths{
    0, 1, 1000, 99'999, 100'000, 100'001, 200'000, 300'017};

/// Returns `size` bytes that are like no other message's.
Bytes message_of(int from, std::size_t number, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] =
        static_cast<std::byte>((i * 7 + static_cast<std::size_t>(from) * 31 + number) & 0xffU);
  }
  return bytes;
}

TEST(MpiMessageQueue, KeepsTheOrderOfMessagesOfAnyLength) {
  const World& world = mpi_test_world();
  const auto queue = make_mpi_message_queue(world, {}, kPiece);
  ASSERT_EQ(queue->rank(), world.rank());
  ASSERT_EQ(queue->size(), world.size());
  constexpr std::size_t kRounds = 5;
  const std::size_t messages = kRounds * kLengths.size();
  for (std::size_t i = 0; i < messages; ++i) {
    for (int to = 0; to < world.size(); ++to) {
      queue->send(to, message_of(world.rank(), i, kLengths[i % kLengths.size()]));
    }
  }
  std::vector<std::size_t> arrived(static_cast<std::size_t>(world.size()));
  for (std::size_t i = 0; i < messages * arrived.size(); ++i) {
    const auto incoming = queue->next(kWait);
    ASSERT_TRUE(incoming.has_value());
    const std::size_t number = arrived[static_cast<std::size_t>(incoming->from)]++;
    ASSERT_EQ(incoming->bytes,
              message_of(incoming->from, number, kLengths[number % kLengths.size()]));
  }
  queue->close();
}

TEST(MpiMessageQueue, DoesNotTouchTheMessagesOfTheWorld) {
  World& world = mpi_test_world();
  const auto queue = make_mpi_message_queue(world, {}, kPiece);
  for (std::size_t round = 0; round < 50; ++round) {
    const int next = (world.rank() + 1) % world.size();
    queue->send(next, message_of(world.rank(), round, 1000 * round));
    EXPECT_EQ(world.minimum(world.rank() + static_cast<int>(round)), static_cast<int>(round));
    const Bytes sent = message_of(9, round, 1000);
    if (world.rank() == 1) {
      world.send(0, sent);
    } else if (world.is_root()) {
      Bytes room(sent.size());
      world.receive(1, room);
      EXPECT_EQ(room, sent);
    }
  }
  const int previous = (world.rank() + world.size() - 1) % world.size();
  for (std::size_t round = 0; round < 50; ++round) {
    const auto incoming = queue->next(kWait);
    ASSERT_TRUE(incoming.has_value());
    EXPECT_EQ(incoming->bytes, message_of(previous, round, 1000 * round));
  }
  queue->close();
  EXPECT_EQ(world.minimum(world.rank()), 0);
}

/// While the reader sleeps, messages pile up; no poll must look at all of them.
TEST(MpiMessageQueue, CarriesManyMessagesThatAreReadLate) {
  constexpr std::size_t kMessages = 100'000;
  const World& world = mpi_test_world();
  const auto queue = make_mpi_message_queue(world, {}, kPiece);
  if (world.rank() == 1) {
    for (std::size_t i = 0; i < kMessages; ++i) {
      queue->send(0, message_of(1, i, 40));
    }
  } else if (world.is_root()) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (std::size_t i = 0; i < kMessages; ++i) {
      const auto incoming = queue->next(kWait);
      ASSERT_TRUE(incoming.has_value());
      ASSERT_EQ(incoming->bytes, message_of(1, i, 40));
    }
  }
  queue->close();
}

TEST(MpiMessageQueue, IsTakenForAliveWhileItsOwnerComputes) {
  const World& world = mpi_test_world();
  const auto queue = make_mpi_message_queue(world, {.patience = std::chrono::seconds(3)}, kPiece);
  if (world.is_root()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(7000));
    for (int to = 1; to < world.size(); ++to) {
      queue->send(to, {});
    }
  } else {
    EXPECT_TRUE(queue->next(kWait).has_value());
  }
  queue->close();
}

TEST(MpiMessageQueue, ClosesWithMessagesThatNobodyHasRead) {
  const World& world = mpi_test_world();
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto queue = make_mpi_message_queue(world, {}, kPiece);
    for (int to = 0; to < world.size(); ++to) {
      queue->send(to, message_of(0, 0, 250'000));
    }
  }
}

TEST(MpiMessageQueue, LeavesTheCpuToOthersWhileThereIsNoMessage) {
  const World& world = mpi_test_world();
  const auto queue = make_mpi_message_queue(world);
  const auto cpu_before = std::clock();
  EXPECT_FALSE(queue->next(std::chrono::seconds(1)).has_value());
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
  EXPECT_LT(cpu_seconds, 0.3) << "of one second";
  queue->close();
}

}  // namespace
}  // namespace residuum
