// Virtual time of whole trainings whose exchanges overlap with back-propagation: schedules that are
// solved by hand, bounds, parts that add up, and the same numbers at any number of processes and
// after an interruption.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/protocols/protocol.h"
#include "core/protocols/virtual_time.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

const NetworkModel kSlowLinks{.name = "slow", .links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}};
const NetworkModel kNoLatency{.name = "smooth", .links = {.alpha_s = 0, .beta_s_per_byte = 0.25}};

class OverlapTimes final : public StepObserver {
 public:
  void observe(const StepView& view) override {
    const auto seen = view.network.times;
    times.emplace_back(seen.begin(), seen.end());
  }
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
  std::vector<std::vector<NetworkTimes>> times;  // by version and network
};

/// Two workers and three layers of 4, 2 and 2 numbers, or what a test makes of it.
struct OverlapCase {
  OverlapRule rule = OverlapRule::wait_free;
  Json aggregator = {{"kind", "dense"}, {"algorithm", "ring"}};
  Json protocol = {{"kind", "bsp"}, {"compute", 16}};
  Json sparsifier = {{"kind", "none"}};
  std::vector<std::size_t> layers = {4, 2, 2};
  std::vector<double> given = {1, 0.75, 0.5};
  std::vector<double> measured = {};
  std::vector<NetworkModel> networks = {kSlowLinks};
  int workers = 2;
  std::uint64_t iterations = 3;
  std::size_t accumulation = 1;
  bool times_work = false;
  int processes = 1;
};

std::vector<Segment> segments_of_layers(const std::vector<std::size_t>& layers) {
  std::vector<Segment> segments;
  std::size_t begin = 0;
  for (const std::size_t size : layers) {
    segments.push_back({.begin = begin, .size = size});
    begin += size;
  }
  return segments;
}

std::vector<std::vector<NetworkTimes>> overlap_times(const OverlapCase& wanted) {
  const auto protocol = make_protocol(Section("protocol", wanted.protocol));
  Recipe recipe{.sparsifier = wanted.sparsifier, .aggregator = wanted.aggregator};
  recipe.workers = wanted.workers;
  recipe.iterations = wanted.iterations;
  recipe.batch = wanted.accumulation;
  recipe.accumulation = wanted.accumulation;
  recipe.protocol = protocol.get();
  recipe.networks = wanted.networks;
  recipe.times_work = wanted.times_work;
  recipe.overlap = {.rule = wanted.rule, .ready = wanted.given, .place = "here"};
  recipe.layers = segments_of_layers(wanted.layers);
  const Segment& last = recipe.layers.back();
  std::vector<std::vector<NetworkTimes>> times;
  test::on_processes(wanted.processes, [&](World& world) {
    auto objective = test::noisy_quadratic(last.begin + last.size, 0.5);
    objective.cut_into_layers(wanted.layers, wanted.measured);
    OverlapTimes observer;
    const auto outcome = test::train(world, objective, recipe, observer);
    EXPECT_EQ(outcome.state, Outcome::State::finished) << outcome.message;
    if (world.is_root()) {
      times = std::move(observer.times);
    }
  });
  return times;
}

NetworkTimes last_overlap(const OverlapCase& wanted) {
  return overlap_times(wanted).back().front();
}

// The 64 bytes are two chunks of 32, each in two rounds. Layers have 1/2, 1/4 and 1/4 of them, and
// take 2 (0.5 + 4) = 9, 5 and 5 s. Gradients are ready at 16, 12 and 8 s: the exchanges of the last
// layer end at 13, 18 and 27. In one they would take 17 s from 16 on.
TEST(Overlap, OfARingIsThatOfTheScheduleByHandInEveryVersion) {
  const auto times = overlap_times({});
  for (std::size_t t = 0; t < times.size(); ++t) {
    const NetworkTimes& one = times[t].front();
    EXPECT_EQ(one.version_s, 27);
    EXPECT_EQ(one.compute_s, 16.0 * static_cast<double>(t + 1));
    EXPECT_EQ(one.wire_s, 11.0 * static_cast<double>(t + 1));
    EXPECT_EQ(one.select_s + one.merge_s, 0);
    EXPECT_EQ(one.exchanges, 3U);
  }
  EXPECT_EQ(last_overlap({.rule = OverlapRule::none}).version_s, 33);
  EXPECT_EQ(last_overlap({.rule = OverlapRule::none}).exchanges, 1U);
}

