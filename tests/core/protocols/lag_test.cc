// Lockstep with a lag: hand examples of its models and of its virtual time, and what must not
// depend on the number of processes or on an interruption.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/protocols/protocol.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"
#include "tests/core/trainer/methods.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using testing::HasSubstr;

std::unique_ptr<Protocol> lagging(int lag, Json more = Json::object()) {
  more["kind"] = "bsp";
  more["lag"] = lag;
  return make_protocol(Section("protocol", more));
}

struct LaggedRun {
  std::vector<test::Frame> frames;
  std::vector<std::vector<NetworkTimes>> times;  // by version and network
};

class RunKeeper final : public StepObserver {
 public:
  void observe(const StepView& view) override {
    run.frames.emplace_back(view);
    const auto seen = view.network.times;
    run.times.emplace_back(seen.begin(), seen.end());
  }
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
  LaggedRun run;
};

LaggedRun lagged_run(const Objective& objective, const Recipe& recipe, int processes = 1) {
  LaggedRun run;
  test::on_processes(processes, [&](World& world) {
    RunKeeper keeper;
    const auto outcome = test::train(world, objective, recipe, keeper);
    EXPECT_EQ(outcome.state, Outcome::State::finished) << outcome.message;
    if (world.is_root()) {
      run = std::move(keeper.run);
    }
  });
  return run;
}

// f_p(w) = (w - c_p)^2/2 with c = 1 and 3, two workers, eta = 1/2, lag 1, nothing compressed. The
// mean gradient at w is w - 2. Rounds 0 and 1 are taken at w_0 = 0, round r at w_{r-1}:
//   w_1 = 0 + 1 = 1;  w_2 = 1 + 1 = 2;  w_3 = 2 - (1 - 2)/2 = 2.5;  w_4 = 2.5 - (2 - 2)/2 = 2.5;
//   w_5 = 2.5 - (2.5 - 2)/2 = 2.25.
TEST(Lag, OfOneTakesGradientsAtTheVersionBefore) {
  const test::TinyObjective objective(
      {0.0}, [](const Draw& draw, std::span<const double> w, std::span<double> g) {
        g[0] = w[0] - (draw.worker == 0 ? 1.0 : 3.0);
      });
  const auto protocol = lagging(1);
  Recipe recipe{.step = {{"value", 0.5}}, .workers = 2, .iterations = 5};
  recipe.protocol = protocol.get();

  const auto run = lagged_run(objective, recipe);

  const std::vector<double> models{1, 2, 2.5, 2.5, 2.25};
  ASSERT_EQ(run.frames.size(), models.size());
  for (std::size_t t = 0; t < models.size(); ++t) {
    EXPECT_EQ(run.frames[t].model[0], models[t]) << "version " << t + 1;
    EXPECT_EQ(run.frames[t].virtual_iterate[0], models[t]);
    EXPECT_EQ(run.frames[t].notes->staleness_max, std::min<std::uint64_t>(t, 1));
    EXPECT_EQ(run.frames[t].notes->contributions, 2U);
  }
}

