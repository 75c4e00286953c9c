#include "core/graphs/mixing.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace residuum {
namespace {

/// Returns 1 minus the sum of the weights, as if rounded only once (Kahan's summation).
double rest_of_one(std::span<const double> weights) {
  double rest = 1;
  double lost = 0;
  for (const double weight : weights) {
    const double taken = weight + lost;
    const double next = rest - taken;
    lost = taken - (rest - next);
    rest = next;
  }
  return rest;
}

/// Returns the eigenvalues of W in increasing order.
Eigen::VectorXd spectrum_of(const Mixing& mixing) {
  const int n = mixing.vertices();
  require(n <= kMostSpectrumWorkers,
          "the spectral gap of a graph is computed for at most {} workers, not for {}",
          kMostSpectrumWorkers,
          n);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    dense(i, i) = mixing.own_weight(i);
    const auto neighbours = mixing.graph().neighbours(i);
    const auto weights = mixing.weights(i);
    for (std::size_t at = 0; at < neighbours.size(); ++at) {
      dense(i, neighbours[at]) = weights[at];
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense, Eigen::EigenvaluesOnly);
  assert(solver.info() == Eigen::Success);
  return solver.eigenvalues();
}

}  // namespace

Mixing::Mixing(Graph graph) : graph_(std::move(graph)), starts_{0} {
  for (int i = 0; i < vertices(); ++i) {
    for (const int j : graph_.neighbours(i)) {
      weights_.push_back(1.0 / (1 + std::max(graph_.degree(i), graph_.degree(j))));
    }
    own_.push_back(rest_of_one(std::span(weights_).subspan(starts_.back())));
    starts_.push_back(weights_.size());
  }
}

std::span<const double> Mixing::weights(int vertex) const {
  assert(0 <= vertex && vertex < vertices());
  const auto v = static_cast<std::size_t>(vertex);
  return std::span(weights_).subspan(starts_[v], starts_[v + 1] - starts_[v]);
}

void Mixing::mix(std::span<const double> x, std::span<double> mixed) const {
  assert(x.size() == own_.size() && mixed.size() == own_.size());
  for (int i = 0; i < vertices(); ++i) {
    const auto neighbours = graph_.neighbours(i);
    const auto row = weights(i);
    double sum = own_weight(i) * x[static_cast<std::size_t>(i)];
    for (std::size_t at = 0; at < neighbours.size(); ++at) {
      sum += row[at] * x[static_cast<std::size_t>(neighbours[at])];
    }
    mixed[static_cast<std::size_t>(i)] = sum;
  }
}

std::vector<double> eigenvalues(const Mixing& mixing) {
  const Eigen::VectorXd increasing = spectrum_of(mixing);
  std::vector<double> all(increasing.begin(), increasing.end());
  std::reverse(all.begin(), all.end());
  return all;
}

MixingConstants mixing_constants(const Mixing& mixing) {
  if (mixing.vertices() == 1) {
    return {};
  }
  const std::vector<double> decreasing = eigenvalues(mixing);
  const double last = decreasing.back();
  return {.gap = 1 - std::max(std::abs(decreasing[1]), std::abs(last)), .beta = 1 - last};
}

double spectral_gap(const Mixing& mixing, double step) {
  const std::vector<double> decreasing = eigenvalues(mixing);
  double largest = 0;
  for (std::size_t i = 1; i < decreasing.size(); ++i) {
    largest = std::max(largest, std::abs(1 - step * (1 - decreasing[i])));
  }
  return 1 - largest;
}

double choco_step(double gap, double beta, double contraction) {
  assert(gap > 0 && contraction > 0 && contraction <= 1);
  const double below =
      16 * gap + gap * gap + 4 * beta * beta + 2 * gap * beta * beta - 8 * gap * contraction;
  return gap * gap * contraction / below;
}

}  // namespace residuum
