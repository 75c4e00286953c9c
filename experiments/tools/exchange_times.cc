// Prints how long one exchange of each aggregator takes on the processes that it is started on, one
// worker to a process, as CSV, and apart from it processor times: that of the selection of the
// message before the exchange, and that of the exchange, with merges, sums and packing. It knows
// MPI alone, and therefore also runs on a network that SimGrid simulates; clocks are then virtual.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <time.h>  // NOLINT(modernize-deprecated-headers): SimGrid replaces the function in the global namespace
#include <utility>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/mpi_world.h"
#include "core/random/random.h"
#include "core/text.h"
#include "core/vectors/select.h"

namespace residuum {
namespace {

struct Size {
  std::size_t dimension = 0;
  std::size_t k = 0;
  std::size_t repetitions = 5;
  std::vector<std::string_view> names = {};  // of the aggregators; empty for all
};

std::size_t whole_number(std::string_view word, const char* name) {
  const std::size_t value = parsed<std::size_t>(word).value_or(0);
  require(value > 0, "{} must be a whole number from 1 on, got '{}'", name, word);
  return value;
}

/// An aggregator with its options, under the name by which it is asked for.
struct Candidate {
  std::string name;
  nlohmann::json options;
};

std::vector<Candidate> candidates() {
  std::vector<Candidate> list;
  const auto add = [&list](std::string name, nlohmann::json options) {
    list.push_back({.name = std::move(name), .options = std::move(options)});
  };
  for (const auto& entry : aggregators()) {
    add(std::string(entry.name), {{"kind", entry.name}});
  }
  for (const char* algorithm : {"ring", "recursive-doubling"}) {
    add(fmt::format("dense-{}", algorithm), {{"kind", "dense"}, {"algorithm", algorithm}});
  }
  add("dense-mpi", {{"kind", "dense"}, {"reduction", "fast"}});  // MPI_Allreduce
  return list;
}

Size size_from(const std::vector<std::string_view>& words) {
  require(words.size() >= 2,
          "residuum_exchange_times takes DIMENSION K [REPETITIONS [AGGREGATOR...]]");
  Size size{.dimension = whole_number(words[0], "DIMENSION"), .k = whole_number(words[1], "K")};
  require(size.k <= size.dimension, "K is {}, but DIMENSION is {}", size.k, size.dimension);
  if (words.size() > 2) {
    size.repetitions = whole_number(words[2], "REPETITIONS");
    size.names.assign(words.begin() + 3, words.end());
  }
  const auto known = candidates();
  for (const std::string_view name : size.names) {
    require(std::any_of(known.begin(),
                        known.end(),
                        [name](const Candidate& candidate) { return candidate.name == name; }),
            "there is no aggregator '{}'; without names, all are timed",
            name);
  }
  return size;
}

double time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  constexpr double kNanosecond = 1e-9;
  return static_cast<double>(time.tv_sec) + kNanosecond * static_cast<double>(time.tv_nsec);
}

double now() { return time_of(CLOCK_MONOTONIC); }

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
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
    std::vector<double> times;
    for (std::size_t i = 0; i <= size.repetitions; ++i) {  // the first makes the buffers
      const double start = time_of(CLOCK_THREAD_CPUTIME_ID);
      select_top_k<float>(accumulator_, size.k, workspace, message_.entries);
      times.push_back(time_of(CLOCK_THREAD_CPUTIME_ID) - start);
    }
    times.erase(times.begin());
    select_seconds_ = median(times);
    divide(size.dimension);
  }

  const Contribution<float>& contribution() const { return contribution_; }
  /// One matrix as near to a square as can be, and the rest.
  std::span<const MatrixPlace> layers() const { return layers_; }
  double select_seconds() const { return select_seconds_; }

 private:
  void divide(std::size_t dimension) {
    const auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(dimension)));
    const std::size_t columns = dimension / rows;
    layers_.push_back({.begin = 0, .rows = rows, .columns = columns});
    if (rows * columns < dimension) {
      layers_.push_back({.begin = rows * columns, .rows = dimension - rows * columns});
    }
  }

  std::vector<float> accumulator_;
  Message<float> message_;
  Contribution<float> contribution_{.message = &message_, .accumulator = accumulator_};
  std::vector<MatrixPlace> layers_;
  double select_seconds_ = 0;
};

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

/// The times of an exchange.
struct Times {
  double seconds = 0;      // until the last process has the result
  double cpu_seconds = 0;  // of the process that computes most
};

/// Times exchanges and returns medians. The first exchange makes the buffers and does not count.
Times times_of(World& world,
               const Size& size,
               const Aggregator& aggregator,
               const Worker& worker,
               ExchangeResult<float>& exchanged) {
  const Cluster cluster(world, world.size());
  const std::vector<Contribution<float>> contributions{worker.contribution()};
  const auto exchange = aggregator.exchange<float>();
  std::vector<double> times;
  std::vector<double> cpu_times;
  for (std::size_t i = 0; i <= size.repetitions; ++i) {
    const double start = begin_together(world);
    const double cpu_start = time_of(CLOCK_THREAD_CPUTIME_ID);
    exchange->combine(cluster,
                      {.dimension = size.dimension,
                       .k = size.k,
                       .of_workers = contributions,
                       .layers = worker.layers(),
                       .seed = 1},
                      exchanged);
    const double cpu_seconds = time_of(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
    times.push_back(latest(world, now()) - start);
    cpu_times.push_back(latest(world, cpu_seconds));
  }
  times.erase(times.begin());
  cpu_times.erase(cpu_times.begin());
  return {.seconds = median(times), .cpu_seconds = median(cpu_times)};
}

bool is_wanted(const Size& size, const std::string& name) {
  return size.names.empty() ||
         std::find(size.names.begin(), size.names.end(), name) != size.names.end();
}

void print_times(World& world, const Size& size) {
  const Worker worker(world.rank(), size);
  const double select_seconds = latest(world, worker.select_seconds());
  if (world.is_root()) {
    fmt::print(
        "aggregator,workers,dimension,k,seconds,sent_bytes,rounds,select_seconds,cpu_seconds\n");
  }
  for (const auto& [name, options] : candidates()) {
    if (!is_wanted(size, name)) {
      continue;
    }
    const auto aggregator = make_aggregator(Section("aggregator", options));
    ExchangeResult<float> exchanged;
    const Times times = times_of(world, size, *aggregator, worker, exchanged);
    std::array bytes{static_cast<double>(exchanged.traffic.bytes)};
    world.add_up(std::span<double>(bytes));
    if (!world.is_root()) {
      continue;
    }
    const auto law = aggregator->law();
    const bool selects = !law.carries_vectors && !law.approximates_sum;
    fmt::print("{},{},{},{},{:.9f},{:.0f},{},{},{:.9f}\n",
               name,
               world.size(),
               size.dimension,
               size.k,
               times.seconds,
               bytes.front(),
               exchanged.traffic.rounds,
               selects ? fmt::format("{:.9f}", select_seconds) : "",
               times.cpu_seconds);
    std::fflush(stdout);
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
