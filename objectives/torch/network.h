#pragma once
// A network as the objective sees it: one flat vector of parameters in, losses and one flat
// gradient out. This header names no type of libtorch; torch_network.h does.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/objective.h"

namespace residuum {

/// What a network takes and how many classes it tells apart.
struct ImageShape {
  std::size_t channels = 1;
  std::size_t height = 0;
  std::size_t width = 0;
  int classes = 0;

  std::size_t pixels() const { return channels * height * width; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Normalised images, one after another, and the class of each.
template <class Real>
struct Batch {
  std::vector<Real> pixels;
  std::vector<std::int64_t> labels;
};

struct BatchLoss {
  double sum = 0;           // of the cross-entropies of the batch
  std::size_t correct = 0;  // images whose own class has the largest logit, the lower class on ties
};

/// Float or double. Not thread-safe: a network computes in buffers of its own.
template <class Real>
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;
  virtual ~Network() = default;

  /// In the order of the flat vector, without gaps.
  virtual const std::vector<Layer>& layers() const = 0;

  /// Sets the parameters and zeroes the gradient.
  virtual void load(std::span<const Real> w) = 0;

  virtual BatchLoss loss(Batch<Real>& batch) = 0;

  /// gradient += scale * gradient of the batch's summed loss; returns that sum.
  virtual double add_gradient(Batch<Real>& batch, Real scale) = 0;

  /// Valid until the next call.
  virtual std::span<const Real> gradient() const = 0;
};

/// The same network in both precisions.
struct Networks {
  ImageShape shape;
  std::unique_ptr<Network<float>> single_precision;
  std::unique_ptr<Network<double>> double_precision;
};

}  // namespace residuum
