#include "objectives/torch/network_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/fnv1a.h"
#include "core/random/random.h"

namespace residuum {
namespace {

/// So many samples go through a network at once: enough to use the processor well, few enough to
/// stay in cache. There are fewer if their logits alone would take 128 MiB of floats.
constexpr std::size_t kSamplesAtOnce = 64;
constexpr std::size_t kMostLogits = std::size_t{1} << 25U;
/// The number of samples whose moments batch normalisation takes together.
constexpr std::size_t kNormalisedAtOnce = 256;

/// This seed chooses the samples that stand for all; it is the same in every run.
constexpr std::uint64_t kSelectionSeed = 1;
enum class Selection : std::uint32_t { evaluated = 1, tested = 2 };

/// Returns `count` of the numbers below `total`, increasing, every choice equally likely (Knuth's
/// selection sampling, TAOCP 3.4.2 S); all of them if count is 0 or not smaller.
std::vector<std::uint32_t> chosen(std::size_t count, std::size_t total, Selection selection) {
  std::vector<std::uint32_t> samples(total);
  std::iota(samples.begin(), samples.end(), 0U);
  if (count == 0 || count >= total) {
    return samples;
  }
  RandomStream random(kSelectionSeed,
                      Purpose::evaluation,
                      static_cast<std::uint32_t>(selection),
                      static_cast<std::uint32_t>(total));
  std::size_t missing = count;
  std::erase_if(samples, [&](std::uint32_t sample) {
    const bool is_taken = random.below(static_cast<std::uint32_t>(total) - sample) < missing;
    missing -= is_taken ? 1 : 0;
    return !is_taken;
  });
  return samples;
}

std::size_t samples_at_once(const ImageShape& shape, std::size_t labels_per_sample) {
  const std::size_t logits = labels_per_sample * static_cast<std::size_t>(shape.classes);
  return std::clamp<std::size_t>(kMostLogits / logits, 1, kSamplesAtOnce);
}

/// The seed depends on the samples, because the parts of an accumulated batch are one iteration.
std::uint64_t seed_of(const Draw& draw, std::span<const std::uint32_t> samples) {
  RandomStream random(draw.seed,
                      Purpose::noise,
                      static_cast<std::uint32_t>(draw.worker),
                      static_cast<std::uint32_t>(draw.iteration));
  Fnv1a hash;
  hash.add(fmt::format("{} {}", random.bits64(), fmt::join(samples, " ")));
  return hash.value();
}

using Clock = std::chrono::steady_clock;

double fraction_of(Clock::time_point begin, Clock::time_point now, Clock::time_point end) {
  return std::chrono::duration<double>(now - begin) / std::chrono::duration<double>(end - begin);
}

double lower_median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void check_shape(const NetworkData& data, const ImageShape& wanted) {
  require(data.shape == wanted,
          "'{}' has samples of {}x{}x{} in {} classes, the network takes {}x{}x{} in {}",
          data.info.name,
          data.shape.channels,
          data.shape.height,
          data.shape.width,
          data.shape.classes,
          wanted.channels,
          wanted.height,
          wanted.width,
          wanted.classes);
}

double start_value(const Start& start, RandomStream& random) {
  switch (start.law) {
    case Start::Law::uniform:
      return start.scale * (2 * random.uniform() - 1);
    case Start::Law::normal:
      return start.scale * random.normal();
    case Start::Law::constant:
      break;
  }
  return start.scale;
}

}  // namespace

NetworkObjective::NetworkObjective(ImageData data, Networks networks, const NetworkOptions& options)
    : NetworkObjective(image_samples(std::move(data), networks.shape), networks, options) {}

NetworkObjective::NetworkObjective(NetworkData data,
                                   Networks networks,
                                   const NetworkOptions& options)
    : data_(std::move(data)),
      networks_(std::move(networks)),
      device_(options.device),
      evaluate_in_float_(options.evaluate_in_float),
      single_(networks_.make_single(device_)) {
  check_shape(data_, networks_.shape);
  const std::size_t n = samples();
  if (options.evaluate_samples > 0 && options.evaluate_samples < n) {
    evaluated_ = chosen(options.evaluate_samples, n, Selection::evaluated);
    data_.info.note +=
        fmt::format("; f is estimated by {} of the {} training samples, the same in every run",
                    evaluated_.size(),
                    n);
  }
  if (data_.test) {
    tested_ = chosen(options.test_samples, data_.test->samples(), Selection::tested);
    if (tested_.size() < data_.test->samples()) {
      data_.info.note += fmt::format(
          "; tested on {} of {} held-out samples", tested_.size(), data_.test->samples());
    }
  }
  if (evaluate_in_float_) {
    data_.info.note += "; f is evaluated in float32";
  }
  initial_statistics_ = single_->statistics();
  if (!initial_statistics_.empty()) {
    data_.info.note += fmt::format(
        "; batch normalisation: each worker keeps running statistics {}, evaluations "
        "use their average over the workers",
        networks_.averaging);
  }
  Batch<float> first;
  data_.train->assemble(std::vector<std::uint32_t>{0}, nullptr, first);
  at_once_ = samples_at_once(networks_.shape, first.labels_per_sample);
}

template <class Real>
Network<Real>& NetworkObjective::network() const {
  if constexpr (std::is_same_v<Real, float>) {
    return *single_;
  } else {
    if (!double_) {
      double_ = networks_.make_double(device_);
    }
    return *double_;
  }
}

std::size_t NetworkObjective::dimension() const {
  const Layer& last = single_->layers().back();
  return last.offset + last.size;
}

Facts NetworkObjective::facts() const {
  std::vector<std::string> biases;
  if (!initial_statistics_.empty()) {
    biases.emplace_back("batch normalisation in training mode");
  }
  if (!networks_.training_bias.empty()) {
    biases.push_back(networks_.training_bias);
  }
  if (data_.is_augmented) {
    biases.emplace_back("batches are augmented, the samples of f are not");
  }
  if (!evaluated_.empty()) {
    biases.push_back(
        fmt::format("f is evaluated on {} of {} samples", evaluated_.size(), samples()));
  }
  Facts facts;
  facts.lower_bound = networks_.lower_bound;
  facts.starts_from_seed = networks_.saved_start.empty();
  facts.gradient_bias = fmt::to_string(fmt::join(biases, "; "));
  return facts;
}

void NetworkObjective::initial_statistics(std::span<double> statistics) const {
  std::copy(initial_statistics_.begin(), initial_statistics_.end(), statistics.begin());
}

void NetworkObjective::initial_point(std::uint64_t seed, std::span<double> w) const {
  assert(w.size() == dimension());
  if (!networks_.saved_start.empty()) {
    std::copy(networks_.saved_start.begin(), networks_.saved_start.end(), w.begin());
    return;
  }
  std::int64_t fan_in = 1;
  std::uint32_t stream = 0;
  for (const Layer& layer : layers()) {
    if (layer.shape.size() > 1) {  // a bias has the fan-in of the weight before it
      fan_in = std::accumulate(
          layer.shape.begin() + 1, layer.shape.end(), std::int64_t{1}, std::multiplies<>());
    }
    const Start start = networks_.start(layer, fan_in);
    RandomStream random(seed, Purpose::initial_point, stream++, 0);
    for (double& value : w.subspan(layer.offset, layer.size)) {
      value = static_cast<float>(start_value(start, random));
    }
  }
}

/// Returns the parts of a batch that random layers draw numbers for. Each half has a seed of its
/// own, so that the gradient of the first half draws the numbers that it has in that of the whole.
/// Batch normalisation needs the batch whole.
std::vector<std::span<const std::uint32_t>> NetworkObjective::parts_with_seeds(
    const Draw& draw) const {
  const std::size_t half = draw.samples.size() / 2;
  const bool has_halves =
      networks_.is_random && initial_statistics_.empty() && !draw.first_half && half > 0;
  if (!has_halves) {
    return {draw.samples};
  }
  return {draw.samples.first(half), draw.samples.subspan(half)};
}

/// Calls `use(batch)` on the samples in order, a part at a time.
template <class Real, class Use>
void NetworkObjective::for_each_part(const SampleSource& source,
                                     std::span<const std::uint32_t> samples,
                                     std::size_t at_once,
                                     RandomStream* augmentation,
                                     const Use& use) const {
  Batch<Real> batch;
  for (std::size_t begin = 0; begin < samples.size(); begin += at_once) {
    const std::size_t count = std::min(at_once, samples.size() - begin);
    source.assemble(samples.subspan(begin, count), augmentation, batch);
    use(batch);
  }
}

template <class Real>
void NetworkObjective::batch_gradient(Network<Real>& learner,
                                      const Draw& draw,
                                      std::span<const Real> w,
                                      std::span<Real> gradient) const {
  learner.load(w);
  add_batch(learner, draw);
  std::copy(learner.gradient().begin(), learner.gradient().end(), gradient.begin());
}

/// Adds the gradient of the batch at the parameters that the network has.
template <class Real>
void NetworkObjective::add_batch(Network<Real>& learner, const Draw& draw) const {
  assert(!draw.samples.empty());
  const Real scale = Real{1} / static_cast<Real>(draw.samples.size());
  RandomStream augmentation(draw.seed,
                            Purpose::augmentation,
                            static_cast<std::uint32_t>(draw.worker),
                            static_cast<std::uint32_t>(draw.iteration));
  if (!draw.statistics.empty()) {
    learner.load_statistics(draw.statistics);
  }
  const auto add = [&](std::span<const std::uint32_t> samples) {
    for_each_part<Real>(
        *data_.train,
        samples,
        initial_statistics_.empty() ? at_once_ : kNormalisedAtOnce,
        &augmentation,
        [&](Batch<Real>& batch) { learner.add_gradient(batch, scale, Phase::training); });
  };
  for (const auto& part : parts_with_seeds(draw)) {
    if (networks_.is_random) {
      learner.seed(seed_of(draw, part));
    }
    add(part);
  }
  if (!draw.statistics.empty()) {
    const auto moved = learner.statistics();
    std::copy(moved.begin(), moved.end(), draw.statistics.begin());
  }
}

void NetworkObjective::gradient_there(const Draw& draw, DeviceSpan w, DeviceRoom gradient) const {
  const std::lock_guard lock(in_use_);
  auto& learner = network<float>();
  learner.load_there(w);
  add_batch(learner, draw);
  learner.gradient_there(gradient);
}

void NetworkObjective::stochastic_gradient(const Draw& draw,
                                           std::span<const float> w,
                                           std::span<float> gradient) const {
  const std::lock_guard lock(in_use_);
  batch_gradient<float>(network<float>(), draw, w, gradient);
}

void NetworkObjective::stochastic_gradient(const Draw& draw,
                                           std::span<const double> w,
                                           std::span<double> gradient) const {
  const std::lock_guard lock(in_use_);
  batch_gradient<double>(network<double>(), draw, w, gradient);
}

std::vector<double> NetworkObjective::ready_fractions(std::size_t samples) const {
  constexpr int kGradients = 7;  // the first one is not counted: it makes room
  const auto learner = networks_.make_single(device_);
  std::vector<Clock::time_point> ready(learner->layers().size());
  learner->tell_ready_layers([&](std::size_t layer) { ready[layer] = Clock::now(); });

  std::vector<std::uint32_t> batch(std::clamp<std::size_t>(samples, 1, this->samples()));
  std::iota(batch.begin(), batch.end(), 0U);
  std::vector<double> start(dimension());
  initial_point(kSelectionSeed, start);
  const std::vector<float> w(start.begin(), start.end());
  std::vector<float> gradient(w.size());
  std::vector<double> statistics = initial_statistics_;

  std::vector<std::vector<double>> fractions(ready.size());  // by layer
  for (int i = 0; i < kGradients; ++i) {
    const auto begin = Clock::now();
    batch_gradient<float>(*learner, {.samples = batch, .statistics = statistics}, w, gradient);
    const auto end = Clock::now();
    for (std::size_t layer = 0; i > 0 && layer < ready.size(); ++layer) {
      fractions[layer].push_back(fraction_of(begin, ready[layer], end));
    }
  }
  std::vector<double> medians(fractions.size());
  std::transform(fractions.begin(), fractions.end(), medians.begin(), lower_median);
  return medians;
}

template <class Real>
void NetworkObjective::load(const Point& at) const {
  auto& learner = network<Real>();
  const std::vector<Real> w(at.w.begin(), at.w.end());
  learner.load(w);
  learner.load_statistics(at.statistics.empty() ? std::span<const double>(initial_statistics_)
                                                : at.statistics);
}

template <class Real>
double NetworkObjective::evaluate_in(std::span<const std::uint32_t> samples,
                                     const Point& at,
                                     std::span<double> gradient) const {
  auto& learner = network<Real>();
  const std::size_t all = evaluated_.empty() ? this->samples() : evaluated_.size();
  const double scale = 1 / static_cast<double>(all);
  double sum = 0;
  load<Real>(at);
  for_each_part<Real>(*data_.train, samples, at_once_, nullptr, [&](Batch<Real>& batch) {
    sum += gradient.empty()
               ? learner.loss(batch).sum
               : learner.add_gradient(batch, static_cast<Real>(scale), Phase::evaluation);
  });
  const auto part = learner.gradient();
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] += static_cast<double>(part[i]);
  }
  return scale * sum;
}

