#include "objectives/torch/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "objectives/data/catalogue.h"
#include "objectives/data/synthetic.h"
#include "objectives/torch/samples.h"

namespace residuum {
namespace {

using Histogram = std::array<std::uint64_t, 256>;

constexpr double kLargestByte = 255;
constexpr std::ptrdiff_t kBorder = 4;
constexpr std::size_t kBlack = 0;

Histogram histogram_of(const ImageDataset& images, std::size_t channel) {
  const std::size_t plane = images.height * images.width;
  Histogram histogram{};
  for (std::size_t row = 0; row < images.rows(); ++row) {
    const std::size_t begin = (row * images.channels + channel) * plane;
    for (std::size_t i = begin; i < begin + plane; ++i) {
      ++histogram[images.pixels[i]];
    }
  }
  return histogram;
}

ChannelMoments moments_of(const Histogram& histogram) {
  double count = 0;
  double sum = 0;
  for (std::size_t byte = 0; byte < histogram.size(); ++byte) {
    count += static_cast<double>(histogram[byte]);
    sum += static_cast<double>(histogram[byte]) * static_cast<double>(byte);
  }
  if (count == 0) {
    return {};
  }
  const double mean = sum / count;
  double squares = 0;
  for (std::size_t byte = 0; byte < histogram.size(); ++byte) {
    const double distance = static_cast<double>(byte) - mean;
    squares += static_cast<double>(histogram[byte]) * distance * distance;
  }
  const double deviation = std::sqrt(squares / count) / kLargestByte;
  return {.mean = mean / kLargestByte, .deviation = deviation > 0 ? deviation : 1};
}

}  // namespace

std::vector<ChannelMoments> channel_moments(const ImageDataset& images) {
  std::vector<ChannelMoments> moments;
  for (std::size_t channel = 0; channel < images.channels; ++channel) {
    moments.push_back(moments_of(histogram_of(images, channel)));
  }
  return moments;
}

ImageBatches::ImageBatches(const ImageDataset& images, std::span<const ChannelMoments> moments)
    : images_(&images), value_of_byte_(moments.size()) {
  assert(moments.size() == images.channels);
  for (std::size_t channel = 0; channel < moments.size(); ++channel) {
    for (std::size_t byte = 0; byte < value_of_byte_[channel].size(); ++byte) {
      const double scaled = static_cast<double>(byte) / kLargestByte;
      value_of_byte_[channel][byte] = (scaled - moments[channel].mean) / moments[channel].deviation;
    }
  }
}

template <class Real>
Real* ImageBatches::put(std::size_t row, Real* target) const {
  const std::size_t plane = images_->height * images_->width;
  const std::uint8_t* source = images_->pixels.data() + row * images_->features();
  for (const auto& value_of : value_of_byte_) {
    for (std::size_t j = 0; j < plane; ++j) {
      *target++ = static_cast<Real>(value_of[*source++]);
    }
  }
  return target;
}

template <class Real>
Real* ImageBatches::put_varied(std::size_t row, RandomStream& random, Real* target) const {
  const auto height = static_cast<std::ptrdiff_t>(images_->height);
  const auto width = static_cast<std::ptrdiff_t>(images_->width);
  const auto down = static_cast<std::ptrdiff_t>(random.below(2 * kBorder + 1)) - kBorder;
  const auto right = static_cast<std::ptrdiff_t>(random.below(2 * kBorder + 1)) - kBorder;
  const bool mirrored = random.below(2) == 1;
  const std::uint8_t* plane = images_->pixels.data() + row * images_->features();
  for (const auto& value_of : value_of_byte_) {
    for (std::ptrdiff_t y = 0; y < height; ++y) {
      for (std::ptrdiff_t x = 0; x < width; ++x) {
        const std::ptrdiff_t from_y = y + down;
        const std::ptrdiff_t from_x = (mirrored ? width - 1 - x : x) + right;
        const bool is_inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        *target++ =
            static_cast<Real>(value_of[is_inside ? plane[from_y * width + from_x] : kBlack]);
      }
    }
    plane += height * width;
  }
  return target;
}

template <class Real>
void ImageBatches::assemble(std::span<const std::uint32_t> samples,
                            RandomStream* augmentation,
                            Batch<Real>& batch) const {
  batch.shape = {static_cast<std::int64_t>(images_->channels),
                 static_cast<std::int64_t>(images_->height),
                 static_cast<std::int64_t>(images_->width)};
  batch.pixels.resize(samples.size() * images_->features());
  batch.labels.resize(samples.size());
  Real* target = batch.pixels.data();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t row = samples[i];
    assert(row < images_->rows());
    batch.labels[i] = images_->labels[row];
    target = augmentation == nullptr ? put(row, target) : put_varied(row, *augmentation, target);
  }
}

template void ImageBatches::assemble(std::span<const std::uint32_t>,
                                     RandomStream*,
                                     Batch<float>&) const;
template void ImageBatches::assemble(std::span<const std::uint32_t>,
                                     RandomStream*,
                                     Batch<double>&) const;

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

namespace {

constexpr const char* kSyntheticImages = "synthetic-images";
constexpr std::int64_t kDefaultRows = 6000;
constexpr std::int64_t kMostRows = 1'000'000;          // 784 MB of pixels
constexpr std::size_t kTrainingRowsPerHeldOutRow = 6;  // as in MNIST
constexpr std::size_t kFewestHeldOutRows = 100;

ImageData synthetic_images(const Section& section, const ImageShape& shape) {
  const std::int64_t rows = section.integer("rows", kDefaultRows);
  require(rows >= 1 && rows <= kMostRows,
          "{} must be between 1 and {}, got {}",
          section.where("rows"),
          kMostRows,
          rows);
  const std::int64_t seed = section.integer("data_seed", 1);
  require(seed >= 0, "{} must not be negative, got {}", section.where("data_seed"), seed);
  TeacherModel model{.rows = static_cast<std::size_t>(rows),
                     .channels = shape.channels,
                     .height = shape.height,
                     .width = shape.width,
                     .classes = shape.classes,
                     .seed = static_cast<std::uint64_t>(seed)};
  ImageData data{.train = make_teacher_images(model), .test = std::nullopt};
  model.rows = std::max(model.rows / kTrainingRowsPerHeldOutRow, kFewestHeldOutRows);
  model.part = Part::held_out;
  data.test = make_teacher_images(model);
  return data;
}

/// Keeps the first `count` images; 0 keeps all.
void keep_first(std::int64_t count, const Section& section, ImageDataset& images) {
  require(count >= 0 && static_cast<std::uint64_t>(count) <= images.rows(),
          "{} must be between 1 and the {} training images of '{}', or 0 for all, got {}",
          section.where("train_samples"),
          images.rows(),
          images.name,
          count);
  const auto kept = static_cast<std::size_t>(count);
  if (kept == 0 || kept == images.rows()) {
    return;
  }
  images.note += fmt::format(
      "{}the first {} of {} images", images.note.empty() ? "" : "; ", kept, images.rows());
  images.pixels.resize(kept * images.features());
  images.labels.resize(kept);
}

}  // namespace

ImageData load_image_data(const Section& section,
                          const ObjectiveContext& context,
                          const ImageShape& synthetic) {
  const std::string name = section.text("data", kSyntheticImages);
  ImageData data = name == kSyntheticImages
                       ? synthetic_images(section, synthetic)
                       : ImageData{.train = load_images(name, context.data_dir),
                                   .test = load_images_test(name, context.data_dir)};
  keep_first(section.integer("train_samples", 0), section, data.train);
  return data;
}

}  // namespace residuum
