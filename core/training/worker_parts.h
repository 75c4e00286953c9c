#pragma once
// These structs are shared by the gradient and the memory of a worker.

#include <vector>

#include "core/training/training.h"
#include "core/vectors/select.h"

namespace residuum {

/// WorkerScalars are numbers of one worker, which its process gathers.
struct WorkerScalars {
  double gradient_norm_sq = 0;     // |G^p_t|^2
  double accumulator_norm_sq = 0;  // |a^p_t|^2
  double residual_norm_sq = 0;     // |e^p_{t+1}|^2
  double residual_norm_inf = 0;    // |e^p_{t+1}|_inf
  double nnz_sent = 0;             // entries of s^p
  double total_error = 0;          // sum over iterations so far of |e^p|^2
  double magnitude = 0;  // sum over iterations so far of |a^p| + |eta G^p|, in units of the model
  // Bytes are booked on the first worker of each process.
  double bytes = 0;              // sent in this iteration
  double down_bytes = 0;         // of them, from a server
  double total_bytes = 0;        // over all iterations so far
  double total_down_bytes = 0;   // of them, from a server
  double total_nnz = 0;          // entries sent in all iterations so far
  double sent_norm_sq = 0;       // |s^p|^2
  double sent_dot = 0;           // <s^p, a^p>
  double noise_variance = 0;     // |G^p - G^p,first half|^2 n_first / n_second
  double step_grad_norm_sq = 0;  // with local steps: mean of |G^p|^2 over them, at their models
  // Only if workers keep gradient estimates: the change of the gradient, |G^p_t - G^p_{t-1}|^2. If
  // the estimates follow an average v^p of the gradients, it is |v^p_t - v^p_{t-1}|^2, and
  // |v^p_t|^2 is set too.
  double gradient_change_sq = 0;
  double average_norm_sq = 0;
};

/// Scratch buffers that all workers of one process share, one worker at a time.
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
