#pragma once
// A network, as the objective sees it, takes one flat vector of parameters and gives losses and one
// flat gradient. This header names no type of libtorch; torch_network.h does.

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/objective.h"
#include "core/vectors/device.h"
#include "objectives/torch/device.h"

namespace residuum {

/// The shape is that of a network's input, and its number of classes. Text has the shape 1 x 1 x
/// tokens of a sequence, and as many classes as words.
struct ImageShape {
  std::size_t channels = 1;
  std::size_t height = 0;
  std::size_t width = 0;
  int classes = 0;

  std::size_t pixels() const { return channels * height * width; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// A batch has its samples one after another: normalised pixels or token numbers, and labels, one
/// per image or one per token of a sequence. A squared error has targets in place of labels.
template <class Real>
struct Batch {
  std::vector<std::int64_t> shape;  // that of one sample
  std::vector<Real> pixels;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> labels;
  std::vector<Real> targets;
  std::vector<std::int64_t> label_shape = {};  // of one sample's labels or targets; empty: a number
  std::size_t labels_per_sample = 1;           // or targets

  std::size_t samples() const {
    const std::int64_t numbers =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    return (tokens.empty() ? pixels.size() : tokens.size()) / static_cast<std::size_t>(numbers);
  }
};

struct BatchLoss {
  double sum = 0;           // sum over the samples of their losses
  std::size_t correct = 0;  // number of labels with the largest logit; ties go to the lower class
  std::size_t outputs = 0;  // numbers of a row of logits, or of the output for one sample
};

/// The loss of a sample: the mean cross-entropy of its labels, the mean squared difference of its
/// targets and the output, or what the module itself returns, the mean over a batch.
enum class NetworkLoss { cross_entropy, squared_error, output };

/// In the training phase batch normalisation takes mean and variance from the batch and updates the
/// running statistics; in the evaluation phase it takes them from the running statistics.
enum class Phase { training, evaluation };

/// Real is float or double. A network is not thread-safe, because it computes in its own buffers.
template <class Real>
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;
  virtual ~Network() = default;

  /// Returns the layers in the order of the flat vector, without gaps.
  virtual const std::vector<Layer>& layers() const = 0;

  /// Sets the parameters and zeroes the gradient.
  virtual void load(std::span<const Real> w) = 0;
  /// Does the same with parameters on the network's device, in float32.
  virtual void load_there(DeviceSpan w) = 0;

  /// Sets the seed of random layers (dropout), which only modules of files have.
  virtual void seed(std::uint64_t /*seed*/) {}

  /// Returns running means and variances, module after module; none without batch normalisation.
  /// Initially means are 0 and variances 1.
  virtual std::vector<double> statistics() const = 0;
  virtual void load_statistics(std::span<const double> statistics) = 0;

  /// Returns the loss in the evaluation phase.
  virtual BatchLoss loss(Batch<Real>& batch) = 0;

  /// gradient += scale * (gradient of the batch's summed loss); returns the summed loss.
  virtual double add_gradient(Batch<Real>& batch, Real scale, Phase phase) = 0;

  /// From now on `listener` is called in add_gradient() with the number of each layer whose
  /// gradient back-propagation has.
  virtual void tell_ready_layers(std::function<void(std::size_t layer)> listener) = 0;

  /// Returns the gradient; the span is valid until the next call.
  virtual std::span<const Real> gradient() const = 0;
  /// room := the gradient, on the network's device, in float32.
  virtual void gradient_there(DeviceRoom room) const = 0;
};

/// Start is the law from which the entries of a layer are drawn at the start of a run.
struct Start {
  enum class Law { uniform, normal, constant };
  Law law = Law::uniform;
  double scale = 1;  // half the width, the standard deviation, or the value
};

/// Gives the start of a layer; `fan_in` is that of the layer, and for a bias that of the weight
/// before it.
using StartRule = std::function<Start(const Layer& layer, std::int64_t fan_in)>;

/// Draws weights and biases uniformly in +-1/sqrt(fan-in): Kaiming-uniform with a = sqrt(5),
/// torch's default.
Start torch_start(const Layer& layer, std::int64_t fan_in);

/// Gives the start of the networks for CIFAR-10 with batch normalisation. Weights of convolutions
/// are normal with variance 2/fan-out, fan-out being outputs times kernel size (He, Zhang, Ren,
/// Sun, ICCV 2015); their biases are 0. Batch normalisation starts with weights 1 and biases 0, the
/// linear layer, called "fc", as torch's default.
Start convolutional_start(const Layer& layer, std::int64_t fan_in);

/// Networks can make the same network in both precisions; each is made when it is first needed.
struct Networks {
  ImageShape shape;
  std::function<std::unique_ptr<Network<float>>(NetworkDevice)> make_single;
  std::function<std::unique_ptr<Network<double>>(NetworkDevice)> make_double;
  StartRule start = torch_start;
  std::vector<double> saved_start = {};      // w_0 of a module from a file; empty: drawn by `start`
  std::optional<double> lower_bound = 0;     // of a sample's loss
  bool is_random = false;                    // the training phase draws random numbers
  std::string training_bias = {};            // see Facts::gradient_bias
  std::string averaging = "(momentum 0.1)";  // of the running statistics
};

}  // namespace residuum
