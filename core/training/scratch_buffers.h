#pragma once
// Scratch buffers that all workers of one process share, one worker at a time.

#include <vector>

#include "core/training/training.h"
#include "core/vectors/select.h"

namespace residuum {

template <class Real>
struct ScratchBuffers {
  explicit ScratchBuffers(const Training& training) {
    const auto layers = training.method->sparsifier->segments();
    segments.assign(layers.begin(), layers.end());
    if (segments.empty()) {
      segments.push_back({.begin = 0, .size = training.objective->dimension()});
    }
    selection.parts.resize(segments.size());
  }

  std::vector<Segment> segments;  // what is selected from separately: layers, or all
  SelectWorkspace selection;
  std::vector<Real> part_gradient;               // where batches are taken in parts
  std::vector<Real> local_model, step_gradient;  // where workers step on models of their own
  std::vector<Real> optimiser_room;              // of their optimiser
};

}  // namespace residuum