// The compressor of DeCo-SGD with tau = 2: Delta_t = C(e_{t-2} + g_{t-2}) and x_{t+1} = x_t -
// Delta_t, where nothing is applied before t = 2. The reference is a loop over the paper's t.
TEST(Lag, WithTopKIsTheRecursionOfDeCoSgd) {
  constexpr std::uint64_t kLag = 2;
  constexpr double kStep = 0.25;
  constexpr std::size_t kVersions = 9;
  const std::vector<double> start{3, -2, 1};
  const auto gradient = [](int worker, const std::vector<double>& w) {
    std::vector<double> g;
    for (std::size_t j = 0; j < w.size(); ++j) {
      g.push_back((1 + 0.5 * static_cast<double>(j)) * w[j] - 0.5 * worker);
    }
    return g;
  };
  const test::TinyObjective objective(
      start, [&](const Draw& draw, std::span<const double> w, std::span<double> g) {
        const auto found = gradient(static_cast<int>(draw.worker), {w.begin(), w.end()});
        std::copy(found.begin(), found.end(), g.begin());
      });
  const auto protocol = lagging(kLag);
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 1}},
                .aggregator = {{"kind", "allgather"}},
                .step = {{"value", kStep}},
                .workers = 2,
                .iterations = kVersions};
  recipe.protocol = protocol.get();

  const auto run = lagged_run(objective, recipe);

  std::vector<std::vector<double>> x{start};              // x_t
  std::vector<std::vector<std::vector<double>>> sent(2);  // of each worker, by t
  std::vector<std::vector<double>> residual(2, std::vector<double>(3));
  for (std::size_t t = 0; t < kVersions + kLag; ++t) {
    for (int p = 0; p < 2; ++p) {
      auto& e = residual[static_cast<std::size_t>(p)];
      const auto g = gradient(p, x[t]);
      std::size_t largest = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        e[j] += kStep * g[j];
        largest = std::abs(e[j]) > std::abs(e[largest]) ? j : largest;
      }
      std::vector<double> s(3);
      s[largest] = std::exchange(e[largest], 0);
      sent[static_cast<std::size_t>(p)].push_back(s);
    }
    auto next = x[t];
    for (std::size_t j = 0; t >= kLag && j < 3; ++j) {
      next[j] -= (sent[0][t - kLag][j] + sent[1][t - kLag][j]) / 2;
    }
    x.push_back(next);
  }
  ASSERT_EQ(run.frames.size(), kVersions);
  for (std::size_t t = 0; t < kVersions; ++t) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(run.frames[t].model[j], x[t + 1 + kLag][j], 1e-13) << "version " << t + 1;
    }
  }
}

Recipe lagged_recipe(Recipe recipe, const Protocol& protocol) {
  recipe.protocol = &protocol;
  recipe.workers = 5;
  recipe.iterations = 12;
  recipe.evaluated = Json(1);
  recipe.virtual_points = Json(2);
  recipe.split = Json(2);
  recipe.networks = {{.name = "line", .links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}}};
  return recipe;
}

TEST(Lag, LosesNothingWhileMessagesWait) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  for (const int lag : {1, 3, 20}) {
    const auto protocol = lagging(lag);
    const auto methods = test::methods_for(*protocol, 5);
    ASSERT_GE(methods.size(), 20U);
    for (const Recipe& method : methods) {
      SCOPED_TRACE(test::name_of(method));
      const auto run = lagged_run(objective, lagged_recipe(method, *protocol));
      double largest = 0;
      for (const auto& frame : run.frames) {
        if (frame.conserves) {
          EXPECT_LT(frame.conservation_defect(), 1e-13) << "iteration " << frame.iteration;
        }
        for (std::size_t j = 0; j < frame.model.size(); ++j) {
          largest = std::max(largest, std::abs(frame.model[j] - frame.virtual_iterate[j]));
        }
      }
      const bool compresses = method.sparsifier["kind"] != "none";
      EXPECT_EQ(largest > 1e-6, compresses) << "w - z";
    }
  }
}

TEST(Lag, HasTheSameBitsAtAnyNumberOfProcesses) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const auto protocol = lagging(2, {{"compute", "exponential:2"}});
  auto methods = test::methods_for(*protocol, 5);
  methods.push_back({.sparsifier = {{"kind", "top-k"}, {"k", 3}},
                     .aggregator = {{"kind", "allgather"}},
                     .quantiser = {{"kind", "qsgd"}, {"bits", 4}}});
  for (const Recipe& method : methods) {
    SCOPED_TRACE(test::name_of(method));
    const Recipe recipe = lagged_recipe(method, *protocol);
    const auto alone = lagged_run(objective, recipe);
    for (const int processes : {2, 5}) {
      const auto many = lagged_run(objective, recipe, processes);
      test::expect_same_frames(alone.frames, many.frames);
      for (std::size_t t = 0; t < alone.times.size(); ++t) {
        ASSERT_EQ(alone.times[t].front().total_s(), many.times[t].front().total_s());
      }
    }
  }
}

