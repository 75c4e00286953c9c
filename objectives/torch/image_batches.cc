#include "objectives/torch/image_batches.h"

#include <cassert>
#include <cmath>

namespace residuum {
namespace {

using Histogram = std::array<std::uint64_t, 256>;

constexpr double kLargestByte = 255;

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
void ImageBatches::assemble(std::span<const std::uint32_t> samples, Batch<Real>& batch) const {
  const std::size_t plane = images_->height * images_->width;
  const std::size_t features = images_->features();
  batch.pixels.resize(samples.size() * features);
  batch.labels.resize(samples.size());
  Real* target = batch.pixels.data();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t row = samples[i];
    assert(row < images_->rows());
    batch.labels[i] = images_->labels[row];
    const std::uint8_t* source = images_->pixels.data() + row * features;
    for (const auto& value_of : value_of_byte_) {
      for (std::size_t j = 0; j < plane; ++j) {
        *target++ = static_cast<Real>(value_of[*source++]);
      }
    }
  }
}

template void ImageBatches::assemble(std::span<const std::uint32_t>, Batch<float>&) const;
template void ImageBatches::assemble(std::span<const std::uint32_t>, Batch<double>&) const;

}  // namespace residuum
