#pragma once
// A Mixing is the matrix W of one step of gossip: worker i takes w_ii x_i + sum_j w_ij x_j over its
// neighbours j. Its weights are those of Metropolis and Hastings (Xiao, Boyd, Kim, J. Parallel
// Distrib. Comput. 67, 2007): w_ij = 1 / (1 + max(deg_i, deg_j)), and w_ii is 1 minus the other
// weights of row i. W is symmetric and doubly stochastic with a positive diagonal. On the complete
// graph W is the mean.

#include <cstddef>
#include <span>
#include <vector>

#include "core/graphs/graph.h"

namespace residuum {

class Mixing {
 public:
  explicit Mixing(Graph graph);

  const Graph& graph() const { return graph_; }
  int vertices() const { return graph_.vertices(); }
  /// Returns w_ii.
  double own_weight(int vertex) const { return own_[static_cast<std::size_t>(vertex)]; }
  /// Returns the w_ij in the order of graph().neighbours(i).
  std::span<const double> weights(int vertex) const;

  /// Computes mixed = W x, for one number per worker; the two vectors do not overlap.
  void mix(std::span<const double> x, std::span<double> mixed) const;

 private:
  Graph graph_;
  std::vector<double> own_;
  std::vector<std::size_t> starts_;
  std::vector<double> weights_;
};

/// The spectrum of a Mixing is computed for at most this many workers: the matrix is made dense.
inline constexpr int kMostSpectrumWorkers = 1024;

/// Returns all eigenvalues of W in decreasing order; the first is 1. More than kMostSpectrumWorkers
/// workers are a usage error, here and below.
std::vector<double> eigenvalues(const Mixing& mixing);

/// MixingConstants are the constants that theorems about gossip take from W's eigenvalues 1 =
/// lambda_1 >= ... >= lambda_n > -1.
struct MixingConstants {
  double gap = 1;   ///< 1 - max(|lambda_2|, |lambda_n|), in (0, 1]; 1 for one worker.
  double beta = 0;  ///< |I - W|_2 = 1 - lambda_n, in [0, 2).
};

/// Computes both constants at once, exactly up to rounding (about n times 1e-16).
MixingConstants mixing_constants(const Mixing& mixing);

/// Returns the gap of the matrix that acts if a worker goes only the part `step` of the way, which
/// is (1 - step) I + step W: the distance to the mean shrinks by 1 - gap.
double spectral_gap(const Mixing& mixing, double step = 1);

/// Returns the consensus step that Koloskova, Stich and Jaggi (ICML 2019) choose for CHOCO-SGD:
/// gap^2 delta / (16 gap + gap^2 + 4 beta^2 + 2 gap beta^2 - 8 gap delta), for compressors with
/// E |C(x) - x|^2 <= (1 - delta) |x|^2. `contraction` is delta; gap and delta are in (0, 1].
double choco_step(double gap, double beta, double contraction);

}  // namespace residuum