// Four workers send all-gathers of 3 entries of 12 bytes: bytes of lists, as without a lag.
TEST(Lag, CountsTheBytesThatAreSentWithoutIt) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const auto protocol = lagging(2);
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 3}}, .aggregator = {{"kind", "allgather"}}};
  recipe.workers = 4;
  recipe.iterations = 4;
  recipe.protocol = protocol.get();
  for (const auto& frame : lagged_run(objective, recipe, 2).frames) {
    EXPECT_EQ(frame.traffic.bytes, 4U * 3U * 3U * 12U);
    EXPECT_EQ(frame.traffic_model.bytes, 4 * 3 * 3 * 12);
    EXPECT_TRUE(frame.traffic_model.exact);
    EXPECT_EQ(frame.traffic.rounds, 2U);
  }
}

/// Returns the times at which some versions were made, by the seconds of a gradient. An all-gather
/// takes two messages one after the other, and keeps each port busy for 3 lists of 36 bytes at 0.25
/// s a byte: 2 alpha + 27 s, of which 27 s busy.
std::vector<double> version_times(int lag,
                                  double compute_s,
                                  double alpha_s,
                                  std::uint64_t versions = 7) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const auto protocol = lagging(lag, {{"compute", compute_s}});
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 3}}, .aggregator = {{"kind", "allgather"}}};
  recipe.workers = 4;
  recipe.iterations = versions;
  recipe.protocol = protocol.get();
  recipe.networks = {{.name = "line", .links = {.alpha_s = alpha_s, .beta_s_per_byte = 0.25}}};
  std::vector<double> ends;
  for (const auto& networks : lagged_run(objective, recipe).times) {
    ends.push_back(networks.front().total_s());
  }
  return ends;
}

// Gradients of 10 s, exchanges of 28 s. Without a lag a version takes 38 s. With a lag of 1 two
// rounds of gradients are over at 10 and 20, and the first exchange at 38. The second has the ports
// for 27 s more, and the third gradient, 38..48, is early enough for the third exchange.
TEST(Lag, HidesGradientsBehindExchanges) {
  EXPECT_EQ(version_times(0, 10, 0.5), (std::vector<double>{38, 76, 114, 152, 190, 228, 266}));
  EXPECT_EQ(version_times(1, 10, 0.5), (std::vector<double>{38, 65, 92, 119, 146, 173, 200}));
  EXPECT_EQ(version_times(4, 10, 0.5), version_times(1, 10, 0.5)) << "bandwidth is the limit";
}

// Gradients of 40 s: exchange r is over 28 s after gradient r, which is before gradient r + 1.
TEST(Lag, HidesExchangesBehindGradients) {
  EXPECT_EQ(version_times(1, 40, 0.5), (std::vector<double>{68, 108, 148, 188, 228, 268, 308}));
  EXPECT_EQ(version_times(2, 40, 0.5), version_times(1, 40, 0.5)) << "gradients are the limit";
}

// Exchanges of 67 s, 40 of them latency. Exchange 0 is over at 10 + 67, exchange 1 27 s later.
// Gradient 2 begins at 77 and its exchange at 87; gradient 3 at 104. A lag of 3 keeps the ports
// busy all the time.
TEST(Lag, HidesLatencyBehindOtherExchanges) {
  EXPECT_EQ(version_times(1, 10, 20), (std::vector<double>{77, 104, 154, 181, 231, 258, 308}));
  EXPECT_EQ(version_times(3, 10, 20), (std::vector<double>{77, 104, 131, 158, 185, 212, 239}));
}

TEST(Lag, MakesAVersionTakeTheLongestOfThreeCyclesInTheLongRun) {
  constexpr std::uint64_t kVersions = 48;
  for (const int lag : {1, 2, 3}) {
    for (const double compute_s : {1.0, 13.0, 27.5, 60.0}) {
      for (const double alpha_s : {0.5, 10.0, 40.0}) {
        const auto ends = version_times(lag, compute_s, alpha_s, kVersions);
        const auto cycle = static_cast<std::size_t>(lag) + 1;
        const double measured =
            (ends.back() - ends[ends.size() - 1 - cycle]) / static_cast<double>(cycle);
        const double alone = 2 * alpha_s + 27;
        const double expected = std::max({compute_s, 27.0, (compute_s + alone) / (lag + 1)});
        EXPECT_NEAR(measured, expected, 1e-9) << lag << ", " << compute_s << ", " << alpha_s;
      }
    }
  }
}

