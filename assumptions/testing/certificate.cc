#include "assumptions/testing/certificate.h"

#include <cmath>

namespace residuum::laws {
namespace {

/// Relative room for the rounding of the sums.
constexpr double kBoundRounding = 1e-12;

double needed(const Row& row, Column column) {
  const auto value = row.get(column);
  require(value.has_value(),
          "iteration {} has no {}: the certificate needs it of every iteration",
          row.iteration(),
          kColumns[static_cast<std::size_t>(column)].name);
  return *value;
}

}  // namespace

RecordedRun recorded_run(std::span<const Row> rows, double smoothness, double last_value) {
  RecordedRun run;
  run.smoothness = smoothness;
  run.last_value = last_value;
  double gap = 0;  // z_0 = w_0; a row has the gap after its step
  for (const Row& row : rows) {
    require(row.iteration() == run.step_size.size(),
            "iteration {} stands where {} belongs: the certificate needs every iteration",
            row.iteration(),
            run.step_size.size());
    run.step_size.push_back(needed(row, Column::step_size));
    run.grad_norm_sq.push_back(needed(row, Column::grad_norm_sq));
    run.mean_grad_norm_sq.push_back(needed(row, Column::mean_grad_norm_sq));
    run.gap_norm_sq.push_back(gap);
    gap = needed(row, Column::gap_norm_sq);
  }
  if (!rows.empty()) {
    run.first_value = needed(rows.front(), Column::loss);
  }
  return run;
}

Certificate certificate_of(const RecordedRun& run) {
  const std::size_t iterations = run.step_size.size();
  require(iterations > 0, "a recorded run needs at least one iteration");
  require(run.grad_norm_sq.size() == iterations && run.mean_grad_norm_sq.size() == iterations &&
              run.gap_norm_sq.size() == iterations,
          "the series of a recorded run must be of one length: step_size has {}, grad_norm_sq {}, "
          "mean_grad_norm_sq {}, gap_norm_sq {}",
          iterations,
          run.grad_norm_sq.size(),
          run.mean_grad_norm_sq.size(),
          run.gap_norm_sq.size());
  const double smoothness = run.smoothness;
  double steps = 0;
  Certificate sums{.optimisation = 2 * (run.first_value - run.last_value)};
  for (std::size_t t = 0; t < iterations; ++t) {
    const double eta = run.step_size[t];
    steps += eta;
    sums.average += eta * run.grad_norm_sq[t];
    sums.noise += smoothness * eta * eta * run.mean_grad_norm_sq[t];
    sums.residual += smoothness * smoothness * eta * run.gap_norm_sq[t];
  }
  require(steps > 0 && std::isfinite(steps) && std::isfinite(sums.average) &&
              std::isfinite(sums.bound()),
          "a recorded run needs finite numbers and positive steps");
  return {.average = sums.average / steps,
          .optimisation = sums.optimisation / steps,
          .noise = sums.noise / steps,
          .residual = sums.residual / steps};
}

Finding stays_under_certificate(const RecordedRun& run) {
  const Certificate found = certificate_of(run);
  return {found.average <= found.bound() * (1 + kBoundRounding),
          fmt::format("the weighted average of |grad f|^2 is {:.7g}, the certificate {:.7g}: "
                      "optimisation {:.7g}, noise {:.7g}, residual {:.7g}",
                      found.average,
                      found.bound(),
                      found.optimisation,
                      found.noise,
                      found.residual)};
}

}  // namespace residuum::laws