// A list has 4 entries of 12 bytes, 2 of them of the first layer: 3.5, 3.5 and 6.5 s from 8, 12 and
// 16 s on.
TEST(Overlap, OfAnAllGatherHasListsOfEachLayersOwnEntries) {
  const OverlapCase gather{.aggregator = {{"kind", "allgather"}},
                           .sparsifier = {{"kind", "top-k"}, {"density", 0.5}, {"scope", "layer"}}};
  EXPECT_EQ(last_overlap(gather).version_s, 22.5);
  OverlapCase whole = gather;
  whole.rule = OverlapRule::none;
  EXPECT_EQ(last_overlap(whole).version_s, 28.5);
}

// With one entry of each layer the shares are 1/3: 36 bytes in one message take 0.5 + 9 s. Dense
// vectors keep the layers' sizes, whatever the messages hold.
TEST(Overlap, DividesWhatIsSent) {
  OverlapCase gather{.aggregator = {{"kind", "allgather"}},
                     .sparsifier = {{"kind", "top-k"}, {"k", 1}, {"scope", "layer"}}};
  EXPECT_NEAR(last_overlap(gather).version_s, 16 + 0.5 + 3, 1e-12);
  gather.aggregator = {{"kind", "dense"}, {"algorithm", "ring"}};
  EXPECT_EQ(last_overlap(gather).version_s, 27);
}

// Ready at 2, 3 and 4 s: the first exchange is alone and ends at 7; the others go together and take
// 2 (0.5 + 6) s. Layer by layer it takes until 21, and 4 + 17 s in one.
TEST(Overlap, OfMergedLayersIsThatOfTheScheduleByHand) {
  OverlapCase quick{.rule = OverlapRule::merged, .protocol = {{"kind", "bsp"}, {"compute", 4}}};
  EXPECT_EQ(last_overlap(quick).version_s, 20);
  EXPECT_EQ(last_overlap(quick).exchanges, 2U);
  quick.rule = OverlapRule::wait_free;
  EXPECT_EQ(last_overlap(quick).version_s, 21);
}

// Worker 1 has half the speed: its gradients are ready at 32, 24 and 16 s, and the others' wait.
TEST(Overlap, WaitsForTheSlowerWorkersLayers) {
  const Json slow{{"kind", "bsp"}, {"compute", 16}, {"speeds", {1, 0.5}}};
  EXPECT_EQ(last_overlap({.protocol = slow}).version_s, 32 + 9);
}

TEST(Overlap, MergesByNetwork) {
  const auto both = overlap_times({.rule = OverlapRule::merged,
                                   .protocol = {{"kind", "bsp"}, {"compute", 4}},
                                   .networks = {kSlowLinks, kNoLatency}});
  EXPECT_EQ(both.back()[0].exchanges, 2U);
  EXPECT_EQ(both.back()[1].exchanges, 2U) << "the third layer is there when the second can begin";
  const auto long_way = overlap_times(
      {.rule = OverlapRule::merged,
       .networks = {kSlowLinks,
                    {.name = "far", .links = {.alpha_s = 8, .beta_s_per_byte = 0.25}}}});
  EXPECT_EQ(long_way.back()[0].exchanges, 3U);
  EXPECT_EQ(long_way.back()[1].exchanges, 1U) << "an exchange of nothing takes as long as all";
}

// With 4 batches to a gradient, the layers' gradients are whole in the last quarter: the last layer
// can begin after (3 + 0.5) / 4 of 16 s and is done at 19, the second at 24 and the first at 33.
TEST(Overlap, OfAGradientInPartsBeginsInTheLastOfThem) {
  const OverlapCase parts{.given = {}, .measured = {1, 0.75, 0.5}, .accumulation = 4};
  EXPECT_EQ(last_overlap(parts).version_s, 33);
  OverlapCase whole = parts;
  whole.accumulation = 1;
  EXPECT_EQ(last_overlap(whole).version_s, 27) << "as if these fractions had been given";
}

