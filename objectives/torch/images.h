#pragma once
// Images of a data set become the normalised numbers that a network takes: (pixel / 255 - mean) /
// deviation, with mean and deviation per channel. A study names its images by the keys data,
// train_samples, and rows and data_seed of synthetic images, which have the size that the network
// takes.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/config/section.h"
#include "core/random/random.h"
#include "objectives/data/dataset.h"
#include "objectives/registry.h"
#include "objectives/torch/network.h"
#include "objectives/torch/samples.h"

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

/// ImageData has training images and, if there are any, held-out ones.
struct ImageData {
  ImageDataset train;
  std::optional<ImageDataset> test;
};

ImageShape shape_of(const ImageDataset& images);

/// Makes samples of images. Pixels are normalised by the moments of the training images; with
/// `augment`, batches are varied by crops of the image with a border of 4 and by mirroring, as He
/// et al. (2016) do. Images that do not have the `wanted` shape, and labels that are no class, are
/// usage errors.
NetworkData image_samples(ImageData data, const ImageShape& wanted, bool augment = false);

constexpr ImageShape kDigitShape{.channels = 1, .height = 28, .width = 28, .classes = 10};
constexpr ImageShape kPhotographShape{.channels = 3, .height = 32, .width = 32, .classes = 10};

/// Loads the images that a section of a study names.
ImageData load_image_data(const Section& section,
                          const ObjectiveContext& context,
                          const ImageShape& synthetic = kDigitShape);

}  // namespace residuum
