// What class of compressors the sparsifier behaves like on the accumulators that it meets
// (Beznosikov, Horvath, Richtarik, Safaryan 2020): over the workers of one iteration the worst of
//   alpha = |C(a)|^2 / |a|^2,  beta = |C(a)|^2 / <C(a), a>,  gamma = <C(a), a> / |a|^2,
//   delta = 1 / (1 - |C(a) - a|^2 / |a|^2),
// of one draw each. A mask without scaling has beta = 1 and alpha = gamma = 1/delta.

#include <algorithm>
#include <limits>

#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class CompressorProbe final : public Probe {
 public:
  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    const double infinity = std::numeric_limits<double>::infinity();
    double alpha = infinity;
    double beta = 0;
    double gamma = infinity;
    double delta = 0;
    for (const auto& scalars : view.worker_scalars) {
      const double whole = scalars.accumulator_norm_sq;
      if (whole == 0) {
        continue;
      }
      alpha = std::min(alpha, scalars.sent_norm_sq / whole);
      gamma = std::min(gamma, scalars.sent_dot / whole);
      if (scalars.sent_dot > 0) {
        beta = std::max(beta, scalars.sent_norm_sq / scalars.sent_dot);
      }
      const double kept = (2 * scalars.sent_dot - scalars.sent_norm_sq) / whole;
      delta = std::max(delta, kept > 0 ? 1 / kept : infinity);
    }
    if (delta == 0) {
      return;  // nothing has accumulated
    }
    row.set(Column::compressor_alpha, alpha);
    row.set(Column::compressor_gamma, gamma);
    row.set(Column::compressor_delta, delta);
    if (beta > 0) {
      row.set(Column::compressor_beta, beta);
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_compressor_probe(const Section& /*section*/) {
  return std::make_unique<CompressorProbe>();
}

}  // namespace residuum
