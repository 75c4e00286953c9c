// How much memory a worker costs: beyond its gradient at most three vectors of d numbers, with the
// probes that look by default, when they look by default. This program counts the bytes that are in
// use.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <new>

#include "assumptions/monitor.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace {

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> most_in_use{0};

void* allocate(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  const std::size_t now = in_use += malloc_usable_size(memory);
  std::size_t most = most_in_use;
  while (most < now && !most_in_use.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void release(void* memory) {
  in_use -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// The other forms of new and delete call these, but those for types of larger alignment, which
// nothing here has.
void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

constexpr std::size_t kDimension = 100'000;

class NoRecorder final : public Recorder {
 public:
  void write(const Row& row, const std::vector<Check>& /*checks*/) override {
    rows += 1;
    halves += row.get(Column::noise_variance) ? 1 : 0;
    virtual_losses += row.get(Column::virtual_loss) ? 1 : 0;
  }
  int rows = 0;
  int halves = 0;
  int virtual_losses = 0;
};

/// Quadratics around a centre per worker, with noise that costs little.
test::TinyObjective problem() {
  const auto gradient = [](const Draw& draw, std::span<const double> w, std::span<double> g) {
    const auto key = static_cast<std::uint64_t>(draw.worker) * 7919 + draw.iteration * 104729 +
                     (draw.first_half ? 15485863U : 0U);
    for (std::size_t j = 0; j < g.size(); ++j) {
      const std::uint64_t mixed = (key + j) * 0x9e3779b97f4a7c15;
      g[j] = w[j] + static_cast<double>(mixed >> 48U) * 0x1.0p-16 - 0.25;
    }
  };
  return {std::vector<double>(kDimension, 0.5), gradient};
}

/// Returns the most bytes in use at any time of a training with `workers` workers.
double peak_of(Recipe recipe, int workers, int processes) {
  const test::TinyObjective objective = problem();
  recipe.workers = workers;
  recipe.iterations = 24;
  recipe.precision = Precision::float32;
  // The schedule of a study that says nothing of probes.
  recipe.measured = Json{{"geometric", 1.1}};
  recipe.evaluated = recipe.measured;
  recipe.split = Json{{"geometric", 1.5}};
  recipe.virtual_points = Json{{"geometric", 4.0}};
  NoRecorder recorder;
  const std::size_t before = in_use;
  most_in_use = before;
  test::on_processes(processes, [&](World& world) {
    Monitor monitor(make_probes({"delta",
                                 "contraction",
                                 "residual",
                                 "conservation",
                                 "xi",
                                 "traffic",
                                 "noise",
                                 "certificate",
                                 "ef21"},
                                "a test"),
                    recorder,
                    [](auto /*done*/, auto /*total*/) {});
    test::train(world, objective, recipe, monitor);
  });
  EXPECT_GT(recorder.rows, 10);
  EXPECT_GT(recorder.halves, 3);
  EXPECT_GT(recorder.virtual_losses, 1);
  return static_cast<double>(most_in_use - before);
}

/// Returns the vectors of d numbers that each further worker adds, its gradient included. Both
/// numbers of workers are large enough that means go from process to process (MeanOverWorkers).
/// Whether two processes hold their passing buffers at the same moment depends on the scheduler,
/// not on the number of workers. Divided by many further workers, it is a small part.
double vectors_per_worker(const Recipe& recipe, int processes) {
  constexpr int kFew = 12;
  constexpr int kMany = 40;
  const double difference = peak_of(recipe, kMany, processes) - peak_of(recipe, kFew, processes);
  return difference / ((kMany - kFew) * kDimension * sizeof(float));
}

TEST(Memory, OfAWorkerIsAtMostThreeVectorsBeyondItsGradient) {
  for (const char* aggregator : {"gtopk-tree", "allgather", "dense"}) {
    Recipe recipe;
    if (std::string(aggregator) != "dense") {
      recipe.sparsifier = {{"kind", "top-k"}, {"density", 0.001}};
    }
    recipe.aggregator = {{"kind", aggregator}};
    for (const int processes : {1, 2}) {
      const double vectors = vectors_per_worker(recipe, processes);
      // The fraction above whole vectors is buffers of k entries, and rows.
      EXPECT_LE(vectors, 4.1) << aggregator << " on " << processes;
      EXPECT_GE(vectors, 2) << aggregator << ": gradient and residual at least";
    }
  }
}

}  // namespace
}  // namespace residuum
