#include "objectives/torch/network_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/random/random.h"

namespace residuum {
namespace {

/// Images that go through a network at once: enough to fill it, few enough to stay in cache.
constexpr std::size_t kImagesAtOnce = 64;

/// Calls `use(batch)` on the samples in order, a batch at a time.
template <class Real, class Use>
void for_each_batch(const ImageBatches& images,
                    std::span<const std::uint32_t> samples,
                    const Use& use) {
  Batch<Real> batch;
  for (std::size_t begin = 0; begin < samples.size(); begin += kImagesAtOnce) {
    const std::size_t count = std::min(kImagesAtOnce, samples.size() - begin);
    images.assemble(samples.subspan(begin, count), batch);
    use(batch);
  }
}

template <class Real>
void mean_gradient(Network<Real>& network,
                   const ImageBatches& images,
                   std::span<const std::uint32_t> samples,
                   std::span<const Real> w,
                   std::span<Real> gradient) {
  assert(!samples.empty());
  const Real scale = Real{1} / static_cast<Real>(samples.size());
  network.load(w);
  for_each_batch<Real>(
      images, samples, [&](Batch<Real>& batch) { network.add_gradient(batch, scale); });
  std::copy(network.gradient().begin(), network.gradient().end(), gradient.begin());
}

void check_labels(const ImageDataset& images) {
  for (std::size_t row = 0; row < images.rows(); ++row) {
    require(images.labels[row] >= 0 && images.labels[row] < images.classes,
            "image {} of '{}' has label {}, which is none of its {} classes",
            row,
            images.name,
            images.labels[row],
            images.classes);
  }
}

void check(const ImageDataset& images, const ImageShape& wanted) {
  const ImageShape got = shape_of(images);
  require(
      got == wanted,
      "'{}' has images of {}x{}x{} (channels x height x width) in {} classes, the network takes "
      "{}x{}x{} in {}",
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

/// Checks before any member is made of the data.
ImageData checked(ImageData data, const ImageShape& wanted) {
  check(data.train, wanted);
  if (data.test) {
    check(*data.test, wanted);
  }
  return data;
}

}  // namespace

ImageShape shape_of(const ImageDataset& images) {
  return {.channels = images.channels,
          .height = images.height,
          .width = images.width,
          .classes = images.classes};
}

NetworkObjective::NetworkObjective(ImageData data, Networks networks)
    : data_(checked(std::move(data), networks.shape)),
      networks_(std::move(networks)),
      moments_(channel_moments(data_.train)),
      train_(data_.train, moments_),
      info_(describe()) {
  if (data_.test) {
    test_.emplace(*data_.test, moments_);
  }
}

DataInfo NetworkObjective::describe() const {
  std::string note = data_.train.note;
  for (std::size_t channel = 0; channel < moments_.size(); ++channel) {
    note += fmt::format("{}channel {} normalised by mean {:.4f} and standard deviation {:.4f}",
                        note.empty() ? "" : "; ",
                        channel,
                        moments_[channel].mean,
                        moments_[channel].deviation);
  }
  return {.name = data_.train.name,
          .samples = data_.train.rows(),
          .features = data_.train.features(),
          .fingerprint = fingerprint(data_.train),
          .note = note};
}

std::size_t NetworkObjective::dimension() const {
  return layers().back().offset + layers().back().size;
}

void NetworkObjective::initial_point(std::uint64_t seed, std::span<double> w) const {
  assert(w.size() == dimension());
  std::int64_t fan_in = 1;
  std::uint32_t stream = 0;
  for (const Layer& layer : layers()) {
    if (layer.shape.size() > 1) {  // a bias has the fan-in of the weight before it
      fan_in = std::accumulate(
          layer.shape.begin() + 1, layer.shape.end(), std::int64_t{1}, std::multiplies<>());
    }
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    RandomStream random(seed, Purpose::initial_point, stream++, 0);
    for (double& value : w.subspan(layer.offset, layer.size)) {
      value = static_cast<float>(bound * (2 * random.uniform() - 1));
    }
  }
}

void NetworkObjective::stochastic_gradient(const Draw& draw,
                                           std::span<const float> w,
                                           std::span<float> gradient) const {
  const std::lock_guard lock(in_use_);
  mean_gradient(*networks_.single_precision, train_, draw.samples, w, gradient);
}

void NetworkObjective::stochastic_gradient(const Draw& draw,
                                           std::span<const double> w,
                                           std::span<double> gradient) const {
  const std::lock_guard lock(in_use_);
  mean_gradient(*networks_.double_precision, train_, draw.samples, w, gradient);
}

double NetworkObjective::evaluate(int /*worker*/,
                                  int /*workers*/,
                                  std::span<const std::uint32_t> shard,
                                  const Point& at,
                                  std::span<double> gradient) const {
  const std::lock_guard lock(in_use_);
  auto& network = *networks_.double_precision;
  const double scale = 1 / static_cast<double>(samples());
  double sum = 0;
  network.load(at.w);
  for_each_batch<double>(train_, shard, [&](Batch<double>& batch) {
    sum += gradient.empty() ? network.loss(batch).sum : network.add_gradient(batch, scale);
  });
  if (!gradient.empty()) {
    std::transform(gradient.begin(),
                   gradient.end(),
                   network.gradient().begin(),
                   gradient.begin(),
                   std::plus<>());
  }
  return scale * sum;
}

std::optional<TestResult> NetworkObjective::test(const Point& at) const {
  if (!test_) {
    return std::nullopt;
  }
  const std::lock_guard lock(in_use_);
  auto& network = *networks_.double_precision;
  std::vector<std::uint32_t> all(data_.test->rows());
  std::iota(all.begin(), all.end(), 0U);
  BatchLoss total;
  network.load(at.w);
  for_each_batch<double>(*test_, all, [&](Batch<double>& batch) {
    const BatchLoss part = network.loss(batch);
    total.sum += part.sum;
    total.correct += part.correct;
  });
  const auto count = static_cast<double>(all.size());
  return TestResult{.loss = total.sum / count,
                    .accuracy = static_cast<double>(total.correct) / count};
}

}  // namespace residuum
