#pragma once
// ImageBatches turns bytes into the normalised numbers that a network takes: (pixel / 255 - mean) /
// deviation, with mean and deviation per channel.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random/random.h"
#include "objectives/data/dataset.h"
#include "objectives/torch/network.h"

namespace residuum {

struct ChannelMoments {
  double mean = 0;
  double deviation = 1;
};

/// Returns mean and (population) standard deviation per channel of pixels scaled to [0, 1], by
/// exact sums over the histogram. A channel that is constant gets deviation 1: it becomes 0
/// everywhere.
std::vector<ChannelMoments> channel_moments(const ImageDataset& images);

/// Makes batches of images, which must outlive it.
class ImageBatches {
 public:
  ImageBatches(const ImageDataset& images, std::span<const ChannelMoments> moments);

  /// batch := the images of `samples`, in that order. With an `augmentation` stream each is moved
  /// by up to 4 pixels up or down and left or right, black coming in from the border, and mirrored
  /// or not, as the stream's next numbers say.
  template <class Real>
  void assemble(std::span<const std::uint32_t> samples,
                RandomStream* augmentation,
                Batch<Real>& batch) const;

 private:
  template <class Real>
  Real* put(std::size_t row, Real* target) const;
  template <class Real>
  Real* put_varied(std::size_t row, RandomStream& random, Real* target) const;

  const ImageDataset* images_;
  std::vector<std::array<double, 256>> value_of_byte_;  // per channel
};

}  // namespace residuum
