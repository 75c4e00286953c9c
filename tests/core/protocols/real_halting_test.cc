// Trainings over real processes that are halted: for a checkpoint, on request, and on other
// processes later.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "tests/core/protocols/real_support.h"

namespace residuum {
namespace {

using test::Json;
using test::real;
using test::RealRun;
using test::Recipe;
using test::recipe_of;
using test::run_really;

/// Keeps the state of a run in memory, and asks for a halt after a number of versions.
class KeptState final : public Checkpoints {
 public:
  explicit KeptState(std::vector<std::byte>& bytes, std::uint64_t& saved_at, int every)
      : bytes_(bytes), saved_at_(saved_at), every_(every) {}
  void use(const Cluster& cluster) { cluster_ = &cluster; }

  std::uint64_t load(const SaveOrLoad& state) override {
    std::int64_t at = static_cast<std::int64_t>(saved_at_);
    cluster_->world().broadcast(0, std::as_writable_bytes(std::span(&at, 1)));
    if (at > 0) {
      pass(state, RunState::Direction::load);
    }
    return static_cast<std::uint64_t>(at);
  }
  bool due() override { return every_ > 0 && ++asked_ % every_ == 0; }
  void save(std::uint64_t iterations, const SaveOrLoad& state) override {
    if (cluster_->world().is_root()) {
      bytes_.clear();
      saved_at_ = iterations;
    }
    pass(state, RunState::Direction::save);
  }

 private:
  void pass(const SaveOrLoad& state, RunState::Direction direction) {
    StateWriter writer(bytes_);
    StateReader reader(bytes_);
    StateStream& stream = direction == RunState::Direction::load
                              ? static_cast<StateStream&>(reader)
                              : static_cast<StateStream&>(writer);
    RunState run(*cluster_, cluster_->world().is_root() ? &stream : nullptr, direction);
    state(run);
  }

  std::vector<std::byte>& bytes_;
  std::uint64_t& saved_at_;
  int every_;
  int asked_ = 0;
  const Cluster* cluster_ = nullptr;
};

/// The checkpoints of all ranks of one run.
class KeptStates {
 public:
  KeptStates(std::vector<std::byte>& bytes, std::uint64_t& saved_at, int every) {
    for (int rank = 0; rank < 5; ++rank) {
      states_.push_back(std::make_unique<KeptState>(bytes, saved_at, rank == 0 ? every : 0));
    }
    clusters_.resize(5);
  }
  Checkpoints* of(const Cluster& cluster) {
    const auto rank = static_cast<std::size_t>(cluster.world().rank());
    clusters_[rank].emplace(cluster);
    states_[rank]->use(*clusters_[rank]);
    return states_[rank].get();
  }

