// A run over MPI in which one process is killed or stopped while it works; the others say who is
// lost. The script `lost_process` beside it
// starts it.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "core/cluster/mpi_world.h"
#include "tests/core/protocols/actors/place_actors.h"
#include "tests/core/protocols/actors/tiny_site.h"

namespace {

using namespace residuum;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kNever = 1'000'000'000;

/// Works until a process is lost; process `victim` sends itself the signal after a while.
int work(World& world, int victim, int signal, std::chrono::milliseconds patience) {
  const auto queue = make_mpi_message_queue(world, {.patience = patience});
  const Roster roster{.workers = static_cast<std::uint32_t>(2 * world.size())};
  const auto is_time = [&](std::uint64_t steps) { return world.rank() == victim && steps == 20; };
  const auto pauses = test::random_pauses(1);
  std::atomic<Clock::time_point> last_step = Clock::now();
  test::TinySite site(
      roster,
      [&](const GradientId& gradient) {
        pauses(gradient);
        last_step = Clock::now();
        if (is_time(gradient.iteration)) {
          std::raise(signal);
        }
      },
      [&](std::uint64_t version) {
        last_step = Clock::now();
        if (is_time(version)) {
          std::raise(signal);
        }
      });
  // With s = 0 all wait for the lost process within a few steps.
  Parallel parallel(
      make_parameter_server(
          {.workers = static_cast<int>(roster.workers), .staleness = 0, .versions = kNever}),
      test::place_actors(roster, world.size()),
      *queue,
      site.site());
  try {
    parallel.advance_to(kNever);
  } catch (const LostPeer& lost) {
    const std::chrono::duration<double, std::milli> time = Clock::now() - last_step.load();
    std::cerr << fmt::format(
        "rank {}, {:.0f} ms after its last step: {}\n", world.rank(), time.count(), lost.what());
    // The other processes must be able to say it before the launcher ends them.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    world.abort(lost.code());
  }
  return 0;
}

}  // namespace

/// Arguments: the rank that is lost, the signal's number, the patience in milliseconds.
int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: lost_process RANK SIGNAL MILLISECONDS\n";
    return 2;
  }
  const auto world = make_mpi_world();
  return work(*world,
              std::stoi(argv[1]),
              std::stoi(argv[2]),
              std::chrono::milliseconds(std::stoi(argv[3])));
}
