#pragma once
// An objective is the function that the trainer minimises: f(w) = (1/n) sum_i f_i(w), with its
// samples spread over P workers. Implementations are in objectives/; they are immutable after
// construction.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/vectors/device.h"

namespace residuum {

/// Facts are the properties of an objective that are known before any run; a fact that is not known
/// is absent.
struct Facts {
  std::optional<double> smoothness;        // L
  std::optional<double> strong_convexity;  // mu
  std::optional<double> minimum;           // f*
  std::optional<double> noise_variance;    // sigma^2 of one worker's stochastic gradient, if exact
  std::vector<double> minimizer;           // x*, empty where unknown

  std::optional<bool> convex = std::nullopt;         // f is convex
  std::optional<double> lower_bound = std::nullopt;  // f >= lower_bound, which need not be attained
  bool starts_from_seed = false;                     // w_0 is drawn from the run's seed
  bool workers_are_alike = false;  // every worker's gradient has the expectation grad f
  bool shares_minimizer = false;   // grad f_p(x*) = 0 for every worker p
  /// Says in a few words why the expectation of a stochastic gradient is not the gradient of the
  /// evaluated f; several reasons are parted by "; ". It is empty where gradients are unbiased.
  std::string gradient_bias = {};
};

/// A draw says which samples a worker uses at one iteration, and holds the key of its random
/// streams.
struct Draw {
  std::uint64_t seed = 0;
  int worker = 0;
  std::uint64_t iteration = 0;
  std::span<const std::uint32_t> samples = {};  // empty where the objective has no data set
  std::span<const std::uint32_t> shard = {};    // all samples of the worker
  /// True if only the first half of the batch is wanted. With a data set `samples` are that half
  /// already. Without one, the gradient is that of the whole draw plus further independent noise of
  /// the same law, so that the two halves whose mean is the whole draw are independent.
  bool first_half = false;
  /// The worker's own running statistics, which its batch gradient updates. The span is empty for
  /// the additional gradients of a measurement, which must not change them.
  std::span<double> statistics = {};
};

/// A point is where f is evaluated: w, and for networks with batch normalisation the running
/// statistics averaged over the workers. Without statistics the initial ones are used.
struct Point {
  // The conversion is implicit because most objectives need only w.
  template <std::convertible_to<std::span<const double>> Numbers>
  Point(const Numbers& parameters) : w(parameters) {}
  Point(std::span<const double> parameters, std::span<const double> averages)
      : w(parameters), statistics(averages) {}

  std::span<const double> w;
  std::span<const double> statistics;
};

struct TestResult {
  double loss = 0;
  double accuracy = 0;                              // in [0, 1]
  std::optional<double> perplexity = std::nullopt;  // exp(mean loss of a token), for text
};

/// DataInfo names the data in use, for the record of where results come from.
struct DataInfo {
  std::string name;
  std::uint64_t samples = 0;
  std::uint64_t features = 0;
  std::string fingerprint;  // 16 hexadecimal digits over the values as loaded
  std::string note;         // e.g. how labels were mapped
  /// Whose gradients these are, in words, where the objective does not compute them.
  std::string gradients_of = {};
};

/// A layer is one tensor of parameters and its place in w.
struct Layer {
  std::string name;  // e.g. "conv1.weight"
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;
  std::size_t size = 0;
};

class GradientSource;

/// The gradients that an objective computes on a device, where they stay.
class DeviceGradients {
 public:
  DeviceGradients() = default;
  DeviceGradients(const DeviceGradients&) = delete;
  DeviceGradients& operator=(const DeviceGradients&) = delete;
  DeviceGradients(DeviceGradients&&) = delete;
  DeviceGradients& operator=(DeviceGradients&&) = delete;
  virtual ~DeviceGradients() = default;

  /// Returns the index of the device among those that this process sees.
  virtual int device_index() const = 0;
  /// gradient := what Objective::stochastic_gradient computes, of a model that is there, too.
  virtual void gradient_there(const Draw& draw, DeviceSpan w, DeviceRoom gradient) const = 0;
};

class Objective {
 public:
  Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  Objective(Objective&&) = delete;
  Objective& operator=(Objective&&) = delete;
  virtual ~Objective() = default;

