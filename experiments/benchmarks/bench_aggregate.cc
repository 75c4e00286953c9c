// `residuum bench aggregate` times one exchange of four workers, each with its k = 25 000 largest
// of d = 25 000 000 Gaussian numbers, and the put-back that follows it. Under mpirun the workers
// are spread over the processes; every rank then does the same number of exchanges, and the slowest
// counts.

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/random/random.h"
#include "core/vectors/dense.h"
#include "core/vectors/select.h"
#include "experiments/benchmarks/bench.h"

namespace residuum {
namespace {

constexpr int kWorkers = 4;
constexpr std::size_t kDimension = 25'000'000;
constexpr std::size_t kKept = 25'000;

/// The workers of this process and what they send.
struct Workers {
  explicit Workers(World& world) : cluster(world, kWorkers) {
    SelectWorkspace workspace;
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      auto& memory = memories.emplace_back(large_vector<float>(kDimension));
      RandomStream random(1, Purpose::test, static_cast<std::uint32_t>(worker), 0);
      for (float& value : memory) {
        value = static_cast<float>(random.normal());
      }
      select_top_k<float>(memory, kKept, workspace, messages.emplace_back().entries);
    }
    for (std::size_t slot = 0; slot < messages.size(); ++slot) {
      contributions.push_back({.message = &messages[slot], .accumulator = memories[slot]});
    }
  }

  Cluster cluster;
  std::vector<std::vector<float>> memories;
  std::vector<Message<float>> messages;
  std::vector<Contribution<float>> contributions;
};

Section section(const char* name, const char* kind) {
  return {name, nlohmann::json{{"kind", kind}}};
}

class ExchangeCase {
 public:
  ExchangeCase(std::shared_ptr<Workers> workers, const char* kind, bool puts_back)
      : workers_(std::move(workers)),
        aggregator_(make_aggregator(section("aggregator", kind))),
        exchange_(aggregator_->exchange<float>()),
        feedback_(puts_back ? make_feedback(section("feedback", "ef14")) : nullptr),
        residual_updates_(workers_->memories.size()) {}

  void run() {
    exchange_->combine(workers_->cluster,
                       {.dimension = kDimension, .k = kKept, .of_workers = workers_->contributions},
                       result_);
    for (std::size_t slot = 0; feedback_ != nullptr && slot < residual_updates_.size(); ++slot) {
      feedback_->update_residual(std::span<float>(workers_->memories[slot]),
                                 result_.outcome(workers_->messages[slot], slot),
                                 residual_updates_[slot]);
    }
  }

 private:
  std::shared_ptr<Workers> workers_;
  std::unique_ptr<Aggregator> aggregator_;
  std::unique_ptr<Exchange<float>> exchange_;
  std::unique_ptr<Feedback> feedback_;
  std::vector<ResidualUpdate<float>> residual_updates_;
  ExchangeResult<float> result_;
};

struct Exchanged {
  Measure measure;
  std::shared_ptr<ExchangeCase> exchange;
};

/// The lines are every aggregator, and gTop-k with put-back, which is all that P3 is about. A
/// threshold that is reused must pay: Ok-Topk is compared with the exact selection.
std::vector<Exchanged> lines_of(World& world) {
  const auto workers = std::make_shared<Workers>(world);
  const std::string where =
      world.size() == 1 ? "one process" : fmt::format("{} processes", world.size());
  std::vector<Exchanged> lines;
  const auto add = [&](const char* kind, bool puts_back) {
    const std::string name = fmt::format("{}{}", kind, puts_back ? " and put-back" : "");
    Measure measure{.id = "",
                    .name = fmt::format("{}, P = 4, k = 25e3, d = 25e6, {}", name, where),
                    .benchmark = "aggregate/" + name,
                    .baseline = name == "dense" ? "" : "aggregate/dense",
                    .faster_than = true,
                    .target = std::nullopt};
    if (name == "ok-topk") {
      measure.baseline = "aggregate/gtopk-exact";
      measure.target = 1.0;
    }
    if (puts_back) {
      measure.id = "P3";
      measure.of_value = true;
      measure.target = world.size() == 1 ? 1.0 : 2.0;
    }
    lines.push_back({measure, std::make_shared<ExchangeCase>(workers, kind, puts_back)});
  };
  for (const auto& entry : aggregators()) {
    if (!entry.make(example_section("aggregator", entry))->law().approximates_sum) {
      add(entry.name.data(), false);
    }
  }
  add("gtopk-tree", true);
  return lines;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// The longest time of all ranks, in milliseconds.
double longest(World& world, double milliseconds) {
  constexpr double kPerMillisecond = 1e6;
  const auto nanoseconds = static_cast<std::int64_t>(milliseconds * kPerMillisecond);
  return -static_cast<double>(world.minimum(-nanoseconds)) / kPerMillisecond;
}

}  // namespace

void bench_aggregate(std::vector<Measure>& measures, const Options& /*options*/) {
  static const std::unique_ptr<World> world = make_single_process();
  for (const auto& [measure, exchange] : lines_of(*world)) {
    add_benchmark(measure.benchmark, [exchange = exchange] { exchange->run(); });
    measures.push_back(measure);
  }
}

Times time_aggregate(std::vector<Measure>& measures, World& world) {
  constexpr double kWanted = 100;  // milliseconds of each repetition
  const auto lines = lines_of(world);
  std::vector<int> counts;
  for (const auto& [measure, exchange] : lines) {
    exchange->run();  // makes the buffers
    world.minimum(0);
    const auto start = std::chrono::steady_clock::now();
    exchange->run();
    counts.push_back(1 + static_cast<int>(kWanted / longest(world, milliseconds_since(start))));
    measures.push_back(measure);
  }
  Times times;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      world.minimum(0);  // nobody begins before all are there
      const auto start = std::chrono::steady_clock::now();
      for (int n = 0; n < counts[i]; ++n) {
        lines[i].exchange->run();
      }
      times[measures[i].benchmark].push_back(longest(world, milliseconds_since(start)) / counts[i]);
    }
  }
  return times;
}

}  // namespace residuum
