#pragma once
// What the trainer minimises: f(w) = (1/n) sum_i f_i(w), with its samples spread over P workers.
// Implementations live in objectives/; they are immutable after construction.

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residuum {

/// What is known of an objective from outside a run. Absent where unknown.
struct Facts {
  std::optional<double> smoothness;        // L
  std::optional<double> strong_convexity;  // mu
  std::optional<double> minimum;           // f*
  std::optional<double> noise_variance;    // sigma^2 of one worker's stochastic gradient, if exact
  std::vector<double> minimizer;           // x*, empty where unknown

  std::optional<bool> convex = std::nullopt;         // whether f is
  std::optional<double> lower_bound = std::nullopt;  // of f, which need not be attained
  bool starts_from_seed = false;                     // w_0 is drawn from the run's seed
  /// Why a stochastic gradient's expectation is not the gradient of the f that is evaluated: a few
  /// words, reasons parted by "; ". Empty: it is.
  std::string gradient_bias = {};
};

/// One worker's draw at one iteration: which samples, and the key of its random streams.
struct Draw {
  std::uint64_t seed = 0;
  int worker = 0;
  std::uint64_t iteration = 0;
  std::span<const std::uint32_t> samples = {};  // empty where the objective has no data set
  std::span<const std::uint32_t> shard = {};    // all samples of the worker
  /// Only the first half of the batch is wanted. With a data set `samples` are that half already;
  /// without one the gradient is that of the whole draw plus a further, independent noise of the
  /// same law, so that the two halves it is the mean of are independent.
  bool first_half = false;
  /// The worker's own running statistics, which the gradient of its batch moves on; empty for
  /// further gradients that a measurement asks for: they leave no trace.
  std::span<double> statistics = {};
};

/// Where f is looked at: w, and what a network normalises with there, the running statistics
/// averaged over the workers. Without them it takes those that a worker starts with.
struct Point {
  // Implicit: to most objectives a point is its w.
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
  std::optional<double> perplexity = std::nullopt;  // of text: exp of the mean loss of a token
};

/// A human-readable statement of the data in use, for provenance.
struct DataInfo {
  std::string name;
  std::uint64_t samples = 0;
  std::uint64_t features = 0;
  std::string fingerprint;  // 16 hexadecimal digits over the values as loaded
  std::string note;         // e.g. how labels were mapped
};

/// A tensor of parameters, and where its numbers lie in w.
struct Layer {
  std::string name;  // e.g. "conv1.weight"
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;
  std::size_t size = 0;
};

class Objective {
 public:
  Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  Objective(Objective&&) = delete;
  Objective& operator=(Objective&&) = delete;
  virtual ~Objective() = default;

  virtual std::size_t dimension() const = 0;
  /// The parts of w by name, in their order; all of it where it has no parts.
  virtual std::vector<Layer> layers() const {
    const std::size_t d = dimension();
    return {{.name = "w", .shape = {static_cast<std::int64_t>(d)}, .offset = 0, .size = d}};
  }
  /// Training samples n; 0 for an objective without a data set.
  virtual std::size_t samples() const = 0;
  /// One class label per sample, for partitions by label; empty where there are none.
  virtual std::span<const std::int32_t> labels() const = 0;
  virtual DataInfo data() const = 0;

  /// May be expensive at the first call (solves for f* and x*); later calls are free.
  virtual Facts facts() const = 0;

  /// L of the mean of f_i over one worker's samples, regulariser included, or without a data set
  /// (an empty shard) of every worker's own objective; absent where unknown. Is worked out anew at
  /// every call.
  virtual std::optional<double> shard_smoothness(std::span<const std::uint32_t> /*shard*/) const {
    return std::nullopt;
  }

  /// The samples that f is the mean over, increasing, where a part stands for all of them; empty:
  /// all.
  virtual std::span<const std::uint32_t> evaluated() const { return {}; }

  /// How many numbers of running statistics (batch normalisation) each worker keeps, and what they
  /// are before the first batch.
  virtual std::size_t statistics() const { return 0; }
  virtual void initial_statistics(std::span<double> /*statistics*/) const {}

  /// w_0, d numbers; networks draw it from the seed, convex objectives start at 0.
  virtual void initial_point(std::uint64_t seed, std::span<double> w) const = 0;

  /// gradient := stochastic gradient of worker draw.worker at w (mean over the drawn samples,
  /// regulariser included), d numbers.
  virtual void stochastic_gradient(const Draw& draw,
                                   std::span<const float> w,
                                   std::span<float> gradient) const = 0;
  virtual void stochastic_gradient(const Draw& draw,
                                   std::span<const double> w,
                                   std::span<double> gradient) const = 0;

  /// The part of f(w) that belongs to `worker` of `workers`: summed over all workers the results
  /// are f(w), and what was added to `gradient` (d numbers, or empty to skip it) is grad f(w).
  /// With data: (1/n) sum over `shard` of f_i(w), of its evaluated() samples where not all are.
  virtual double evaluate(int worker,
                          int workers,
                          std::span<const std::uint32_t> shard,
                          const Point& at,
                          std::span<double> gradient) const = 0;

  /// Loss and accuracy on held-out data, absent where there is none.
  virtual std::optional<TestResult> test(const Point& at) const = 0;
};

}  // namespace residuum
