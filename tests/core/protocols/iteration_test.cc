// Iterations that a protocol of a user's own makes, and the order of their steps.

#include "core/protocols/iteration.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
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
        : state_(state), exchange_(state.aggregator().template exchange<Real>()) {}
    StepEnd advance(std::uint64_t t) override {
      LocalSeconds none;
      auto computed = LockstepIteration<Real>(state_, t, t * 3).compute(1, none);
      auto compressed = std::move(computed).compress(none);
      const StepEnd end = compressed.end();
      if (end.diverged()) {
        return end;
      }
      exchange_->combine(state_.cluster(), compressed.contributions(), delivery_);
      if (t % 2 == 1) {
        delivery_.sum.clear();
      }
      std::move(compressed).update(delivery_).update_residuals();
      return end;
    }

   private:
    TrainingState<Real>& state_;
    std::unique_ptr<Exchange<Real>> exchange_;
    Delivery<Real> delivery_;
  };

  ProtocolLaw law(int /*workers*/) const override { return {}; }
  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const {
    return std::make_unique<EveryOtherLoop<Real>>(state);
  }
};

template <class Step>
concept CanCompute = requires(Step step, LocalSeconds& seconds) {
  std::move(step).compute(std::uint64_t{1}, seconds);
};
template <class Step>
concept CanCompress = requires(Step step, LocalSeconds& seconds) {
  std::move(step).compress(seconds);
};
template <class Step>
concept CanUpdate = requires(Step step, const Delivery<float>& delivery) {
  std::move(step).update(delivery);
};
template <class Step>
concept CanUpdateLate = requires(Step step,
                                 const Delivery<float>& delivery,
                                 const VersionParts<float>& parts) {
  std::move(step).update(delivery, parts);
};
template <class Step>
concept CanUpdateResiduals = requires(Step step) {
  std::move(step).update_residuals();
};
template <class Step>
concept CanFinish = requires(Step step,
                             const Delivery<float>& delivery,
                             const VersionParts<float>& parts) {
  std::move(step).finish(delivery, parts);
};

/// Says which steps may follow on one, in the order of the concepts above.
template <class Step>
constexpr std::array<bool, 6> kNext{CanCompute<Step>,
                                    CanCompress<Step>,
                                    CanUpdate<Step>,
                                    CanUpdateLate<Step>,
                                    CanUpdateResiduals<Step>,
                                    CanFinish<Step>};

TEST(Iterations, CompileInTheirOrderAlone) {
  using Next = std::array<bool, 6>;
  EXPECT_EQ(kNext<LockstepIteration<float>>, (Next{true, false, false, false, false, false}));
  EXPECT_EQ(kNext<Computed<float>>, (Next{false, true, false, false, false, false}));
  EXPECT_EQ(kNext<Compressed<float>>, (Next{false, false, true, false, false, false}));
  EXPECT_EQ(kNext<Updated<float>>, (Next{false, false, false, false, true, false}));
  EXPECT_EQ(kNext<LateIteration<float>>, (Next{false, false, false, true, false, false}));
  EXPECT_EQ(kNext<LateUpdate<float>>, (Next{false, false, false, false, false, true}));
  EXPECT_EQ(kNext<MixingIteration<float>>, Next{});
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
