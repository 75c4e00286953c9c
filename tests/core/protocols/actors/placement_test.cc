#include "core/protocols/actors/placement.h"

#include <gtest/gtest.h>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;

TEST(Placement, GivesTheServerAProcessAndTheOthersBlocksOfWorkers) {
  EXPECT_EQ(place_actors({.workers = 5}, 3).hosts, (std::vector<int>{1, 1, 1, 2, 2, 0}));
  EXPECT_EQ(place_actors({.workers = 2}, 3).hosts, (std::vector<int>{1, 2, 0}));
}

TEST(Placement, KeepsANodeTogether) {
  EXPECT_EQ(place_actors({.workers = 6, .nodes = 3}, 3).hosts,
            (std::vector<int>{1, 1, 1, 1, 2, 2, 1, 1, 2, 0}));
}

TEST(Placement, PutsAllOnASingleProcess) {
  EXPECT_EQ(place_actors({.workers = 4, .nodes = 2}, 1).hosts, std::vector<int>(7, 0));
}

TEST(Placement, RefusesProcessesThatWouldHaveNothingToDo) {
  EXPECT_EQ(error_of([] { place_actors({.workers = 3}, 5); }),
            "5 processes are too many for 3 workers: one process is the server, and each of the "
            "others needs a worker of its own; use mpirun -n 4 or less");
  EXPECT_EQ(error_of([] { place_actors({.workers = 8, .nodes = 2}, 4); }),
            "4 processes are too many for 2 nodes: one process is the server, and each of the "
            "others needs a node of its own; use mpirun -n 3 or less");
}

}  // namespace
}  // namespace residuum
