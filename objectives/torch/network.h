#pragma once
// A network as the objective sees it: one flat vector of parameters in, losses and one flat
// gradient out. This header names no type of libtorch; torch_network.h does.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/objective.h"
#include "objectives/torch/device.h"

namespace residuum {

/// What a network takes and how many classes it tells apart. Text is 1 x 1 x tokens of a sequence,
/// in as many classes as there are words.
struct ImageShape {
  std::size_t channels = 1;
  std::size_t height = 0;
  std::size_t width = 0;
  int classes = 0;

  std::size_t pixels() const { return channels * height * width; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Samples one after another: normalised pixels or the numbers of tokens, and labels, one of an
/// image, one of each token of a sequence.
template <class Real>
struct Batch {
  std::vector<std::int64_t> shape;  // of one sample
  std::vector<Real> pixels;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> labels;
  std::size_t labels_per_sample = 1;

  std::size_t samples() const { return labels.size() / labels_per_sample; }
};

struct BatchLoss {
  double sum = 0;           // over the samples, of the mean cross-entropy of a sample's labels
  std::size_t correct = 0;  // labels that have the largest logit, the lower class on ties
};

/// How batch normalisation gets mean and variance: of the batch at hand, moving the running
/// statistics on, or from the running statistics.
enum class Phase { training, evaluation };

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

  /// Running means and variances, module after module; none without batch normalisation. At first
  /// means are 0 and variances 1.
  virtual std::vector<double> statistics() const = 0;
  virtual void load_statistics(std::span<const double> statistics) = 0;

  /// In the evaluation phase.
  virtual BatchLoss loss(Batch<Real>& batch) = 0;

  /// gradient += scale * gradient of the batch's summed loss; returns that sum.
  virtual double add_gradient(Batch<Real>& batch, Real scale, Phase phase) = 0;

  /// Valid until the next call.
  virtual std::span<const Real> gradient() const = 0;
};

/// The law that the entries of a layer are drawn from at the start of a run.
struct Start {
  enum class Law { uniform, normal, constant };
  Law law = Law::uniform;
  double scale = 1;  // half the width, the standard deviation, the value
};

/// `fan_in` is that of the layer, and for a bias that of the weight before it.
using StartRule = Start (*)(const Layer& layer, std::int64_t fan_in);

/// Uniform in +-1/sqrt(fan-in) for weights and biases alike: Kaiming-uniform with a = sqrt(5), what
/// torch does by default.
Start torch_start(const Layer& layer, std::int64_t fan_in);

/// How to make the same network in both precisions; each is made when it is first wanted.
struct Networks {
  ImageShape shape;
  std::function<std::unique_ptr<Network<float>>(Device)> make_single;
  std::function<std::unique_ptr<Network<double>>(Device)> make_double;
  StartRule start = torch_start;
};

}  // namespace residuum
