#pragma once
// NetworkObjective trains a network: f(w) = (1/n) sum_i loss(network(sample_i; w), labels_i), the
// cross-entropy of an image's class, the mean cross-entropy of the successors of a sequence's
// tokens, or another NetworkLoss. Without classes the test accuracy is NaN.
//
// Stochastic gradients are computed in the precision of w; evaluate and test in float64 or, on
// request, in float32. A NaN or Inf in w gives a NaN or Inf in loss and gradient, never a finite
// number, so that the trainer stops.
//
// With batch normalisation a stochastic gradient is that of the batch normalised by its own moments
// (in parts of 256 samples if it has more); evaluate and test normalise by running statistics.

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/objective.h"
#include "objectives/torch/images.h"
#include "objectives/torch/network.h"
#include "objectives/torch/samples.h"

namespace residuum {

struct NetworkOptions {
  NetworkDevice device = {};
  std::size_t evaluate_samples = 0;  ///< f is the mean over this many training samples; 0: all.
  std::size_t test_samples = 0;      ///< The number of held-out samples to test; 0: all.
  bool evaluate_in_float = false;
};

class NetworkObjective final : public Objective, public DeviceGradients {
 public:
  /// Data of another shape than the network's is a usage error. Samples to evaluate and to test are
  /// drawn once, the same in every run. A number not below that of all samples means all.
  NetworkObjective(NetworkData data, Networks networks, const NetworkOptions& options = {});
  NetworkObjective(ImageData data, Networks networks, const NetworkOptions& options = {});

  /// Returns where each parameter tensor lies in w.
  std::vector<Layer> layers() const override { return single_->layers(); }

  const DeviceGradients* on_device() const override { return device_.cuda ? this : nullptr; }
  int device_index() const override { return device_.cuda.value_or(0); }
  /// w and gradient are on the network's device.
  void gradient_there(const Draw& draw, DeviceSpan w, DeviceRoom gradient) const override;

  std::size_t dimension() const override;
  std::size_t samples() const override { return data_.train->samples(); }
  std::span<const std::int32_t> labels() const override { return data_.labels; }
  DataInfo data() const override { return data_.info; }
  /// Returns the lower bound 0, since a cross-entropy is never negative; a loss that the module of
  /// a file computes has none. Nothing is known of convexity.
  Facts facts() const override;
  std::span<const std::uint32_t> evaluated() const override { return evaluated_; }
  std::size_t statistics() const override { return initial_statistics_.size(); }
  void initial_statistics(std::span<double> statistics) const override;

  /// Draws w_0 by the network's start rule, or takes what a module's file has, for every seed. It
  /// is rounded to float, so that runs of either precision start at the same point.
  void initial_point(std::uint64_t seed, std::span<double> w) const override;

  /// Returns medians over a few gradients at w_0 on a network of their own.
  std::vector<double> ready_fractions(std::size_t samples) const override;

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override;
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override;
  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override;
  std::optional<TestResult> test(const Point& at) const override;

 private:
  template <class Real>
  Network<Real>& network() const;

  std::vector<std::span<const std::uint32_t>> parts_with_seeds(const Draw& draw) const;
  template <class Real>
  void batch_gradient(Network<Real>& learner,
                      const Draw& draw,
                      std::span<const Real> w,
                      std::span<Real> gradient) const;
  template <class Real>
  void add_batch(Network<Real>& learner, const Draw& draw) const;
  template <class Real>
  double evaluate_in(std::span<const std::uint32_t> samples,
                     const Point& at,
                     std::span<double> gradient) const;
  template <class Real>
  TestResult test_in(const Point& at) const;
  template <class Real>
  void load(const Point& at) const;
  template <class Real, class Use>
  void for_each_part(const SampleSource& source,
                     std::span<const std::uint32_t> samples,
                     std::size_t at_once,
                     RandomStream* augmentation,
                     const Use& use) const;

  NetworkData data_;
  Networks networks_;
  NetworkDevice device_;
  bool evaluate_in_float_;
  std::vector<std::uint32_t> evaluated_;  // increasing; empty: all
  std::vector<std::uint32_t> tested_;
  std::vector<double> initial_statistics_;
  std::size_t at_once_ = 1;    // samples that go through the network together
  mutable std::mutex in_use_;  // the networks compute in their own buffers
  std::unique_ptr<Network<float>> single_;
  mutable std::unique_ptr<Network<double>> double_;  // made when it is first needed
};

}  // namespace residuum
