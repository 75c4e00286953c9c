#pragma once
// The rows that tables of details have in a measured iteration.

#include <cstddef>
#include <span>

#include "core/measurement/step_view.h"
#include "core/objective.h"
#include "core/record/record.h"

namespace residuum {

/// A layer and its position among all layers of the model.
struct NumberedLayer {
  std::size_t number = 0;
  Layer layer;
};

/// A row of layers.csv describes one layer l of the model in a measured iteration. Among its
/// numbers is the gTop-k assumption restricted to the layer,
///   delta_l = |(a - g/P)_l|^2 / ((1 - rho_l) |a_l|^2),  a = mean a^p.
/// With scope = "layer" each layer has its own k_l and rho_l = k_l/d_l, as the assumption is made
/// layer by layer (LAGS: Shi et al., ECAI 2020); where the data decide how much is sent, k_l is the
/// mean number of the layer's entries that a worker sent. Otherwise the random selection that the
/// assumption compares with draws k entries from the whole model and keeps each with probability
/// rho = k/d, so it loses (1 - rho) |a_l|^2 of the layer in expectation: rho_l = rho, whatever was
/// sent of the layer, and delta is the mean of the delta_l weighted by |a_l|^2. A layer of which
/// nothing is applied then has delta_l = 1/(1 - rho), above one. There is no ratio where a_l = 0 or
/// rho_l = 1.
void write_layer_details(std::span<const NumberedLayer> layers,
                         const StepView& view,
                         Recorder& recorder);

/// A row of workers.csv describes one worker in a measured iteration. It has no bytes, because the
/// bytes of workers that share a process are counted together.
void write_worker_details(const StepView& view, Recorder& recorder);

/// The rows of staleness.csv are a histogram: how many gradients of each staleness have entered the
/// model up to and with the measured version. There is no row for a staleness that no gradient had,
/// and none at all where gradients cannot be late.
void write_staleness_details(const StepView& view, Recorder& recorder);

/// The rows of magnitudes.csv are a histogram of the workers' accumulators, mean over the workers.
/// There is no row for magnitudes that no entry has; zeros have none.
void write_magnitude_details(const StepView& view, Recorder& recorder);

/// The rows of networks.csv say how long a run in lockstep would have taken up to and with the
/// measured iteration, on each network of the study.
void write_network_details(const StepView& view, Recorder& recorder);

/// Writes the rows of overlap.csv: how many exchanges the measured iteration had on each network.
void write_overlap_details(const StepView& view, Recorder& recorder);

/// Writes the rows of layer_times.csv in iteration 0: when the gradients of the layers are ready.
void write_layer_times(std::span<const Layer> layers, const StepView& view, Recorder& recorder);

}  // namespace residuum