  /// Returns whether there is an f. If not, only gradients are known: no run asks for f, for grad
  /// f, or for the gradient of half a batch.
  virtual bool has_function() const { return true; }
  /// Returns how many gradients there are of each worker; absent where there is no end of them.
  virtual std::optional<std::uint64_t> recorded_steps() const { return std::nullopt; }

  /// Returns what hands over the gradients, one iteration after the other; null where the objective
  /// has them itself. Then the number of iterations may be open.
  virtual GradientSource* source() const { return nullptr; }

  /// Returns its gradients on a device; null where it computes them on the host.
  virtual const DeviceGradients* on_device() const { return nullptr; }

  virtual std::size_t dimension() const = 0;
  /// Returns the named parts of w in their order; by default w is one part.
  virtual std::vector<Layer> layers() const {
    const std::size_t d = dimension();
    return {{.name = "w", .shape = {static_cast<std::int64_t>(d)}, .offset = 0, .size = d}};
  }
  // w may be the parameters in other coordinates, by an orthonormal change of them; it is the
  // parameters themselves where these functions, which turn one vector of d numbers into another,
  // are not overridden.
  virtual void to_parameters(std::span<const double> w, std::span<double> parameters) const {
    std::copy(w.begin(), w.end(), parameters.begin());
  }
  virtual void from_parameters(std::span<const double> parameters, std::span<double> w) const {
    std::copy(parameters.begin(), parameters.end(), w.begin());
  }
  /// Returns for each layer when its gradient is ready, as a fraction of the time of a stochastic
  /// gradient of `samples` samples here, in float32; empty where the objective cannot tell. Every
  /// call measures anew.
  virtual std::vector<double> ready_fractions(std::size_t /*samples*/) const { return {}; }
  /// Returns n, the number of training samples; 0 for an objective without a data set.
  virtual std::size_t samples() const = 0;
  /// Returns one class label per sample, for partitions by label; empty without labels.
  virtual std::span<const std::int32_t> labels() const = 0;
  virtual DataInfo data() const = 0;

  /// The first call may be expensive (it solves for f* and x*); later calls are free.
  virtual Facts facts() const = 0;

  /// Returns L of the mean of f_i over one worker's samples, regulariser included. Without a data
  /// set (an empty shard) it is the L of every worker's own objective. It is absent where unknown
  /// and computed anew at every call.
  virtual std::optional<double> shard_smoothness(std::span<const std::uint32_t> /*shard*/) const {
    return std::nullopt;
  }

  /// Returns a mu > 0 with which the mean of f_i over one worker's samples is mu-strongly convex,
  /// as above; absent where none is known.
  virtual std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> /*shard*/) const {
    return std::nullopt;
  }

  /// Returns the increasing sample numbers that f is the mean over, if they are not all; empty
  /// means all.
  virtual std::span<const std::uint32_t> evaluated() const { return {}; }

  /// Returns how many running statistics (batch normalisation) each worker keeps; the function
  /// below sets them to their values before the first batch.
  virtual std::size_t statistics() const { return 0; }
  virtual void initial_statistics(std::span<double> /*statistics*/) const {}

  /// w := w_0, d numbers; networks draw it from the seed, convex objectives start at 0.
  virtual void initial_point(std::uint64_t seed, std::span<double> w) const = 0;

  /// gradient := stochastic gradient of worker draw.worker at w (mean over the drawn samples,
  /// regulariser included), d numbers.
  virtual void stochastic_gradient(const Draw& draw,
                                   std::span<const float> w,
                                   std::span<float> gradient) const = 0;
  virtual void stochastic_gradient(const Draw& draw,
                                   std::span<const double> w,
                                   std::span<double> gradient) const = 0;

  /// Returns the part of f(w) that belongs to `worker` of `workers` and adds its gradient to
  /// `gradient` (d numbers, or empty to skip it). Over all workers the parts sum to f(w) and grad
  /// f(w). With data the part is (1/n) sum over `shard` of f_i(w); if evaluated() is not empty,
  /// only its samples count.
  virtual double evaluate(int worker,
                          int workers,
                          std::span<const std::uint32_t> shard,
                          const Point& at,
                          std::span<double> gradient) const = 0;

  /// Returns loss and accuracy on held-out data, absent where there is none.
  virtual std::optional<TestResult> test(const Point& at) const = 0;
};

}  // namespace residuum
