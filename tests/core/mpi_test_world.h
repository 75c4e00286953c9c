#pragma once
// The one World over MPI that all tests of a process share.

#include "core/cluster/world.h"

namespace residuum::test {

World& mpi_test_world();

}  // namespace residuum::test