const std::vector<Json>& separable_aggregators() {
  static const std::vector<Json> all{{{"kind", "dense"}},
                                     {{"kind", "dense"}, {"algorithm", "ring"}},
                                     {{"kind", "dense"}, {"algorithm", "tree"}},
                                     {{"kind", "dense"}, {"algorithm", "recursive-doubling"}},
                                     {{"kind", "allgather"}},
                                     {{"kind", "sparse-reduce-scatter"}}};
  return all;
}

OverlapCase five_layers(const Json& aggregator, OverlapRule rule, double alpha, double compute) {
  return {.rule = rule,
          .aggregator = aggregator,
          .protocol = {{"kind", "bsp"}, {"compute", compute}},
          .sparsifier = {{"kind", "top-k"}, {"density", 0.5}, {"scope", "layer"}},
          .layers = {10, 2, 24, 6, 8},
          .given = {0.95, 0.9, 0.7, 0.5, 0.45},
          .networks = {{.name = "some", .links = {.alpha_s = alpha, .beta_s_per_byte = 0.125}}},
          .workers = 5};
}

double overlapped_s(const OverlapCase& wanted) { return last_overlap(wanted).total_s(); }

constexpr double kRoundedUp = 1 + 1e-12;

TEST(Overlap, WithoutLatencyIsNeverLaterThanNone) {
  for (const Json& aggregator : separable_aggregators()) {
    for (const double compute : {0.0, 1.0, 10.0, 100.0}) {
      const double none = overlapped_s(five_layers(aggregator, OverlapRule::none, 0, compute));
      EXPECT_LE(overlapped_s(five_layers(aggregator, OverlapRule::wait_free, 0, compute)),
                none * kRoundedUp)
          << aggregator << compute;
    }
  }
}

TEST(Overlap, WithoutLatencyIsNoneWhereAllLayersAreReadyAtTheEnd) {
  for (const Json& aggregator : separable_aggregators()) {
    OverlapCase at_once = five_layers(aggregator, OverlapRule::wait_free, 0, 10);
    at_once.given.assign(at_once.layers.size(), 1.0);
    at_once.sparsifier = {{"kind", "none"}};
    at_once.iterations = 1;
    at_once.workers = 4;
    OverlapCase none = at_once;
    none.rule = OverlapRule::none;
    EXPECT_NEAR(overlapped_s(at_once), overlapped_s(none), 1e-12 * overlapped_s(none))
        << aggregator;
  }
}

TEST(Overlap, OfMergedLayersIsNeverLaterThanNoneOrLayerByLayer) {
  for (const Json& aggregator : separable_aggregators()) {
    for (const double alpha : {0.0, 0.25, 4.0}) {
      for (const double compute : {1.0, 10.0, 100.0}) {
        const auto of = [&](OverlapRule rule) {
          return overlapped_s(five_layers(aggregator, rule, alpha, compute));
        };
        EXPECT_LE(of(OverlapRule::merged),
                  std::min(of(OverlapRule::none), of(OverlapRule::wait_free)) * kRoundedUp)
            << aggregator << " alpha " << alpha << " compute " << compute;
      }
    }
  }
}

TEST(Overlap, HasPartsThatAddUp) {
  OverlapCase timed = five_layers({{"kind", "allgather"}}, OverlapRule::merged, 0.25, 1);
  timed.protocol["compute"] = "measured";
  timed.times_work = true;
  const NetworkTimes last = last_overlap(timed);
  EXPECT_GT(last.compute_s, 0);
  EXPECT_GT(last.select_s, 0);
  EXPECT_GE(last.merge_s, 0);
  EXPECT_GT(last.wire_s, 0);
  EXPECT_EQ(last.total_s(), last.compute_s + last.select_s + last.merge_s + last.wire_s);
}

std::vector<double> overlap_totals(const OverlapCase& wanted) {
  std::vector<double> totals;
  for (const auto& of_networks : overlap_times(wanted)) {
    for (const NetworkTimes& one : of_networks) {
      totals.insert(totals.end(), {one.compute_s, one.wire_s, static_cast<double>(one.exchanges)});
    }
  }
  return totals;
}

