#include "core/graphs/mixing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/graphs/symmetric_eigenvalues.h"

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

SymmetricEigenvalues spectrum_of(const Mixing& mixing) {
  const int n = mixing.vertices();
  require(n <= kMostSpectrumWorkers,
          "the spectral gap of a graph is computed for at most {} workers, not for {}",
          kMostSpectrumWorkers,
          n);
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> dense(size * size, 0.0);
  for (int i = 0; i < n; ++i) {
    double* const row = &dense[static_cast<std::size_t>(i) * size];
    row[i] = mixing.own_weight(i);
    const auto neighbours = mixing.graph().neighbours(i);
    const auto weights = mixing.weights(i);
    for (std::size_t at = 0; at < neighbours.size(); ++at) {
      row[neighbours[at]] = weights[at];
    }
  }
  return {n, std::move(dense)};
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
  const SymmetricEigenvalues spectrum = spectrum_of(mixing);
  std::vector<double> decreasing;
  for (int k = spectrum.size(); k-- > 0;) {
    decreasing.push_back(spectrum.smallest(k));
  }
  return decreasing;
}

MixingConstants mixing_constants(const Mixing& mixing) {
  const int n = mixing.vertices();
  if (n == 1) {
    return {};
  }
  const SymmetricEigenvalues spectrum = spectrum_of(mixing);
  const double second = spectrum.smallest(n - 2);
  const double last = spectrum.smallest(0);
  return {.gap = 1 - std::max(std::abs(second), std::abs(last)), .beta = 1 - last};
}

double spectral_gap(const Mixing& mixing) { return mixing_constants(mixing).gap; }

double choco_step(double gap, double beta, double contraction) {
  assert(gap > 0 && contraction > 0 && contraction <= 1);
  const double below =
      16 * gap + gap * gap + 4 * beta * beta + 2 * gap * beta * beta - 8 * gap * contraction;
  return gap * gap * contraction / below;
}

}  // namespace residuum
