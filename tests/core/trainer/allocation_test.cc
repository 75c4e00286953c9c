// In the steady state a training asks for no memory: whatever the method, between iteration 200 and
// iteration 400 `operator new` is not called at all. This program counts its calls.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/trainer/trainer.h"
#include "objectives/dct_coordinates.h"
#include "objectives/registry.h"
#include "tests/core/support.h"
#include "tests/core/thread_world.h"
#include "tests/core/trainer/allocation_cases.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

/// True while a thread's allocations are not counted.
thread_local bool is_paused = false;

void* allocate(std::size_t size) {
  if (!is_paused) {
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

// The other forms of new and delete call these, but those for types of larger alignment, which
// nothing here has. Where GCC inlines one of the two alone, it takes them for no pair.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace residuum {
namespace {

using test::Json;

constexpr std::uint64_t kFrom = 200;
constexpr std::uint64_t kTo = 400;

/// A counter of the allocations in the iterations from kFrom to kTo that are not measured.
class AllocationCounter final : public StepObserver {
 public:
  void observe(const StepView& /*view*/) override { was_measured_ = true; }
  void progress(std::uint64_t done, std::uint64_t /*total*/) override {
    const std::uint64_t now = allocations.load();
    // A measured iteration hands over what it has gathered in the one that follows.
    if (done > kFrom && done <= kTo && !was_measured_) {
      counted += now - before_;
      ++looked_at;
    }
    before_ = now;
    was_measured_ = false;
  }

  std::uint64_t counted = 0;
  std::uint64_t looked_at = 0;

 private:
  std::uint64_t before_ = 0;
  bool was_measured_ = false;
};

/// The message queues of the threads ask for memory; a real interconnect does not.
class QuietWorld final : public World {
 public:
  explicit QuietWorld(World& world) : world_(world) {}
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  void send(int to, std::span<const std::byte> bytes) override {
    quietly([&] { world_.send(to, bytes); });
  }
  void post(int from, std::span<std::byte> room) override {
    quietly([&] { world_.post(from, room); });
  }
  std::size_t take(int from) override {
    std::size_t length = 0;
    quietly([&] { length = world_.take(from); });
    return length;
  }
  void broadcast(int root, std::span<std::byte> bytes) override {
    quietly([&] { world_.broadcast(root, bytes); });
  }
  void all_gather(std::span<const std::byte> mine, Gathered& all) override {
    quietly([&] { world_.all_gather(mine, all); });
  }
  std::int64_t minimum(std::int64_t mine) override {
    std::int64_t least = 0;
    quietly([&] { least = world_.minimum(mine); });
    return least;
  }
  void add_up(std::span<float> numbers) override {
    quietly([&] { world_.add_up(numbers); });
  }
  void add_up(std::span<double> numbers) override {
    quietly([&] { world_.add_up(numbers); });
  }
  [[noreturn]] void abort(ExitCode /*code*/) override { std::abort(); }
  std::string description() const override { return world_.description(); }

 private:
  template <class Action>
  static void quietly(Action action) {
    is_paused = true;
    action();
    is_paused = false;
  }

  World& world_;
};

struct Case {
  Json sparsifier = {{"kind", "top-k"}, {"k", 6}};
  Json aggregator = {{"kind", "gtopk-tree"}};
  Json feedback = {{"kind", "ef14"}};
  bool by_layer = false;
  int workers = 4;
  Precision precision = Precision::float32;
  double momentum = 0;
  bool measure = false;
  std::size_t batch = 4;
  Sampling sampling = Sampling::replacement;
  Json local = {{"optimiser", "sgd"}};
  UpdateRule update_rule = UpdateRule::mean;

  std::string name() const {
    return local.dump() + ", " + sparsifier.dump() + (by_layer ? " by layer" : "") + ", " +
           aggregator.dump() + ", " + feedback.dump() + ", P = " + std::to_string(workers) +
           (precision == Precision::float32 ? ", float" : ", double");
  }
};

/// Null where the aggregator needs a k that the sparsifier has not, or takes whole accumulators
/// alone.
std::unique_ptr<Method> method_of(const Case& c, std::size_t dimension) {
  const std::vector<Segment> layers{{.begin = 0, .size = dimension / 3},
                                    {.begin = dimension / 3, .size = dimension - dimension / 3}};
  Json with_scope = c.sparsifier;
  with_scope["scope"] = c.by_layer ? "layer" : "model";
  auto method = std::make_unique<Method>();
  method->sparsifier = make_sparsifier(Section("sparsifier", with_scope), layers);
  method->aggregator = test::aggregator(c.aggregator);
  method->feedback = test::feedback(c.feedback);
  const Section step("step", Json{{"value", 0.05}});
  method->step_rule = make_step_rule(step, {});
  method->momentum = c.momentum;
  method->update_rule = c.update_rule;
  method->optimiser = make_optimiser(Section("local", c.local));
  if (method->optimiser != nullptr) {
    method->memory_periods = memory_periods_from(Section("local", c.local), *method->optimiser);
  }
  try {
    check_approximation(*method,
                        dimension,
                        Section("sparsifier", with_scope),
                        Section("aggregator", c.aggregator),
                        Section("feedback", c.feedback));
  } catch (const Error&) {
    return nullptr;
  }
  const bool goes = method->sparsifier->k(dimension) || !method->aggregator->needs_k();
  return goes ? std::move(method) : nullptr;
}

/// Trains by the case; the counter is the root's.
void train_on(World& world, const Objective& objective, const Case& c, AllocationCounter& counter) {
  const Cluster cluster(world, c.workers);
  const auto method = method_of(c, objective.dimension());
  Training training;
  training.objective = &objective;
  training.method = method.get();
  training.cluster = &cluster;
  training.iterations = kTo + 20;
  training.precision = c.precision;
  training.batch = c.batch;
  training.sampling = c.sampling;
  training.plan.measure = c.measure;
  const std::size_t n = objective.samples();
  for (int worker = 0; n > 0 && worker < c.workers; ++worker) {
    auto& shard = training.shards.emplace_back();
    for (auto i = static_cast<std::size_t>(worker); i < n;
         i += static_cast<std::size_t>(c.workers)) {
      shard.push_back(static_cast<std::uint32_t>(i));
    }
  }
  training.plan.measured =
      Cadence(c.measure ? Json(7) : Json(kTo + 20), "'every'", training.iterations);
  if (c.measure) {
    training.plan.virtual_points = training.plan.measured;
    training.plan.wants_unperturbed = true;
  }
  const Outcome outcome = train(training, counter);
  EXPECT_EQ(outcome.state, Outcome::State::finished) << outcome.message;
}

void expect_none(const Objective& objective, const Case& c) {
  if (method_of(c, objective.dimension()) == nullptr) {
    return;
  }
  SCOPED_TRACE(c.name());
  const auto world = make_single_process();
  AllocationCounter counter;
  train_on(*world, objective, c, counter);
  EXPECT_EQ(counter.counted, 0U);
  EXPECT_GE(counter.looked_at, c.measure ? 170U : 200U);
}

std::unique_ptr<Objective> objective_of(const Json& values, int workers) {
  for (const auto& entry : convex_objectives()) {
    if (values["kind"] == std::string(entry.name)) {
      return entry.make(Section("objective", values),
                        {.data_dir = {}, .cache_dir = {}, .workers = workers});
    }
  }
  ADD_FAILURE() << "no such objective: " << values;
  return nullptr;
}

std::unique_ptr<Objective> quadratic(int workers) {
  return objective_of({{"kind", "quadratic"}, {"dimension", 61}}, workers);
}

/// Every method in the registries.
template <class Check>
void for_every_method(Check check) {
  for (const auto& sparsifier : test::kSparsifiers) {
    for (const auto& aggregator : test::kAggregators) {
      for (const auto& feedback : test::kFeedbacks) {
        check(Case{.sparsifier = sparsifier, .aggregator = aggregator, .feedback = feedback});
        if (testing::Test::HasFailure()) {
          return;
        }
      }
    }
  }
}

TEST(Allocations, AreLookedForInAllMethodsOfTheRegistries) {
  const auto covers = [](const std::vector<Json>& cases, const auto& entries) {
    for (const auto& entry : entries) {
      EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Json& c) {
        return c["kind"] == std::string(entry.name);
      })) << entry.name;
    }
  };
  covers(test::kSparsifiers, sparsifiers());
  covers(test::kAggregators, aggregators());
  covers(test::kFeedbacks, feedbacks());
}

