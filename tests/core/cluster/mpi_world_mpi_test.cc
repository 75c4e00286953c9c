// The World over MPI does what World promises. Every process goes through every test.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/mpi_world.h"
#include "tests/core/mpi_test_world.h"

namespace residuum {
namespace {

using test::mpi_test_world;

/// `size` bytes that are like no other rank's.
Bytes pattern(int rank, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 7 + static_cast<std::size_t>(rank) * 31) & 0xffU);
  }
  return bytes;
}

constexpr std::array kSizes{0U, 1U, 1000U, 300000U};  // the last beyond any eager limit

TEST(MpiWorld, KnowsItsRankAndSize) {
  const World& world = mpi_test_world();

  EXPECT_GE(world.rank(), 0);
  EXPECT_LT(world.rank(), world.size());
  EXPECT_EQ(world.is_root(), world.rank() == 0);
  EXPECT_NE(world.description().find(std::to_string(world.size()) + " processes"),
            std::string::npos);
  EXPECT_TRUE(started_by_launcher());
}

TEST(MpiWorld, SendsAroundTheRingInOrder) {
  World& world = mpi_test_world();
  const int next = (world.rank() + 1) % world.size();
  const int previous = (world.rank() + world.size() - 1) % world.size();
  for (const std::size_t size : kSizes) {
    // Rank 0 sends first, the others receive first: one global order.
    const auto send = [&] {
      world.send(next, pattern(world.rank(), size));
      world.send(next, pattern(world.rank() + 100, size / 2));
    };
    const auto receive = [&] {
      EXPECT_EQ(world.receive(previous), pattern(previous, size));
      EXPECT_EQ(world.receive(previous), pattern(previous + 100, size / 2));
    };
    if (world.is_root()) {
      send();
      receive();
    } else {
      receive();
      send();
    }
  }
}

TEST(MpiWorld, BroadcastsFromEveryRank) {
  World& world = mpi_test_world();
  for (int root = 0; root < world.size(); ++root) {
    for (const std::size_t size : kSizes) {
      Bytes bytes = world.rank() == root ? pattern(root, size) : pattern(99, 17);
      world.broadcast(root, bytes);
      EXPECT_EQ(bytes, pattern(root, size));
    }
  }
}

TEST(MpiWorld, GathersPartsOfDifferentLengths) {
  World& world = mpi_test_world();
  const auto size_of = [](int rank) { return static_cast<std::size_t>(rank % 3) * 5000; };

  const auto all = world.all_gather(pattern(world.rank(), size_of(world.rank())));

  ASSERT_EQ(all.size(), static_cast<std::size_t>(world.size()));
  for (int rank = 0; rank < world.size(); ++rank) {
    EXPECT_EQ(all[static_cast<std::size_t>(rank)], pattern(rank, size_of(rank)));
  }
}

TEST(MpiWorld, FindsTheMinimum) {
  World& world = mpi_test_world();

  EXPECT_EQ(world.minimum(world.rank() + 5), 5);
  EXPECT_EQ(world.minimum(-world.rank()), -(world.size() - 1));
  EXPECT_EQ(world.minimum(std::int64_t{1} << 40), std::int64_t{1} << 40);
}

TEST(Together, OverMpiThrowsTheErrorOfOneRankEverywhere) {
  World& world = mpi_test_world();
  const int last = world.size() - 1;
  try {
    together(world, [&] {
      if (world.rank() == last) {
        resource_error("disk full on rank {}", last);
      }
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "disk full on rank " + std::to_string(last));
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
  EXPECT_NO_THROW(together(world, [] {})) << "the processes are out of step";
}

TEST(Cluster, OverMpiRefusesFewerWorkersThanProcesses) {
  World& world = mpi_test_world();

  EXPECT_THROW(Cluster(world, world.size() - 1), Error);
}

}  // namespace
}  // namespace residuum
