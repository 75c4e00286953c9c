// This probe measures the shape of the sorted mean accumulator: its tail ratio |a - Top_k a|^2 /
// |a|^2 against the bound that holds for convex sorted squares, and how convex these are (Shi, Chu,
// Cheung, See, 2019; the published (1 - k/d)^2 needs a vanishing smallest magnitude besides). It
// sorts, and therefore runs rarely.

#include "assumptions/estimators/tail_bound.h"
#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class TailProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::tail_ratio, Column::tail_bound, Column::tail_convexity};
  }
  Needs needs() const override {
    return {.sorts = true, .gradients = true, .mean_accumulator = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    const auto k = static_cast<std::size_t>(view.selection.k);
    if (!view.exchanges_gradients() || !view.sorts || k < 1 || k >= view.dimension()) {
      return;
    }
    const TailShape shape = tail_shape(view.mean.accumulator, k);
    if (shape.bound == 0) {
      return;  // nothing has accumulated
    }
    row.set(Column::tail_ratio, shape.ratio);
    row.set(Column::tail_bound, shape.bound);
    row.set(Column::tail_convexity, shape.convexity);
    checks.push_back({.iteration = view.iteration,
                      .name = "tail-claim",
                      .worker = std::nullopt,
                      .lhs = shape.ratio,
                      .rhs = shape.claim,
                      .holds = shape.ratio <= shape.claim,
                      .hard = false,
                      .expected = true});
  }
};

}  // namespace

std::unique_ptr<Probe> make_tail_probe(const Section& /*section*/) {
  return std::make_unique<TailProbe>();
}

}  // namespace residuum
