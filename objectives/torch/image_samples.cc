#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "objectives/torch/image_batches.h"
#include "objectives/torch/samples.h"

namespace residuum {
namespace {

void check_labels(const ImageDataset& images) {
  for (std::size_t row = 0; row < images.rows(); ++row) {
    require(images.labels[row] >= 0 && images.labels[row] < images.classes,
            "image {} of '{}' has label {}, but there are only {} classes",
            row,
            images.name,
            images.labels[row],
            images.classes);
  }
}

void check(const ImageDataset& images, const ImageShape& wanted) {
  const ImageShape got = shape_of(images);
  require(got == wanted,
          "'{}' has images of {}x{}x{} (channels x height x width) in {} classes, the network "
          "takes {}x{}x{} in {}; change one of them",
          images.name,
          got.channels,
          got.height,
          got.width,
          got.classes,
          wanted.channels,
          wanted.height,
          wanted.width,
          wanted.classes);
  require(images.rows() > 0, "'{}' has no images", images.name);
  require(images.rows() <= std::numeric_limits<std::uint32_t>::max(),
          "'{}' has {} images, more than 32-bit sample numbers can name",
          images.name,
          images.rows());
  require(images.pixels.size() == images.rows() * images.features(),
          "'{}' has {} pixels, its {} images of {} need {}",
          images.name,
          images.pixels.size(),
          images.rows(),
          images.features(),
          images.rows() * images.features());
  check_labels(images);
}

DataInfo describe(const ImageDataset& images,
                  std::span<const ChannelMoments> moments,
                  bool augment) {
  std::string note = images.note;
  for (std::size_t channel = 0; channel < moments.size(); ++channel) {
    note += fmt::format("{}channel {} normalised by mean {:.4f} and standard deviation {:.4f}",
                        note.empty() ? "" : "; ",
                        channel,
                        moments[channel].mean,
                        moments[channel].deviation);
  }
  if (augment) {
    note += "; batches augmented: crops from a border of 4 pixels, mirrored every other time";
  }
  return {.name = images.name,
          .samples = images.rows(),
          .features = images.features(),
          .fingerprint = fingerprint(images),
          .note = note};
}

class ImageSamples final : public SampleSource {
 public:
  ImageSamples(ImageDataset images, std::span<const ChannelMoments> moments, bool augment)
      : images_(std::move(images)), batches_(images_, moments), augment_(augment) {}

  std::size_t samples() const override { return images_.rows(); }
  void assemble(std::span<const std::uint32_t> samples,
                RandomStream* augmentation,
                Batch<float>& batch) const override {
    batches_.assemble(samples, augment_ ? augmentation : nullptr, batch);
  }
  void assemble(std::span<const std::uint32_t> samples,
                RandomStream* augmentation,
                Batch<double>& batch) const override {
    batches_.assemble(samples, augment_ ? augmentation : nullptr, batch);
  }

 private:
  ImageDataset images_;
  ImageBatches batches_;
  bool augment_;
};

}  // namespace

ImageShape shape_of(const ImageDataset& images) {
  return {.channels = images.channels,
          .height = images.height,
          .width = images.width,
          .classes = images.classes};
}

NetworkData image_samples(ImageData data, const ImageShape& wanted, bool augment) {
  check(data.train, wanted);
  if (data.test) {
    check(*data.test, wanted);
  }
  const auto moments = channel_moments(data.train);
  NetworkData samples{.info = describe(data.train, moments, augment),
                      .labels = data.train.labels,
                      .shape = wanted,
                      .is_augmented = augment,
                      .train = nullptr,
                      .test = nullptr};
  samples.train = std::make_unique<ImageSamples>(std::move(data.train), moments, augment);
  if (data.test) {
    samples.info.fingerprint =
        fingerprint_of_both(samples.info.fingerprint, fingerprint(*data.test));
    samples.test =
        std::make_unique<ImageSamples>(std::move(*data.test), moments, /*augment=*/false);
  }
  return samples;
}

}  // namespace residuum
