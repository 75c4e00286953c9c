#include "assumptions/details/worker_details.h"

#include <fmt/format.h>

#include <algorithm>

namespace residuum {
namespace {

void set_memory(const WorkerScalars& scalars, DetailRow& row) {
  row.set(WorkerColumn::worker_accumulator_norm_sq, scalars.accumulator_norm_sq);
  row.set(WorkerColumn::residual_norm_sq, scalars.residual_norm_sq);
  row.set(WorkerColumn::residual_norm_inf, scalars.residual_norm_inf);
  row.set(WorkerColumn::sent_norm_sq, scalars.sent_norm_sq);
  row.set(WorkerColumn::total_error, scalars.total_error);
}

bool is_absent(const StepView& view, int worker) {
  return view.run.leaves_out &&
         !std::binary_search(view.contributors.begin(), view.contributors.end(), worker);
}

/// A worker without a part in the version has no gradient, accumulator or message: those cells stay
/// empty.
void set_rest(const WorkerScalars& scalars, DetailRow& row) {
  row.set(WorkerColumn::residual_norm_sq, scalars.residual_norm_sq);
  row.set(WorkerColumn::residual_norm_inf, scalars.residual_norm_inf);
  row.set(WorkerColumn::total_error, scalars.total_error);
  row.set(WorkerColumn::total_nnz_sent, scalars.total_nnz);
}

}  // namespace

void write_worker_details(const StepView& view, Recorder& recorder) {
  for (std::size_t worker = 0; worker < view.worker_scalars.size(); ++worker) {
    const WorkerScalars& scalars = view.worker_scalars[worker];
    DetailRow row(kWorkersTable, view.iteration, fmt::format("{}", worker));
    if (is_absent(view, static_cast<int>(worker))) {
      set_rest(scalars, row);
      recorder.write_detail(row);
      continue;
    }
    row.set(WorkerColumn::nnz_sent, scalars.nnz_sent);
    row.set(WorkerColumn::worker_grad_norm_sq,
            view.run.steps_locally ? scalars.step_grad_norm_sq : scalars.gradient_norm_sq);
    if (view.run.exchanges_gradients) {
      set_memory(scalars, row);
    }
    if (view.run.batch_is_exact) {
      row.set(WorkerColumn::noise_variance, 0);  // a whole shard has none
    } else if (view.halves) {
      row.set(WorkerColumn::noise_variance, scalars.noise_variance);
    }
    row.set(WorkerColumn::total_nnz_sent, scalars.total_nnz);
    recorder.write_detail(row);
  }
}

}  // namespace residuum
