#include "objectives/noisy_function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/elementary.h"
#include "core/error.h"

namespace residuum {
namespace {

// The half bell exp(-x^2/2) is covered by kLayers regions of equal area kArea: boxes, and at the
// bottom a box with the tail beyond kTailStart. The constants are Marsaglia and Tsang's.
constexpr std::size_t kLayers = 128;
constexpr double kTailStart = 3.442619855899;
constexpr double kArea = 9.91256303526217e-3;

double bell(double x) { return elementary::exp(-0.5 * x * x); }

struct Ziggurat {
  std::array<double, kLayers + 1> width{};  // decreasing; width[0] is that of a box with the area
  std::array<double, kLayers> inside{};     // the part of a layer that lies under the layer above

  Ziggurat() {
    width[0] = kArea / bell(kTailStart);
    width[1] = kTailStart;
    for (std::size_t i = 2; i < kLayers; ++i) {
      width[i] = std::sqrt(-2 * elementary::log(kArea / width[i - 1] + bell(width[i - 1])));
    }
    for (std::size_t i = 0; i < kLayers; ++i) {
      inside[i] = width[i + 1] / width[i];
    }
  }
};

}  // namespace

double NormalStream::next() {
  static const Ziggurat ziggurat;
  for (;;) {
    const std::uint64_t bits = bits_.bits64();
    const std::size_t layer = bits % kLayers;
    const double u = static_cast<double>(bits >> 11) * 0x1.0p-52 - 1;
    const double x = u * ziggurat.width[layer];
    if (std::abs(u) < ziggurat.inside[layer]) {
      return x;
    }
    if (layer == 0) {
      return tail(u < 0);
    }
    const double low = bell(ziggurat.width[layer]);
    const double high = bell(ziggurat.width[layer + 1]);
    if (low + bits_.uniform() * (high - low) < bell(x)) {
      return x;
    }
  }
}

double NormalStream::tail(bool negative) {
  for (;;) {
    const double x = bits_.exponential() / kTailStart;
    const double y = bits_.exponential();
    if (2 * y > x * x) {
      return negative ? -kTailStart - x : kTailStart + x;
    }
  }
}

namespace {

constexpr std::int64_t kMostCoordinates = (std::int64_t{1} << 32U) - 1;

RandomStream stream_of(const Draw& draw, Purpose purpose) {
  return {draw.seed,
          purpose,
          static_cast<std::uint32_t>(draw.worker),
          static_cast<std::uint32_t>(draw.iteration)};
}

}  // namespace

NoisyFunction::NoisyFunction(std::int64_t dimension)
    : dimension_(static_cast<std::size_t>(dimension)) {
  require(dimension >= 1 && dimension <= kMostCoordinates,
          "the dimension of an objective must be from 1 to {}, got {}",
          kMostCoordinates,
          dimension);
}

DataInfo NoisyFunction::data() const {
  return {.name = "none", .samples = 0, .features = dimension_, .fingerprint = "", .note = ""};
}

std::optional<double> NoisyFunction::shard_smoothness(
    std::span<const std::uint32_t> /*shard*/) const {
  return facts().smoothness;
}

void NoisyFunction::initial_point(std::uint64_t /*seed*/, std::span<double> w) const {
  std::fill(w.begin(), w.end(), 0.0);
}

void NoisyFunction::stochastic_gradient(const Draw& draw,
                                        std::span<const double> w,
                                        std::span<double> gradient) const {
  value(w, gradient);
  RandomStream noise = stream_of(draw, Purpose::noise);
  add_noise(noise, w, gradient);
  if (draw.first_half) {
    RandomStream difference = stream_of(draw, Purpose::half_noise);
    add_noise(difference, w, gradient);
  }
}

void NoisyFunction::stochastic_gradient(const Draw& draw,
                                        std::span<const float> w,
                                        std::span<float> gradient) const {
  const std::vector<double> point(w.begin(), w.end());
  std::vector<double> exact(gradient.size());
  stochastic_gradient(draw, point, exact);
  std::transform(exact.begin(), exact.end(), gradient.begin(), [](double number) {
    return static_cast<float>(number);
  });
}

double NoisyFunction::evaluate(int /*worker*/,
                               int workers,
                               std::span<const std::uint32_t> /*shard*/,
                               const Point& at,
                               std::span<double> gradient) const {
  std::vector<double> own(dimension_);
  const double f = value(at.w, own);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] += own[i] / workers;
  }
  return f / workers;
}

std::optional<TestResult> NoisyFunction::test(const Point& /*at*/) const { return std::nullopt; }

}  // namespace residuum
