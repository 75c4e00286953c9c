// This probe measures the terms of the measured-residual certificate: f at the virtual iterate and
// the sums over all iterations so far of eta, eta^2 |mean G|^2 and eta |w - z|^2. The sums are
// exact whatever the cadence of the measurements is. If momentum, weight decay or clipping make z
// another sequence, it measures these terms of the unperturbed iterate u
// too (core/measurement/iterates.h).

#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class CertificateProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::step_sum,
            Column::noise_sum,
            Column::gap_sum,
            Column::virtual_loss,
            Column::unperturbed_step_sum,
            Column::unperturbed_noise_sum,
            Column::unperturbed_gap_sum,
            Column::unperturbed_loss,
            Column::decayed_grad_norm_sq};
  }
  Needs needs() const override {
    return {.virtual_loss = true, .unperturbed = true, .iterate = true, .gradients = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    row.set(Column::step_sum, view.iterates.sums.step);
    row.set(Column::noise_sum, view.iterates.sums.noise);
    row.set(Column::gap_sum, view.iterates.sums.gap);
    if (view.evaluations.virtual_loss) {
      row.set(Column::virtual_loss, *view.evaluations.virtual_loss);
    }
    if (view.iterates.unperturbed_sums) {
      observe_unperturbed(view, row);
    }
  }

 private:
  static void observe_unperturbed(const StepView& view, Row& row) {
    row.set(Column::unperturbed_step_sum, view.iterates.unperturbed_sums->step);
    row.set(Column::unperturbed_noise_sum, view.iterates.unperturbed_sums->noise);
    row.set(Column::unperturbed_gap_sum, view.iterates.unperturbed_sums->gap);
    if (view.evaluations.unperturbed_loss) {
      row.set(Column::unperturbed_loss, *view.evaluations.unperturbed_loss);
    }
    if (view.evaluations.decayed_grad_norm_sq) {
      row.set(Column::decayed_grad_norm_sq, *view.evaluations.decayed_grad_norm_sq);
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_certificate_probe(const Section& /*section*/) {
  return std::make_unique<CertificateProbe>();
}

}  // namespace residuum