TEST(Allocations, AreSeenByTheCounter) {
  const std::uint64_t before = allocations.load();
  const auto number = std::make_unique<int>(1);
  EXPECT_EQ(allocations.load(), before + 1) << *number;
}

TEST(Allocations, EndBeforeTheSteadyStateOfEveryMethod) {
  for (const int workers : {1, 4, 5}) {
    const auto objective = quadratic(workers);
    for_every_method([&](Case c) {
      c.workers = workers;
      expect_none(*objective, c);
      c.precision = Precision::float64;
      expect_none(*objective, c);
    });
  }
}

TEST(Allocations, EndBeforeTheSteadyStateOfEveryMethodByLayer) {
  const auto objective = quadratic(4);
  for_every_method([&](Case c) {
    c.by_layer = true;
    expect_none(*objective, c);
    c.precision = Precision::float64;
    expect_none(*objective, c);
  });
}

TEST(Allocations, EndBeforeTheSteadyStateWithMomentum) {
  const auto objective = quadratic(4);
  for_every_method([&](Case c) {
    c.momentum = 0.5;
    expect_none(*objective, c);
  });
}

TEST(Allocations, EndBeforeTheSteadyStateWithOptimisersOfWorkers) {
  const auto objective = quadratic(4);
  for (const auto& entry : optimisers()) {
    Case c;
    c.local = {{"optimiser", std::string(entry.name)}};
    expect_none(*objective, c);
    c.precision = Precision::float64;
    expect_none(*objective, c);
    const auto vectors = make_optimiser(Section("local", c.local))->vectors();
    c.local["average_every"] = std::vector<int>(vectors, 1);
    expect_none(*objective, c);
  }
}

