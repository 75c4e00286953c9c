// main of the tests that mpirun starts: MPI is initialised once, every process goes through the
// same tests in the same order, only rank 0 prints what passes, and one failing rank fails the job.

#include <gtest/gtest.h>

#include <cassert>
#include <iostream>
#include <memory>

#include "core/cluster/mpi_world.h"
#include "tests/core/mpi_test_world.h"

namespace residuum::test {
namespace {

std::unique_ptr<World>& slot() {
  static std::unique_ptr<World> world;
  return world;
}

/// A printer of the failures on the ranks beyond 0, and of nothing else.
class FailurePrinter final : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      std::cerr << "[rank " << mpi_test_world().rank() << "] " << result.file_name() << ":"
                << result.line_number() << ": " << result.message() << "\n";
    }
  }
};

}  // namespace

World& mpi_test_world() {
  assert(slot() != nullptr);
  return *slot();
}

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // An exception on one rank would leave the others waiting: it ends the job.
  GTEST_FLAG_SET(catch_exceptions, false);
  slot() = make_mpi_world(/*piece=*/100'000);  // so that some messages are of several
  World& world = *slot();
  if (!world.is_root()) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(std::make_unique<FailurePrinter>().release());
  }
  const bool passed = RUN_ALL_TESTS() == 0;
  const bool all_passed = world.minimum(passed ? 1 : 0) == 1;
  if (world.is_root() && passed && !all_passed) {
    std::cerr << "a test failed on another rank\n";
  }
  slot().reset();
  return all_passed ? 0 : 1;
}

}  // namespace residuum::test

int main(int argc, char** argv) { return residuum::test::run(argc, argv); }
