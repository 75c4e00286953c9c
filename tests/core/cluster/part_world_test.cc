// Some of the processes of a world make a world of their own, while the others do nothing.

#include "core/cluster/part_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/cluster/cluster.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

/// Runs the action on processes 1, 2 and 4 of five, as processes 0, 1 and 2 of a part.
template <class Action>
void on_a_part(const Action& action) {
  const std::vector<int> ranks{1, 2, 4};
  test::on_processes(5, [&](World& world) {
    if (std::find(ranks.begin(), ranks.end(), world.rank()) != ranks.end()) {
      PartWorld part(world, ranks);
      action(part);
    }
  });
}

TEST(PartWorld, NumbersItsProcessesAnew) {
  on_a_part([](World& part) {
    EXPECT_EQ(part.size(), 3);
    int value = part.rank();
    part.broadcast(2, std::as_writable_bytes(std::span(&value, 1)));
    EXPECT_EQ(value, 2);
  });
}

TEST(PartWorld, GathersPartsOfDifferentLengthsInTheirOrder) {
  on_a_part([](World& part) {
    const std::vector<std::byte> mine(static_cast<std::size_t>(2 * part.rank()),
                                      static_cast<std::byte>(part.rank()));
    Gathered all;
    part.all_gather(mine, all);
    ASSERT_EQ(all.parts(), 3U);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      ASSERT_EQ(all.part(rank).size(), 2 * rank);
      for (const std::byte value : all.part(rank)) {
        EXPECT_EQ(value, static_cast<std::byte>(rank));
      }
    }
  });
}

TEST(PartWorld, FindsTheLeastAndTheSum) {
  on_a_part([](World& part) {
    EXPECT_EQ(part.minimum(7 - part.rank()), 5);
    std::array<double, 2> numbers{1.0 + part.rank(), 10};
    part.add_up(std::span<double>(numbers));
    EXPECT_EQ(numbers, (std::array<double, 2>{6, 30}));
    part.add_up(std::span<double>());
  });
}

TEST(PartWorld, HostsBlocksOfWorkersOfAnyLength) {
  on_a_part([](World& part) {
    const Cluster cluster = Cluster::with_blocks(part, {0, 1, 4, 6});
    EXPECT_EQ(cluster.workers(), 6);
    const std::array<int, 6> hosts{0, 1, 1, 1, 2, 2};
    for (int worker = 0; worker < 6; ++worker) {
      EXPECT_EQ(cluster.host(worker), hosts[static_cast<std::size_t>(worker)]);
      EXPECT_EQ(cluster.here(worker), cluster.host(worker) == part.rank());
    }
    EXPECT_EQ(cluster.count(),
              (std::array<int, 3>{1, 3, 2}[static_cast<std::size_t>(part.rank())]));
  });
}

}  // namespace
}  // namespace residuum
