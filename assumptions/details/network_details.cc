#include "assumptions/details/network_details.h"

namespace residuum {

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
