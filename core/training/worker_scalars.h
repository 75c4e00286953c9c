#pragma once

namespace residuum {

/// Numbers of one worker, gathered from its process.
struct WorkerScalars {
  double gradient_norm_sq = 0;     // |G^p_t|^2
  double accumulator_norm_sq = 0;  // |a^p_t|^2
  double residual_norm_sq = 0;     // |e^p_{t+1}|^2
  double residual_norm_inf = 0;    // |e^p_{t+1}|_inf
  double nnz_sent = 0;             // entries of s^p
  double total_error = 0;          // sum over iterations so far of |e^p|^2
  double magnitude = 0;    // sum over iterations so far of |a^p| + |eta G^p|, in units of the model
  double bytes = 0;        // sent in this iteration, booked on the process's first worker
  double total_bytes = 0;  // of all iterations so far, booked likewise
  double total_nnz = 0;    // of all iterations so far
  double sent_norm_sq = 0;    // |s^p|^2
  double sent_dot = 0;        // <s^p, a^p>
  double noise_variance = 0;  // |G^p - G^p,first half|^2 n_first / n_second
  // For gradient estimates only: by how much what they follow has changed, |G^p_t - G^p_{t-1}|^2
  // or, where that is an average v^p of the gradients, |v^p_t - v^p_{t-1}|^2; and then |v^p_t|^2.
  double gradient_change_sq = 0;
  double average_norm_sq = 0;
};

}  // namespace residuum
