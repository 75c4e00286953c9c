// Prints how long one exchange of each aggregator takes on the processes that it is started on, one
// worker to a process, as CSV. It knows MPI alone, and therefore also runs on a network that
// SimGrid simulates; clocks are then virtual ones.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <time.h>  // NOLINT(modernize-deprecated-headers): SimGrid replaces the function in the global namespace
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/mpi_world.h"
#include "core/random/random.h"
#include "core/vectors/select.h"

namespace residuum {
namespace {

struct Size {
  std::size_t dimension = 0;
  std::size_t k = 0;
  std::size_t repetitions = 5;
};

std::size_t whole_number(std::string_view word, const char* name) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  require(error == std::errc() && end == word.data() + word.size() && value > 0,
          "{} must be a whole number from 1 on, got '{}'",
          name,
          word);
  return value;
}

Size size_from(const std::vector<std::string_view>& words) {
  require(words.size() == 2 || words.size() == 3,
          "residuum_exchange_times takes DIMENSION K [REPETITIONS]");
  Size size{.dimension = whole_number(words[0], "DIMENSION"), .k = whole_number(words[1], "K")};
  if (words.size() == 3) {
    size.repetitions = whole_number(words[2], "REPETITIONS");
  }
  require(size.k <= size.dimension, "K is {}, but there are {}", size.k, size.dimension);
  return size;
}

/// The worker of this process, and what it sends.
class Worker {
 public:
  Worker(int number, const Size& size) : accumulator_(size.dimension) {
    RandomStream random(1, Purpose::test, static_cast<std::uint32_t>(number), 0);
    for (float& value : accumulator_) {
      value = static_cast<float>(random.normal());
    }
    SelectWorkspace workspace;
    select_top_k<float>(accumulator_, size.k, workspace, message_.entries);
  }

  Contribution<float> contribution() const {
    return {.message = &message_, .accumulator = accumulator_};
  }

 private:
  std::vector<float> accumulator_;
  Message<float> message_;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  constexpr double kNanosecond = 1e-9;
  return static_cast<double>(time.tv_sec) + kNanosecond * static_cast<double>(time.tv_nsec);
}

/// The latest time of all processes.
double latest(World& world, double seconds) {
  constexpr double kPerSecond = 1e9;
  return -static_cast<double>(world.minimum(-static_cast<std::int64_t>(seconds * kPerSecond))) /
         kPerSecond;
}

/// Lets all processes begin at one time, and returns it. A barrier would let some of them go first.
/// The time is as far ahead as all need to agree on it.
double begin_together(World& world) {
  constexpr double kAtLeast = 1e-3;
  constexpr double kPerSecond = 1e9;
  const double before = now();
  latest(world, before);
  const double agreeing = latest(world, now() - before);
  const double start = latest(world, now()) + 2 * agreeing + kAtLeast;
  const double left = std::max(0.0, start - now());
  const timespec pause{.tv_sec = 0, .tv_nsec = static_cast<long>(left * kPerSecond)};
  nanosleep(&pause, nullptr);
  return start;
}

/// The median over the repetitions of the time until the last process has the result. The first
/// exchange makes the buffers and does not count.
double median_seconds(World& world,
                      const Size& size,
                      const Aggregator& aggregator,
                      const Worker& worker,
                      Delivery<float>& delivery) {
  const Cluster cluster(world, world.size());
  const std::vector<Contribution<float>> contributions{worker.contribution()};
  const auto exchange = aggregator.exchange<float>();
  std::vector<double> times;
  for (std::size_t i = 0; i <= size.repetitions; ++i) {
    const double start = begin_together(world);
    exchange->combine(
        cluster, {.dimension = size.dimension, .k = size.k, .of_workers = contributions}, delivery);
    times.push_back(latest(world, now()) - start);
  }
  times.erase(times.begin());
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print_times(World& world, const Size& size) {
  const Worker worker(world.rank(), size);
  if (world.is_root()) {
    fmt::print("aggregator,workers,dimension,k,seconds,uplink_bytes,rounds\n");
  }
  for (const auto& entry : aggregators()) {
    const auto aggregator =
        make_aggregator(Section("aggregator", nlohmann::json{{"kind", entry.name}}));
    if (aggregator->law().approximates_sum) {
      continue;  // it has no messages of k entries
    }
    Delivery<float> delivery;
    const double seconds = median_seconds(world, size, *aggregator, worker, delivery);
    std::array bytes{static_cast<double>(delivery.traffic.bytes)};
    world.add_up(std::span<double>(bytes));
    if (world.is_root()) {
      fmt::print("{},{},{},{},{:.9f},{:.0f},{}\n",
                 entry.name,
                 world.size(),
                 size.dimension,
                 size.k,
                 seconds,
                 bytes.front(),
                 delivery.traffic.rounds);
    }
  }
}

}  // namespace
}  // namespace residuum

int main(int argc, char** argv) {
  using residuum::ExitCode;
  try {
    const auto world = residuum::make_mpi_world();
    try {
      residuum::print_times(*world, residuum::size_from({argv + 1, argv + argc}));
    } catch (const residuum::Error& error) {
      if (world->is_root()) {
        fmt::print(stderr, "error: {}\n", error.what());
      }
      return static_cast<int>(error.code());
    }
    std::fflush(stdout);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
