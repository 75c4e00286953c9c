// The gradients of a training outside: iteration t gives worker p the gradient that the training
// has computed in its step t, whatever the methods of this study would have done to its model. As
// with recorded gradients, nothing is known of an f.

#include <algorithm>

#include "core/gradient_source.h"
#include "objectives/registry.h"
#include "objectives/without_function.h"

namespace residuum {
namespace {

class Live final : public WithoutFunction<Live> {
 public:
  explicit Live(GradientSource& source) : source_(source) {}

  GradientSource* source() const override { return &source_; }

  std::size_t dimension() const override { return source_.dimension(); }
  std::vector<Layer> layers() const override { return source_.layers(); }
  DataInfo data() const override {
    return {.name = "live",
            .samples = 0,
            .features = source_.dimension(),
            .fingerprint = {},
            .note = source_.description(),
            .gradients_of = source_.description()};
  }

  Facts facts() const override {
    Facts facts;
    facts.gradient_bias = "the gradients are those of a training outside, and its f is not known";
    return facts;
  }

  template <class Real>
  void take(const Draw& draw, std::span<Real> gradient) const {
    const auto given = source_.gradient(draw.worker);
    std::copy(given.begin(), given.end(), gradient.begin());
  }

 private:
  GradientSource& source_;
};

std::unique_ptr<Objective> make_live(const Section& section, const ObjectiveContext& context) {
  require(context.source != nullptr,
          "{}: its gradients come from a training: attach the study to it, by residuum.py or "
          "residuum_live.h",
          section.where("kind"));
  return std::make_unique<Live>(*context.source);
}

}  // namespace

const ObjectiveEntry& live_objective() {
  static constexpr ObjectiveEntry kEntry{
      .name = "live",
      .summary = "gradients of a training of yours while it runs; no f is known",
      .source = "Residuum",
      .example = "",
      .make = make_live};
  return kEntry;
}

}  // namespace residuum