double NetworkObjective::evaluate(int /*worker*/,
                                  int /*workers*/,
                                  std::span<const std::uint32_t> shard,
                                  const Point& at,
                                  std::span<double> gradient) const {
  std::vector<std::uint32_t> samples(shard.begin(), shard.end());
  if (!evaluated_.empty()) {
    std::erase_if(samples, [&](std::uint32_t sample) {
      return !std::binary_search(evaluated_.begin(), evaluated_.end(), sample);
    });
  }
  const std::lock_guard lock(in_use_);
  return evaluate_in_float_ ? evaluate_in<float>(samples, at, gradient)
                            : evaluate_in<double>(samples, at, gradient);
}

template <class Real>
TestResult NetworkObjective::test_in(const Point& at) const {
  double loss = 0;
  std::size_t correct = 0;
  std::size_t labels = 0;
  load<Real>(at);
  for_each_part<Real>(*data_.test, tested_, at_once_, nullptr, [&](Batch<Real>& batch) {
    const BatchLoss part = network<Real>().loss(batch);
    loss += part.sum;
    correct += part.correct;
    labels += batch.labels.size();
  });
  TestResult result{.loss = loss / static_cast<double>(tested_.size()),
                    .accuracy = static_cast<double>(correct) / static_cast<double>(labels)};
  if (data_.is_text) {
    result.perplexity = std::exp(result.loss);
  }
  return result;
}

std::optional<TestResult> NetworkObjective::test(const Point& at) const {
  if (!data_.test) {
    return std::nullopt;
  }
  const std::lock_guard lock(in_use_);
  return evaluate_in_float_ ? test_in<float>(at) : test_in<double>(at);
}

}  // namespace residuum
