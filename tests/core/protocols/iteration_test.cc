// Iterations that a protocol of a user's own makes, and the order of their steps.

#include "core/protocols/iteration.h"

#include <gtest/gtest.h>

#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/protocols/protocol.h"
#include "core/trainer/trainer.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Recipe;

Recipe compressed_recipe() {
  Recipe recipe;
  recipe.workers = 3;
  recipe.iterations = 5;
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
  recipe.aggregator = {{"kind", "allgather"}};
  return recipe;
}

/// A protocol that a user could write: every other exchange is thrown away, so that no worker's
/// message is ever applied in it.
class EveryOther final : public ProtocolFor<EveryOther> {
 public:
  template <class Real>
  class EveryOtherLoop final : public Loop {
   public:
    explicit EveryOtherLoop(TrainingState<Real>& state)
        : state_(state), exchange_(state.aggregator(), state.cluster(), state.participants()) {}
    StepEnd advance(std::uint64_t t) override {
      LocalSeconds none;
      auto computed = LockstepIteration<Real>(state_, t, t * 3).compute(1, none);
      auto [end, compressed] = std::move(computed).compress(none);
      if (!compressed) {
        return end;
      }
      auto combined = std::move(*compressed).combine(exchange_, exchanged_);
      if (t % 2 == 1) {
        exchanged_.sum.clear();
      }
      std::move(combined).update().update_residuals();
      return end;
    }

   private:
    TrainingState<Real>& state_;
    ParticipantExchange<Real> exchange_;
    ExchangeResult<Real> exchanged_;
  };

  ProtocolLaw law(int /*workers*/) const override { return {}; }
  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const {
    return std::make_unique<EveryOtherLoop<Real>>(state);
  }
};

// The calls that a Step of an order allows. Each step consumes the object that it is called on.
template <class Step>
concept CanCompute = requires(Step step, LocalSeconds& seconds) {
  std::move(step).compute(std::uint64_t{1}, seconds);
};
template <class Step>
concept CanCompress = requires(Step step, LocalSeconds& seconds) {
  std::move(step).compress(seconds);
};
template <class Step>
concept CanCombine = requires(Step step,
                              ParticipantExchange<float>& exchange,
                              ExchangeResult<float>& exchanged) {
  std::move(step).combine(exchange, exchanged);
};
template <class Step>
concept CanUpdate = requires(Step step) {
  std::move(step).update();
}
|| requires(Step step, const ExchangeResult<float>& exchanged) {
  std::move(step).update(exchanged);
}
|| requires(Step step, const ExchangeResult<float>& exchanged, const VersionParts<float>& parts) {
  std::move(step).update(exchanged, parts);
};
template <class Step>
concept CanUpdateResiduals = requires(Step step) {
  std::move(step).update_residuals();
};
template <class Step>
concept CanAgree = requires(Step step) {
  std::move(step).agree();
}
|| requires(Step step, const StepEnd& seen) { std::move(step).agree(seen); };
template <class Step>
concept CanEndOnServer = requires(Step step) {
  std::move(step).end_on_server();
};
template <class Step>
concept CanFinish = requires(Step step) {
  std::move(step).finish();
};
template <class Step>
concept CanMove = requires(Step step,
                           std::span<const double> mean,
                           const ExchangeResult<float>& exchanged,
                           const VersionNotes& notes) {
  std::move(step).move_to(mean, exchanged, notes);
};
/// A step that leaves its object, or of an object that can be copied, could be taken twice.
template <class Step>
concept CanStepAndStay = requires(Step step, LocalSeconds& seconds) {
  step.compute(std::uint64_t{1}, seconds);
}
|| requires(Step step, LocalSeconds& seconds) { step.compress(seconds); }
|| requires(Step step, ParticipantExchange<float>& exchange, ExchangeResult<float>& exchanged) {
  step.combine(exchange, exchanged);
}
|| requires(Step step) { step.update(); }
|| requires(Step step, const ExchangeResult<float>& exchanged, const VersionParts<float>& parts) {
  step.update(exchanged, parts);
}
|| requires(Step step) { step.update_residuals(); }
|| requires(Step step) { step.agree(); }
|| requires(Step step, const StepEnd& seen) { step.agree(seen); }
|| requires(Step step) { step.finish(); }
|| std::copy_constructible<Step>;
/// Compressed messages must not leave an iteration, else they could be exchanged again.
template <class Step>
concept HasContributions = requires(const Step& step) {
  step.contributions();
};

