#include "objectives/torch/image_batches.h"

#include <cassert>
#include <cmath>

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

}  // namespace residuum