TEST(Lag, TellsThePartOfMessagesThatGradientsDoNotHide) {
  const auto objective = test::noisy_quadratic(12, 0.5);
  const auto protocol = lagging(1, {{"compute", 40}});
  Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 3}}, .aggregator = {{"kind", "allgather"}}};
  recipe.workers = 4;
  recipe.iterations = 5;
  recipe.protocol = protocol.get();
  recipe.networks = {{.name = "line", .links = {.alpha_s = 0.5, .beta_s_per_byte = 0.25}},
                     {.name = "none", .links = {}}};

  const auto run = lagged_run(objective, recipe);

  for (std::size_t t = 0; t < run.times.size(); ++t) {
    EXPECT_EQ(run.times[t][0].compute_s, 40 * static_cast<double>(t + 1));
    EXPECT_EQ(run.times[t][0].wire_s, 28) << "of the last exchange alone";
    EXPECT_EQ(run.times[t][1].wire_s, 0);
  }
}

TEST(Lag, OfNoVersionsIsBulkSynchronousTraining) {
  const ProtocolLaw law = lagging(0)->law(4);
  EXPECT_EQ(law.synchrony, Synchrony::lockstep);
  EXPECT_TRUE(law.may_leave_out);
  const Section section("protocol", {{"kind", "bsp"}, {"lag", 0}});
  make_protocol(section);
  EXPECT_FALSE(section.resolved().contains("lag")) << "it is no part of the run";
}

TEST(Lag, HasALawOfItsOwn) {
  const ProtocolLaw law = lagging(3)->law(4);
  EXPECT_EQ(law.synchrony, Synchrony::late);
  EXPECT_EQ(law.staleness, 3U);
  EXPECT_EQ(law.contributions, 4U);
  EXPECT_TRUE(law.in_rounds);
  EXPECT_FALSE(clocks_decide(law));
  EXPECT_FALSE(law.may_leave_out);
}

std::string lag_refusal(const Json& protocol, const Recipe& recipe) {
  return test::error_of([&] {
    make_protocol(Section("protocol", protocol))->check(test::method_of(recipe, 12), 12, 4);
  });
}

TEST(Lag, RefusesWhatCannotWorkWithTheReason) {
  const Json top{{"kind", "top-k"}, {"k", 2}};
  const Json all{{"kind", "allgather"}};
  const Json bsp{{"kind", "bsp"}, {"lag", 2}};
  EXPECT_EQ(lag_refusal(bsp, {.sparsifier = top, .aggregator = all}), "");
  EXPECT_THAT(lag_refusal(bsp, {.sparsifier = top, .aggregator = {{"kind", "gtopk-tree"}}}),
              HasSubstr("'protocol.lag': with a lag a worker must know its residual"));
  EXPECT_THAT(
      lag_refusal(bsp, {.sparsifier = top, .aggregator = all, .feedback = {{"kind", "dgc"}}}),
      HasSubstr("use feedback \"ef14\""));
  EXPECT_THAT(
      lag_refusal(bsp, {.sparsifier = top, .aggregator = all, .feedback = {{"kind", "ef21"}}}),
      HasSubstr("use feedback \"ef14\""));
  EXPECT_THAT(lag_refusal({{"kind", "bsp"}, {"lag", 1}, {"execution", "real"}}, {}),
              HasSubstr("set protocol.execution = \"simulated\""));
  EXPECT_THAT(lag_refusal({{"kind", "bsp"}, {"lag", -1}}, {}), HasSubstr("must lie in 0..1000"));
  EXPECT_THAT(lag_refusal({{"kind", "bsp"}, {"lag", 1001}}, {}), HasSubstr("must lie in 0..1000"));
  EXPECT_THAT(lag_refusal({{"kind", "bsp"}, {"lag", 1.5}}, {}), HasSubstr("protocol.lag"));
}

}  // namespace
}  // namespace residuum