 private:
  std::vector<std::unique_ptr<KeptState>> states_;
  std::vector<std::optional<Cluster>> clusters_;
};

/// The gradient is 1 on 3 entries, of which each message sends one, and the step is 1/8: each
/// gradient that is computed puts 3/8 into updates and residuals, whatever is halted meanwhile.
TEST(HaltedRealRuns, LoseNothingWhenTheyAreHaltedAndResumedOnOtherProcesses) {
  std::atomic<std::uint64_t> computed = 0;
  const test::TinyObjective objective(
      {0, 0, 0},
      [&](const Draw& /*draw*/, std::span<const double> /*w*/, std::span<double> gradient) {
        std::fill(gradient.begin(), gradient.end(), 1.0);
        ++computed;
      });
  const std::vector<Json> sections = {
      {{"kind", "ssp"}, {"staleness", 2}},
      {{"kind", "inhad"}, {"nodes", 2}, {"quota", 3}, {"staleness", 2}, {"cap", 4}}};
  for (const Json& section : sections) {
    SCOPED_TRACE(section.dump());
    const auto protocol = real(section);
    std::vector<std::byte> bytes;
    std::uint64_t saved_at = 0;
    double given = 0;
    computed = 0;
    std::uint64_t contributions = 0;
    for (const int processes : {3, 2, 3}) {
      std::atomic<bool> stop = false;
      Recipe recipe = recipe_of(*protocol, 4, saved_at + 30);
      recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
      recipe.aggregator = {{"kind", "allgather"}};
      recipe.step = {{"value", 0.125}};
      recipe.stop = &stop;
      KeptStates states(bytes, saved_at, 7);
      const RealRun run = run_really(
          processes, objective, recipe, [&](const Cluster& cluster) { return states.of(cluster); });
      ASSERT_EQ(run.outcomes.front().state, Outcome::State::finished);
      for (const auto& frame : run.frames) {
        EXPECT_EQ(frame.notes->total_contributions, contributions + frame.notes->contributions);
        contributions = frame.notes->total_contributions;
        // w - w' is the mean of the messages of a version.
        given += std::accumulate(frame.update.begin(), frame.update.end(), 0.0);
      }
      ASSERT_EQ(saved_at % 30, 0U);
    }
    ASSERT_EQ(saved_at, 90U);
    // The residuals of the 4 workers, e^p >= 0, hold all that was computed but not given.
    StateReader numbers(bytes);
    const auto read = [&](std::size_t count) {
      std::vector<double> values(count);
      numbers.pass(std::as_writable_bytes(std::span(values)));
      return values;
    };
    const auto model = read(3);  // w, then the scalars of the workers
    static_cast<void>(read(4 * sizeof(WorkerScalars) / sizeof(double)));
    const auto residuals = read(12);
    EXPECT_THAT(residuals, ::testing::Each(::testing::Ge(0)));
    // Sums of eighths are exact.
    const double held = std::accumulate(residuals.begin(), residuals.end(), 0.0);
    EXPECT_EQ(given + held, 3 * 0.125 * static_cast<double>(computed));
    EXPECT_GE(computed, contributions);
    EXPECT_LT(model.front(), 0);
  }
}

/// A checkpoint is due again at once, as it is where f takes longer than the time between two.
TEST(HaltedRealRuns, MakeAVersionBetweenTwoCheckpoints) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const auto asp = real({{"kind", "asp"}});
  std::vector<std::byte> bytes;
  std::uint64_t saved_at = 0;
  KeptStates states(bytes, saved_at, 1);
  const RealRun run = run_really(3, objective, recipe_of(*asp, 2, 30), [&](const Cluster& cluster) {
    return states.of(cluster);
  });
  EXPECT_EQ(run.outcomes.front().state, Outcome::State::finished);
  EXPECT_EQ(run.frames.size(), 30U);
  EXPECT_EQ(saved_at, 30U);
}

TEST(HaltedRealRuns, StopOnRequestAndSaveAtAVersion) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.3);
  const auto asp = real({{"kind", "asp"}});
  std::atomic<bool> stop = false;
  std::vector<std::byte> bytes;
  std::uint64_t saved_at = 0;
  KeptStates states(bytes, saved_at, 0);
  Recipe recipe = recipe_of(*asp, 2, 100'000'000);
  recipe.measured = Json{{"geometric", 2.0}};
  recipe.evaluated = std::nullopt;
  recipe.stop = &stop;
  std::jthread clock([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const RealRun run =
      run_really(3, objective, recipe, [&](const Cluster& cluster) { return states.of(cluster); });
  for (const Outcome& outcome : run.outcomes) {
    EXPECT_EQ(outcome.state, Outcome::State::stopped);
    EXPECT_EQ(outcome.iterations, saved_at);
  }
  EXPECT_GT(saved_at, 0U);
}

/// A version of 20'000 gradients of a millisecond takes 10 s; only the root is asked to stop.
TEST(HaltedRealRuns, StopOnRequestWhileNoVersionIsMade) {
  const test::TinyObjective objective(
      {0, 0}, [](const Draw& /*draw*/, std::span<const double> /*w*/, std::span<double> gradient) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::fill(gradient.begin(), gradient.end(), 1.0);
      });
  const auto inhad = real({{"kind", "inhad"}, {"nodes", 2}, {"quota", 20'000}, {"cap", 10'000}});
  std::atomic<bool> stop = false;
  std::jthread clock([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  std::vector<Outcome> outcomes(3);
  test::on_real_processes(3, [&](World& world, MessageQueue& queue) {
    Recipe own = recipe_of(*inhad, 2, 3);
    own.queue = &queue;
    own.stop = world.is_root() ? &stop : nullptr;
    test::FrameKeeper keeper;
    outcomes[static_cast<std::size_t>(world.rank())] = train(world, objective, own, keeper);
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.state, Outcome::State::stopped);
    EXPECT_EQ(outcome.iterations, 0U);
  }
}

}  // namespace
}  // namespace residuum
