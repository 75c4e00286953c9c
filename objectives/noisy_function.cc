#include "objectives/noisy_function.h"

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace residuum {
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
