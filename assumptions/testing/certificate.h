#pragma once
// The certificate of a recorded run holds for every scheme that conserves mass: with e = w - z, and
// f L-smooth,
//   sum eta_t |grad f(w_t)|^2 <= 2 (f(z_0) - f(z_T)) + L sum eta_t^2 |mean G_t|^2
//                                + L^2 sum eta_t |e_t|^2
// in expectation: descent along z, and <grad f(z), grad f(w)> >= (|grad f(w)|^2 - L^2 |e|^2) / 2.
// It needs no assumption on the sparsifier and no bounded gradients. With stochastic gradients,
// series are means over seeds; with exact ones the inequality holds for the single run.

#include <span>
#include <vector>

#include "assumptions/testing/laws.h"
#include "core/record/record.h"

namespace residuum::laws {

/// One entry per iteration t = 0, ..., T-1.
struct RecordedRun {
  double smoothness = 0;                  // L
  double first_value = 0;                 // f(z_0)
  double last_value = 0;                  // f(z_T), or what f is never below
  std::vector<double> step_size;          // eta_t
  std::vector<double> grad_norm_sq;       // |grad f(w_t)|^2
  std::vector<double> mean_grad_norm_sq;  // |mean over workers of G^p_t|^2
  std::vector<double> gap_norm_sq;        // |w_t - z_t|^2; the column of t - 1, and 0 at t = 0
};

/// The series from the rows of a run, those of iterations 0 to T-1 with f and |grad f|^2 evaluated
/// at each. A row or a number that is missing is a usage error.
RecordedRun recorded_run(std::span<const Row> rows, double smoothness, double last_value);

/// Both sides divided by the sum of the steps, the right one as its terms.
struct Certificate {
  double average = 0;       // of |grad f(w_t)|^2, weighted by the steps
  double optimisation = 0;  // from f(z_0) - f(z_T)
  double noise = 0;
  double residual = 0;
  double bound() const { return optimisation + noise + residual; }
};

/// Series of different length, or none, or numbers that are not finite are usage errors.
Certificate certificate_of(const RecordedRun& run);

Finding stays_under_certificate(const RecordedRun& run);

}  // namespace residuum::laws
