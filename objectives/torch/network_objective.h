#pragma once
// Classification by a network: f(w) = (1/n) sum_i cross_entropy(network(image_i; w), label_i).
//
// Stochastic gradients are computed in the precision of w; evaluate and test compute in float64
// whatever the run's precision. A NaN or Inf in w comes out as a NaN or Inf in loss and gradient,
// never as a number, for the trainer to stop at.

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/objective.h"
#include "objectives/data/dataset.h"
#include "objectives/torch/image_batches.h"
#include "objectives/torch/network.h"

namespace residuum {

/// Training images and, where there are any, held-out ones.
struct ImageData {
  ImageDataset train;
  std::optional<ImageDataset> test;
};

ImageShape shape_of(const ImageDataset& images);

class NetworkObjective final : public Objective {
 public:
  /// Pixels are normalised by the moments of the training images. Test images of another shape, and
  /// labels that are no class, are usage errors.
  NetworkObjective(ImageData data, Networks networks);

  /// Where each parameter tensor lies in w.
  std::vector<Layer> layers() const override { return networks_.double_precision->layers(); }
  const std::vector<ChannelMoments>& moments() const { return moments_; }

  std::size_t dimension() const override;
  std::size_t samples() const override { return data_.train.rows(); }
  std::span<const std::int32_t> labels() const override { return data_.train.labels; }
  DataInfo data() const override { return info_; }
  Facts facts() const override { return {}; }

  /// Uniform in +-1/sqrt(fan-in) for weights and biases alike: Kaiming-uniform with a = sqrt(5),
  /// what torch does by default. Rounded to float, so that runs of either precision start at the
  /// same point.
  void initial_point(std::uint64_t seed, std::span<double> w) const override;

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
  DataInfo describe() const;

  ImageData data_;
  Networks networks_;
  std::vector<ChannelMoments> moments_;
  ImageBatches train_;
  std::optional<ImageBatches> test_;
  DataInfo info_;
  mutable std::mutex in_use_;  // the networks compute in their own buffers
};

}  // namespace residuum
