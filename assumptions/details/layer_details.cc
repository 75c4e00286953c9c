#include "assumptions/details/layer_details.h"

#include <algorithm>

#include "assumptions/probes/selection_error.h"
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
  if (!view.run.exchanges_gradients) {
    return row;
  }
  const double sent_entries = sent(view, layer);
  const double k = random_entries(view, numbered, sent_entries);
  const double total = norm_sq(part(view.mean.accumulator));
  row.set(LayerColumn::k, k);
  row.set(LayerColumn::nnz_sent, sent_entries);
  row.set(LayerColumn::nnz_applied, applied(view, layer));
  row.set(LayerColumn::accumulator_norm_sq, total);
  if (view.run.gradients_are_current) {
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

}  // namespace residuum