TEST(Allocations, AreOfMeasuredIterationsAloneWhereProbesLook) {
  const auto objective = quadratic(4);
  for_every_method([&](Case c) {
    c.measure = true;
    expect_none(*objective, c);
    c.momentum = 0.5;
    expect_none(*objective, c);
  });
}

TEST(Allocations, EndBeforeTheSteadyStateOnEveryProcess) {
  const auto objective = quadratic(5);
  for_every_method([&](Case c) {
    c.workers = 5;
    if (method_of(c, objective->dimension()) == nullptr) {
      return;
    }
    SCOPED_TRACE(c.name());
    for (const int processes : {2, 3}) {
      AllocationCounter counter;
      test::on_processes(processes, [&](World& world) {
        QuietWorld quiet(world);
        AllocationCounter unused;
        train_on(quiet, *objective, c, world.is_root() ? counter : unused);
      });
      EXPECT_EQ(counter.counted, 0U) << processes << " processes";
      EXPECT_EQ(counter.looked_at, 200U);
    }
  });
}

// Long enough for bounds that are guessed from samples, too dense for bounds that are remembered.
TEST(Allocations, EndBeforeTheSteadyStateOfLongVectors) {
  const auto objective = objective_of({{"kind", "quadratic"}, {"dimension", 20000}}, 1);
  for (const std::int64_t k : {20, 2000, 6000}) {
    Case c{.workers = 1};
    c.sparsifier = {{"kind", "top-k"}, {"k", k}};
    expect_none(*objective, c);
  }
}

TEST(Allocations, EndBeforeTheSteadyStateOfSignsInCosineCoordinates) {
  const auto objective = in_dct_coordinates(quadratic(4));
  Case c{.aggregator = {{"kind", "allgather"}}, .update_rule = UpdateRule::signs};
  expect_none(*objective, c);
  c.precision = Precision::float64;
  c.measure = true;
  expect_none(*objective, c);
}

TEST(Allocations, EndBeforeTheSteadyStateOfLogisticRegression) {
  const auto objective = objective_of(
      {{"kind", "logistic"}, {"data", "synthetic-logistic"}, {"rows", 300}, {"features", 40}}, 4);
  for (const auto sampling : {Sampling::replacement, Sampling::shuffle}) {
    for (const std::size_t batch : {std::size_t{0}, std::size_t{8}}) {
      for (const auto precision : {Precision::float32, Precision::float64}) {
        expect_none(
            *objective,
            Case{.workers = 4, .precision = precision, .batch = batch, .sampling = sampling});
      }
    }
  }
}

}  // namespace
}  // namespace residuum
