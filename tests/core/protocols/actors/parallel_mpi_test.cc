// The protocols over real processes: short random runs that must all end with their guarantees.

#include <gtest/gtest.h>

#include <cstring>

#include "core/cluster/mpi_world.h"
#include "core/protocols/actors/parallel.h"
#include "tests/core/mpi_test_world.h"
#include "tests/core/protocols/actors/place_actors.h"
#include "tests/core/protocols/actors/tiny_site.h"

namespace residuum {
namespace {

using test::expect_counted_once;
using test::mpi_test_world;
using test::random_pauses;
using test::RandomRun;
using test::TinySite;

/// Returns the gradients of all processes.
std::vector<GradientId> gathered(World& world, const std::vector<GradientId>& mine) {
  Gathered all;
  world.all_gather(std::as_bytes(std::span(mine)), all);
  std::vector<GradientId> gradients(all.bytes.size() / sizeof(GradientId));
  if (!gradients.empty()) {
    std::memcpy(gradients.data(), all.bytes.data(), all.bytes.size());
  }
  return gradients;
}

void expect_guarantees(World& world, const TinySite& site, std::uint64_t largest_staleness) {
  const auto computed = gathered(world, site.computed);
  const auto discarded = gathered(world, site.discarded);
  if (world.is_root()) {
    expect_counted_once(site.versions, computed, discarded, largest_staleness);
  }
}

TEST(ParallelOverMpi, KeepsTheGuaranteesOf200RandomRuns) {
  World& world = mpi_test_world();
  const auto queue = make_mpi_message_queue(world);
  std::uint64_t versions = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const RandomRun run(seed, world.size());
    SCOPED_TRACE(run.name());
    Cast cast = run.cast();
    const Roster roster = cast.roster;
    TinySite site(roster, random_pauses(seed));

    Parallel parallel(
        std::move(cast), test::place_actors(roster, world.size()), *queue, site.site());
    EXPECT_TRUE(parallel.advance_to(run.versions()));
    parallel.finish();

    EXPECT_EQ(parallel.made(), run.versions());
    versions += site.versions.size();
    expect_guarantees(world, site, run.largest_staleness());
  }
  queue->close();
  if (world.is_root()) {
    EXPECT_GT(versions, 200U);
  }
}

TEST(ParallelOverMpi, StopsOnRequestOfAnyProcess) {
  World& world = mpi_test_world();
  for (int asking = 0; asking < world.size(); ++asking) {
    const auto queue = make_mpi_message_queue(world);
    RandomRun run(static_cast<std::uint32_t>(asking), world.size());
    (run.inhad ? run.inhad->versions : run.server->versions) = 1'000'000;
    SCOPED_TRACE(run.name());
    Cast cast = run.cast();
    const Roster roster = cast.roster;
    TinySite site(roster, random_pauses(1));
    std::atomic<bool> stop = false;
    Parallel parallel(
        std::move(cast), test::place_actors(roster, world.size()), *queue, site.site(), [&] {
          return stop.load();
        });

    EXPECT_TRUE(parallel.advance_to(3));
    EXPECT_EQ(world.minimum(3), 3) << "the World may be used here";
    stop = world.rank() == asking;
    EXPECT_FALSE(parallel.advance_to(1'000'000));
    parallel.finish();

    EXPECT_GE(parallel.made(), 3U);
    EXPECT_EQ(world.minimum(static_cast<std::int64_t>(parallel.made())),
              static_cast<std::int64_t>(parallel.made()));
    expect_guarantees(world, site, run.largest_staleness());
    queue->close();
  }
}

TEST(ParallelOverMpi, ThrowsTheErrorOfOneProcessOnAllAndTheWorldGoesOn) {
  World& world = mpi_test_world();
  for (int failing = 1; failing < world.size(); ++failing) {
    const auto queue = make_mpi_message_queue(world);
    const Roster roster{.workers = static_cast<std::uint32_t>(world.size())};
    const Placement placement = test::place_actors(roster, world.size());
    TinySite site(roster, [&](const GradientId& gradient) {
      if (gradient.iteration == 5 && world.rank() == failing) {
        resource_error("no memory on rank {}", failing);
      }
    });
    std::string message;
    {
      Parallel parallel(make_parameter_server({.workers = world.size(), .versions = 1'000'000}),
                        placement,
                        *queue,
                        site.site());
      try {
        parallel.advance_to(1'000'000);
      } catch (const SharedError& error) {
        message = error.what();
      }
    }
    queue->close();
    EXPECT_EQ(message, fmt::format("no memory on rank {}", failing));
    EXPECT_EQ(world.minimum(world.rank()), 0) << "the processes are out of step";
  }
}

}  // namespace
}  // namespace residuum
