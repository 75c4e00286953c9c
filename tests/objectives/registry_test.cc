// Laws of every objective that can be named, on the example that its registry line shows.

#include "objectives/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <vector>

#include "objectives/network_module.h"

namespace residuum {
namespace {

std::unique_ptr<Objective> example_of(const ObjectiveEntry& entry) {
  auto values = nlohmann::json::parse(entry.example);
  values["kind"] = entry.name;
  const Section section("objective", values);
  auto objective = make_objective(section, {.data_dir = {}, .cache_dir = {}, .workers = 2});
  section.finish();
  return objective;
}

/// All objectives that this build can make without a file.
std::vector<ObjectiveEntry> built_objectives() {
  const auto built = networks_are_built() ? objectives() : convex_objectives();
  std::vector<ObjectiveEntry> without_files;
  std::copy_if(built.begin(), built.end(), std::back_inserter(without_files), [](const auto& one) {
    return !one.example.empty() && one.foreign_code.empty();
  });
  return without_files;
}

TEST(Objectives, HaveLayersThatTileTheModelUnderNamesOfTheirOwn) {
  for (const auto& entry : built_objectives()) {
    const auto objective = example_of(entry);
    std::set<std::string> names;
    std::size_t end = 0;
    for (const Layer& layer : objective->layers()) {
      EXPECT_TRUE(names.insert(layer.name).second) << entry.name << ' ' << layer.name;
      EXPECT_EQ(layer.offset, end) << entry.name << ' ' << layer.name;
      std::int64_t size = 1;
      for (const std::int64_t side : layer.shape) {
        size *= side;
      }
      EXPECT_EQ(static_cast<std::size_t>(size), layer.size) << entry.name << ' ' << layer.name;
      end += layer.size;
    }
    EXPECT_EQ(end, objective->dimension()) << entry.name;
  }
}

TEST(Objectives, GiveTheSameFiniteGradientAtEveryCall) {
  for (const auto& entry : built_objectives()) {
    const auto objective = example_of(entry);
    const std::vector<std::uint32_t> samples{0, 1};
    std::vector<double> start(objective->dimension());
    objective->initial_point(3, start);
    const std::vector<float> w(start.begin(), start.end());
    std::vector<float> once(w.size());
    std::vector<float> twice(w.size());
    std::vector<double> statistics(objective->statistics());
    objective->initial_statistics(statistics);
    Draw draw{.seed = 1, .worker = 1};
    if (objective->samples() > 0) {
      draw.samples = samples;
      draw.shard = samples;
    }

    objective->stochastic_gradient(draw, std::span<const float>(w), once);
    draw.statistics = statistics;
    objective->stochastic_gradient(draw, std::span<const float>(w), twice);

    EXPECT_EQ(once, twice) << entry.name;
    EXPECT_TRUE(std::all_of(once.begin(), once.end(), [](float g) { return std::isfinite(g); }))
        << entry.name;
  }
}

TEST(Objectives, ThatExecuteForeignCodeAreMadeOnlyWhereCommandsAreAllowed) {
  int count = 0;
  for (const auto& entry : objectives()) {
    auto values = nlohmann::json::parse(entry.example.empty() ? "{}" : entry.example);
    values["kind"] = entry.name;
    const Section section("objective", values);
    if (entry.foreign_code.empty()) {
      EXPECT_NO_THROW(require_allowed(entry, section, {})) << entry.name;
      continue;
    }
    ++count;
    ObjectiveContext context;
    context.allow_commands = true;
    EXPECT_NO_THROW(require_allowed(entry, section, context)) << entry.name;
    try {
      make_objective(section, {});
      FAIL() << entry.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find("--allow-commands"), std::string::npos);
    }
  }
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace residuum
