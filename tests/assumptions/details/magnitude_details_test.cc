// The rows of magnitudes.csv are held against accumulators that are known by hand.

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>

#include "assumptions/detail_rows.h"
#include "tests/assumptions/support.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

using test::Recipe;

/// The shares by exponent, of each iteration that has rows.
using Histograms = std::map<std::uint64_t, std::map<std::string, double>>;

/// Worker 0 always draws (1, 3, 1/4, 0), worker 1 the gradient (1, 0, 0, 0).
test::TinyObjective constant_gradients() {
  return {std::vector<double>(4),
          [](const Draw& draw, std::span<const double>, std::span<double> g) {
            std::fill(g.begin(), g.end(), 0.0);
            g[0] = 1;
            g[1] = draw.worker == 0 ? 3 : 0;
            g[2] = draw.worker == 0 ? 0.25 : 0;
          }};
}

Recipe top_one(std::uint64_t iterations, int every) {
  return {.sparsifier = {{"kind", "top-k"}, {"k", 1}},
          .aggregator = {{"kind", "allgather"}},
          .step = {{"value", 1}},
          .workers = 2,
          .iterations = iterations,
          .magnitudes = every};
}

Histograms histograms_of(World& world, const Recipe& recipe) {
  test::RowKeeper keeper;
  Monitor monitor(make_probes({}, "a test"), keeper, [](auto /*done*/, auto /*total*/) {});
  monitor.add_details(write_magnitude_details);
  (void)test::train(world, constant_gradients(), recipe, monitor);
  Histograms found;
  for (const auto& row : keeper.details) {
    EXPECT_EQ(&row.table(), &kMagnitudesTable);
    found[row.iteration()][row.part()] = row.get(MagnitudeColumn::share).value();
  }
  return found;
}

// Worker 0 sends its 3 and has (2, 3, 1/2, 0) in the next iteration; worker 1 sends its 1 and has
// the same again.
const std::map<std::string, double> kAtFirst{{"0", 2.0 / 8}, {"1", 1.0 / 8}, {"-2", 1.0 / 8}};
const std::map<std::string, double> kThen{{"1", 2.0 / 8}, {"0", 1.0 / 8}, {"-1", 1.0 / 8}};

TEST(MagnitudeDetails, AreTheSharesOfTheEntriesByPowersOfTwo) {
  const auto world = make_single_process();

  EXPECT_EQ(histograms_of(*world, top_one(2, 1)), (Histograms{{0, kAtFirst}, {1, kThen}}));
}

TEST(MagnitudeDetails, AreThereOnlyWhereTheyAreDue) {
  const auto world = make_single_process();

  const auto found = histograms_of(*world, top_one(5, 2));

  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found.contains(0) && found.contains(2) && found.contains(4));
}

TEST(MagnitudeDetails, AreTheSameOnTwoProcesses) {
  std::mutex alone;
  Histograms on_two;
  test::on_processes(2, [&](World& world) {
    auto found = histograms_of(world, top_one(2, 1));
    const std::lock_guard lock(alone);
    if (world.is_root()) {
      on_two = std::move(found);
    }
  });

  EXPECT_EQ(on_two, (Histograms{{0, kAtFirst}, {1, kThen}}));
}

}  // namespace
}  // namespace residuum