/// Counts the steps that may follow on one.
template <class Step>
constexpr int kSteps = int{CanCompute<Step>} + int{CanCompress<Step>} + int{CanCombine<Step>} +
                       int{CanUpdate<Step>} + int{CanUpdateResiduals<Step>} + int{CanAgree<Step>} +
                       int{CanEndOnServer<Step>} + int{CanFinish<Step>} + int{CanMove<Step>};
template <class Step>
constexpr bool kIsTakenOnce = !CanStepAndStay<Step> && !HasContributions<Step>;

// A wrong order, such as an exchange of gradients that were not computed, or of messages that were
// exchanged before, does not compile.
static_assert(CanCompute<LockstepIteration<float>> && kSteps<LockstepIteration<float>> == 1);
static_assert(CanCompress<Computed<float>> && kSteps<Computed<float>> == 1);
static_assert(kSteps<Agreed<Compressed<float>>> == 0);  // it may have diverged
static_assert(CanCombine<Compressed<float>> && kSteps<Compressed<float>> == 1);
static_assert(CanUpdate<Combined<float>> && kSteps<Combined<float>> == 1);
static_assert(CanUpdateResiduals<Updated<float>> && kSteps<Updated<float>> == 1);

static_assert(CanAgree<LateIteration<float>> && CanEndOnServer<LateIteration<float>>);
static_assert(kSteps<LateIteration<float>> == 2);
static_assert(kSteps<Agreed<LateComputed<float>>> == 0);
static_assert(CanUpdate<LateComputed<float>> && kSteps<LateComputed<float>> == 1);
static_assert(CanFinish<LateUpdated<float>> && kSteps<LateUpdated<float>> == 1);

static_assert(CanAgree<MixingIteration<float>> && kSteps<MixingIteration<float>> == 1);
static_assert(kSteps<Agreed<MixingComputed<float>>> == 0);
static_assert(CanMove<MixingComputed<float>> && kSteps<MixingComputed<float>> == 1);

static_assert(kIsTakenOnce<LockstepIteration<float>> && kIsTakenOnce<Computed<float>> &&
              kIsTakenOnce<Compressed<float>> && kIsTakenOnce<Combined<float>> &&
              kIsTakenOnce<Updated<float>> && kIsTakenOnce<LateIteration<float>> &&
              kIsTakenOnce<LateComputed<float>> && kIsTakenOnce<LateUpdated<float>> &&
              kIsTakenOnce<MixingIteration<float>> && kIsTakenOnce<MixingComputed<float>>);

/// Only the step before can make what takes a step, but for the first of an order.
template <class Step, class... Given>
concept IsMadeOf = std::constructible_from<Step, Given...>;
using State = TrainingState<float>;
static_assert(IsMadeOf<LockstepIteration<float>, State&, std::uint64_t, std::uint64_t>);
static_assert(!IsMadeOf<Computed<float>, State&, std::uint64_t, std::uint64_t>);
static_assert(!IsMadeOf<Computed<float>, LockstepIteration<float>>);
static_assert(!IsMadeOf<Compressed<float>, Computed<float>>);
static_assert(!IsMadeOf<Combined<float>, Compressed<float>, const ExchangeResult<float>&>);
static_assert(!IsMadeOf<Updated<float>, Combined<float>, const ExchangeResult<float>&>);
static_assert(!IsMadeOf<LateComputed<float>, LateIteration<float>>);
static_assert(!IsMadeOf<MixingComputed<float>, MixingIteration<float>>);