TEST(Overlap, IsTheSameAtAnyNumberOfProcesses) {
  for (const Json& aggregator : separable_aggregators()) {
    for (const auto rule : {OverlapRule::wait_free, OverlapRule::merged}) {
      OverlapCase wanted = five_layers(aggregator, rule, 0.25, 0);
      wanted.protocol["compute"] = "exponential:3";
      const auto alone = overlap_totals(wanted);
      for (const int processes : {2, 5}) {
        wanted.processes = processes;
        EXPECT_EQ(overlap_totals(wanted), alone) << aggregator << " on " << processes;
      }
    }
  }
}

/// Virtual time of three workers whose gradients are drawn; what they exchange is given.
class DrawnOverlap {
 public:
  /// An objective that measures is asked for the fractions by every DrawnOverlap.
  DrawnOverlap(OverlapRule rule, const std::vector<double>& measured)
      : world_(make_single_process()), cluster_(*world_, 3), objective_({0, 0, 0, 0}, nullptr) {
    objective_.cut_into_layers({1, 2, 1}, measured);
    training_.objective = &objective_;
    training_.method = &method_;
    training_.cluster = &cluster_;
    training_.networks = {kSlowLinks};
    training_.overlap = {.rule = rule, .place = "here"};
    time_.emplace(training_, SimulatedMachine{.compute = TimeLaw::exponential(20)});
  }

  std::vector<double> advance(std::uint64_t from, std::uint64_t to) {
    std::vector<double> totals;
    for (std::uint64_t version = from; version < to; ++version) {
      time_->transfers()->clear();
      const auto lists = time_->transfers()->add_row(Transfer::Kind::all_gather, 3);
      std::fill(lists.begin(), lists.end(), 40);
      time_->advance(version, 1, {});
      totals.push_back(time_->view().times.front().total_s());
    }
    return totals;
  }

  Bytes save() {
    Bytes bytes;
    StateWriter writer(bytes);
    RunState state(cluster_, &writer, RunState::Direction::save);
    time_->save_or_load(state);
    return bytes;
  }
  void load(const Bytes& bytes) {
    StateReader reader(bytes);
    RunState state(cluster_, &reader, RunState::Direction::load);
    time_->save_or_load(state);
    EXPECT_FALSE(state.damage());
  }

 private:
  std::unique_ptr<World> world_;
  Cluster cluster_;
  test::TinyObjective objective_;
  Method method_ = test::method_of({}, 4);
  Training training_;
  std::optional<VirtualTime> time_;
};

TEST(Overlap, GoesOnAfterAnInterruptionWithTheFractionsThatWereMeasuredAtTheStart) {
  for (const auto rule : {OverlapRule::wait_free, OverlapRule::merged}) {
    const auto whole = DrawnOverlap(rule, {1, 0.5, 0.4}).advance(0, 9);
    DrawnOverlap before(rule, {1, 0.5, 0.4});
    before.advance(0, 4);
    DrawnOverlap after(rule, {0.9, 0.8, 0.7});
    after.load(before.save());
    EXPECT_EQ(after.advance(4, 9), std::vector(whole.begin() + 4, whole.end()));
  }
}

TEST(Overlap, OfAnObjectiveThatCannotTellIsAUsageErrorOnEveryProcess) {
  test::on_processes(2, [](World& world) {
    auto objective = test::noisy_quadratic(8, 0.5);
    objective.cut_into_layers({4, 4});
    Recipe recipe;
    recipe.workers = 2;
    recipe.networks = {kSlowLinks};
    recipe.overlap = {.rule = OverlapRule::wait_free, .place = "'network.overlap' at s.toml:3:1"};
    OverlapTimes observer;
    EXPECT_EQ(test::error_of([&] { test::train(world, objective, recipe, observer); }),
              "'network.overlap' at s.toml:3:1: this objective cannot tell when the gradients of "
              "its layers are ready; give network.layer_times");
  });
}

}  // namespace
}  // namespace residuum
