// This probe evaluates f at the average of the iterates, with the weights of the step rule's
// theorem: (a + t)^2 for inv-time (Mem-SGD, Stich et al., NeurIPS 2018), equal ones for every other
// rule.

#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class AverageProbe final : public Probe {
 public:
  std::vector<Column> columns() const override { return {Column::averaged_loss_gap}; }
  Needs needs() const override { return {.averages_iterates = true}; }

  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    if (view.evaluations.averaged_loss && view.facts.objective.minimum) {
      row.set(Column::averaged_loss_gap,
              *view.evaluations.averaged_loss - view.facts.objective.minimum->value);
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_average_probe(const Section& /*section*/) {
  return std::make_unique<AverageProbe>();
}

}  // namespace residuum