// An update is clipped once it was taken, and moves the model once it was clipped.
template <class Given>
concept CanBeClipped = requires(const ModelUpdate<float>& update, Given given) {
  update.clip(std::move(given), 1.0);
};
template <class Given>
concept CanBeApplied = requires(ModelUpdate<float>& update,
                                Given given,
                                std::span<double> model,
                                std::span<float> working_model) {
  update.apply(std::move(given), 1.0, model, working_model);
};
static_assert(CanBeClipped<MeanUpdate<float>> && !CanBeApplied<MeanUpdate<float>>);
static_assert(!CanBeClipped<ClippedUpdate<float>> && CanBeApplied<ClippedUpdate<float>>);
static_assert(!CanBeClipped<ExchangeResult<float>> && !CanBeApplied<ExchangeResult<float>>);
static_assert(!std::copy_constructible<MeanUpdate<float>>);
static_assert(!std::copy_constructible<ClippedUpdate<float>>);

/// A protocol that takes a step of each version twice, as the compiler cannot see.
class Repeating final : public ProtocolFor<Repeating> {
 public:
  template <class Real>
  class RepeatingLoop final : public Loop {
   public:
    explicit RepeatingLoop(TrainingState<Real>& state) : state_(state) {}
    StepEnd advance(std::uint64_t t) override {
      LocalSeconds none;
      LockstepIteration<Real> begun(state_, t, t * 3);
      static_cast<void>(std::move(begun).compute(1, none));
      return std::move(begun).compute(1, none).compress(none).end;
    }

   private:
    TrainingState<Real>& state_;
  };

  ProtocolLaw law(int /*workers*/) const override { return {}; }
  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const {
    return std::make_unique<RepeatingLoop<Real>>(state);
  }
};

TEST(IterationsDeathTest, TakeNoStepTwice) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const Repeating repeating;
  Recipe recipe = compressed_recipe();
  recipe.protocol = &repeating;
  test::FrameKeeper seen;
  const auto world = make_single_process();
  EXPECT_DEATH(test::train(*world, objective, recipe, seen), "state_ != nullptr");
}

TEST(Protocols, MoveTheModelByIterationsAlone) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const EveryOther every_other;
  Recipe recipe = compressed_recipe();
  recipe.protocol = &every_other;
  test::FrameKeeper seen;
  const auto world = make_single_process();
  test::train(*world, objective, recipe, seen);

  ASSERT_EQ(seen.frames.size(), 5U);
  EXPECT_NE(seen.frames[0].model, std::vector<double>(6, 0.5));
  EXPECT_EQ(seen.frames[1].model, seen.frames[0].model);
  EXPECT_NE(seen.frames[2].model, seen.frames[1].model);
  // The messages that were thrown away are lost, and the conservation of gradients shows it.
  EXPECT_LT(seen.frames[0].conservation_defect(), 1e-12);
  EXPECT_GT(seen.frames[1].conservation_defect(), 1e-3);
}

TEST(Protocols, AreBulkSynchronousUnlessAnotherIsGiven) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const auto world = make_single_process();
  test::FrameKeeper by_default;
  test::train(*world, objective, compressed_recipe(), by_default);
  Recipe recipe = compressed_recipe();
  recipe.protocol = &bulk_synchronous();
  test::FrameKeeper named;
  test::train(*world, objective, recipe, named);
  ASSERT_EQ(by_default.frames.size(), named.frames.size());
  EXPECT_EQ(by_default.frames.back().model, named.frames.back().model);
}

TEST(Protocols, HaveALawThatReportsCanRead) {
  for (const auto& entry : protocols()) {
    const auto protocol = make_protocol(example_section("protocol", entry));
    const auto name = name_of(protocol->law(4).synchrony);
    EXPECT_EQ(synchrony_of(name), protocol->law(4).synchrony) << entry.name;
  }
  EXPECT_EQ(synchrony_of("at leisure"), std::nullopt);
}

}  // namespace
}  // namespace residuum
