#include "assumptions/detail_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "assumptions/probes/probe.h"
#include "core/measurement/magnitudes.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Counts the entries of the list that lie in the layer.
double entries_in(const SparseVector<double>& list, const Layer& layer) {
  const auto& indices = list.indices;
  const auto first = std::lower_bound(indices.begin(), indices.end(), layer.offset);
  const auto last = std::lower_bound(first, indices.end(), layer.offset + layer.size);
  return static_cast<double>(last - first);
}

double sent(const StepView& view, const Layer& layer) {
  if (view.exchange.sent_everything) {
    return static_cast<double>(layer.size * view.contributions().size());
  }
  double entries = 0;
  for (const auto& list : view.exchange.sent) {
    entries += entries_in(list, layer);
  }
  return entries;
}

double applied(const StepView& view, const Layer& layer) {
  if (!view.exchange.is_dense) {
    return entries_in(*view.exchange.update, layer);
  }
  const auto values = view.exchange.dense_update.subspan(layer.offset, layer.size);
  return static_cast<double>(
      std::count_if(values.begin(), values.end(), [](double value) { return value != 0; }));
}

double random_entries(const StepView& view, const NumberedLayer& numbered, double sent_entries) {
  if (!view.selection.by_layer) {
    return view.rho() * static_cast<double>(numbered.layer.size);
  }
  return view.selection.layer_k.empty()
             ? sent_entries / static_cast<double>(view.contributions().size())
             : view.selection.layer_k.at(numbered.number);
}

void set_delta(const StepView& view, const Layer& layer, double rho, double total, DetailRow& row) {
  const SelectionError error = selection_error(view, layer.offset, layer.size);
  if (total == 0 && error.inside <= rounding_of_sum_sq(view)) {
    return;
  }
  if (total > 0) {
    row.set(LayerColumn::captured_energy, 1 - (error.inside + error.outside) / total);
  }
  if (rho >= 1) {
    return;
  }
  const double random = (1 - rho) * total;
  const double inside = over_random(error.inside, random);
  const double outside = over_random(error.outside, random);
  row.set(LayerColumn::delta, inside + outside);
  row.set(LayerColumn::delta_in, inside);
  row.set(LayerColumn::delta_out, outside);
}

DetailRow row_of(const NumberedLayer& numbered, const StepView& view) {
  const Layer& layer = numbered.layer;
  const auto part = [&](std::span<const double> whole) {
    return whole.subspan(layer.offset, layer.size);
  };
  const auto size = static_cast<double>(layer.size);
  DetailRow row(kLayersTable, view.iteration, layer.name);
  row.set(LayerColumn::size, size);
  row.set(LayerColumn::mean_grad_norm_sq, norm_sq(part(view.mean.gradient)));
  row.set(LayerColumn::gap_norm_sq,
          distance_sq(part(view.iterates.model), part(view.iterates.virtual_dense)));
  if (!view.exchanges_gradients()) {
    return row;
  }
  const double sent_entries = sent(view, layer);
  const double k = random_entries(view, numbered, sent_entries);
  const double total = norm_sq(part(view.mean.accumulator));
  row.set(LayerColumn::k, k);
  row.set(LayerColumn::nnz_sent, sent_entries);
  row.set(LayerColumn::nnz_applied, applied(view, layer));
  row.set(LayerColumn::accumulator_norm_sq, total);
  if (view.gradients_are_current()) {
    row.set(LayerColumn::mean_residual_norm_sq, norm_sq(part(view.mean.residual)));
  }
  set_delta(view, layer, view.selection.by_layer ? k / size : view.rho(), total, row);
  return row;
}

}  // namespace

void write_layer_details(std::span<const NumberedLayer> layers,
                         const StepView& view,
                         Recorder& recorder) {
  for (const auto& numbered : layers) {
    recorder.write_detail(row_of(numbered, view));
  }
}

namespace {

void set_memory(const WorkerScalars& scalars, DetailRow& row) {
  row.set(WorkerColumn::worker_accumulator_norm_sq, scalars.accumulator_norm_sq);
  row.set(WorkerColumn::residual_norm_sq, scalars.residual_norm_sq);
  row.set(WorkerColumn::residual_norm_inf, scalars.residual_norm_inf);
  row.set(WorkerColumn::sent_norm_sq, scalars.sent_norm_sq);
  row.set(WorkerColumn::total_error, scalars.total_error);
}

bool is_absent(const StepView& view, int worker) {
  return view.leaves_out() &&
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
            view.steps_locally ? scalars.step_grad_norm_sq : scalars.gradient_norm_sq);
    if (view.exchanges_gradients()) {
      set_memory(scalars, row);
    }
    if (view.batch_is_exact) {
      row.set(WorkerColumn::noise_variance, 0);  // a whole shard has none
    } else if (view.halves) {
      row.set(WorkerColumn::noise_variance, scalars.noise_variance);
    }
    row.set(WorkerColumn::total_nnz_sent, scalars.total_nnz);
    recorder.write_detail(row);
  }
}

void write_staleness_details(const StepView& view, Recorder& recorder) {
  if (!view.notes) {
    return;
  }
  const auto counts = view.notes->staleness_counts;
  for (std::size_t staleness = 0; staleness < counts.size(); ++staleness) {
    if (counts[staleness] > 0) {
      DetailRow row(kStalenessTable, view.iteration, fmt::format("{}", staleness));
      row.set(StalenessColumn::gradients, static_cast<double>(counts[staleness]));
      recorder.write_detail(row);
    }
  }
}

static_assert(kLeastMagnitudeRow == kLeastExponent && kLastMagnitudeRow == kMostExponent);

void write_magnitude_details(const StepView& view, Recorder& recorder) {
  for (std::size_t bin = 0; bin < view.magnitudes.size(); ++bin) {
    if (view.magnitudes[bin] > 0) {
      DetailRow row(kMagnitudesTable,
                    view.iteration,
                    fmt::format("{}", kLeastExponent + static_cast<int>(bin)));
      row.set(MagnitudeColumn::share, view.magnitudes[bin]);
      recorder.write_detail(row);
    }
  }
}

void write_network_details(const StepView& view, Recorder& recorder) {
  for (const NetworkTimes& times : view.network.times) {
    DetailRow row(kNetworksTable, view.iteration, times.network);
    row.set(NetworkColumn::compute_s, times.compute_s);
    row.set(NetworkColumn::select_s, times.select_s);
    row.set(NetworkColumn::merge_s, times.merge_s);
    row.set(NetworkColumn::wire_s, times.wire_s);
    row.set(NetworkColumn::virtual_s, times.total_s());
    row.set(NetworkColumn::iteration_s, times.version_s);
    recorder.write_detail(row);
  }
}

void write_overlap_details(const StepView& view, Recorder& recorder) {
  for (const NetworkTimes& times : view.network.times) {
    DetailRow row(kOverlapTable, view.iteration, times.network);
    row.set(OverlapColumn::exchanges, static_cast<double>(times.exchanges));
    recorder.write_detail(row);
  }
}

void write_layer_times(std::span<const Layer> layers, const StepView& view, Recorder& recorder) {
  if (view.iteration > 0 || view.network.ready.empty()) {
    return;
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    DetailRow row(kLayerTimesTable, view.iteration, layers[l].name);
    row.set(LayerTimesColumn::ready, view.network.ready[l]);
    recorder.write_detail(row);
  }
}

}  // namespace residuum
