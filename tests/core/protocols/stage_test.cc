// The stage that a protocol acts on, driven by hand.

#include "core/protocols/stage.h"

#include <gtest/gtest.h>

#include <memory>
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
class EveryOther final : public Protocol {
 public:
  template <class Real>
  class EveryOtherLoop final : public Loop {
   public:
    explicit EveryOtherLoop(Stage<Real>& stage)
        : stage_(stage), exchange_(stage.aggregator().template exchange<Real>()) {}
    StepEnd advance(std::uint64_t t) override {
      stage_.begin(t, t * 3);
      stage_.compute(1);
      const StepEnd end = stage_.form();
      if (end.diverged()) {
        return end;
      }
      exchange_->combine(stage_.cluster(), stage_.contributions(), delivery_);
      if (t % 2 == 1) {
        delivery_.sum.clear();
      }
      stage_.update(delivery_);
      stage_.update_residual(delivery_);
      return end;
    }

   private:
    Stage<Real>& stage_;
    std::unique_ptr<Exchange<Real>> exchange_;
    Delivery<Real> delivery_;
  };

  ProtocolLaw law(int /*workers*/) const override { return {}; }
  std::unique_ptr<Loop> start(Stage<float>& stage) const override {
    return std::make_unique<EveryOtherLoop<float>>(stage);
  }
  std::unique_ptr<Loop> start(Stage<double>& stage) const override {
    return std::make_unique<EveryOtherLoop<double>>(stage);
  }
};

TEST(Protocols, MoveTheModelThroughTheStageAlone) {
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
