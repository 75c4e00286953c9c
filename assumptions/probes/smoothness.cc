// This probe measures the smoothness L that the theorems use, as the run meets it: |grad f(w_t) -
// grad f(z_t)| / |w_t - z_t|, which is all that the certificate needs of L; the secant between
// successive evaluated models (a lower bound of L); the smallest L with which the descent
// inequality of z holds; and the largest curvature by power iteration. If the objective knows its
// L, it is in status.json.

#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class SmoothnessProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::smoothness_gap,
            Column::smoothness_secant,
            Column::smoothness_descent,
            Column::smoothness_power};
  }
  Needs needs() const override {
    return {.compares_points = true, .power = true, .iterate = true, .gradients = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    set(row, Column::smoothness_gap, view.evaluations.smoothness_gap);
    set(row, Column::smoothness_secant, view.evaluations.smoothness_secant);
    set(row, Column::smoothness_descent, view.evaluations.smoothness_descent);
    set(row, Column::smoothness_power, view.evaluations.smoothness_power);
  }

 private:
  static void set(Row& row, Column column, const std::optional<double>& value) {
    if (value) {
      row.set(column, *value);
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_smoothness_probe(const Section& /*section*/) {
  return std::make_unique<SmoothnessProbe>();
}

}  // namespace residuum
