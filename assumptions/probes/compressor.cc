// This probe measures what class of compressors the sparsifier behaves like on the accumulators
// that it meets (Beznosikov, Horvath, Richtarik, Safaryan 2020). It takes the worst over the
// messages of one iteration of
//   alpha = |C(a)|^2 / |a|^2,  beta = |C(a)|^2 / <C(a), a>,  gamma = <C(a), a> / |a|^2,
//   delta = 1 / (1 - |C(a) - a|^2 / |a|^2),
// each from one draw. A mask without scaling has beta = 1 and alpha = gamma = 1/delta.

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class CompressorProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::compressor_alpha,
            Column::compressor_beta,
            Column::compressor_gamma,
            Column::compressor_delta};
  }
  Needs needs() const override { return {.gradients = true}; }

  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    std::optional<CompressorConstants> worst;
    for (const auto& scalars : view.contributions()) {
      const auto one =
          compressor_constants(scalars.accumulator_norm_sq, scalars.sent_norm_sq, scalars.sent_dot);
      if (one) {
        worst = worst ? worse(*worst, *one) : *one;
      }
    }
    if (!worst) {
      return;  // nothing has accumulated
    }
    row.set(Column::compressor_alpha, worst->alpha);
    row.set(Column::compressor_gamma, worst->gamma);
    row.set(Column::compressor_delta, worst->delta);
    if (worst->beta > 0) {
      row.set(Column::compressor_beta, worst->beta);
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_compressor_probe(const Section& /*section*/) {
  return std::make_unique<CompressorProbe>();
}

}  // namespace residuum
