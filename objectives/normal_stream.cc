#include "objectives/normal_stream.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace residuum {
namespace {

// The half bell exp(-x^2/2) is covered by kLayers regions of equal area kArea: boxes, and at the
// bottom a box with the tail beyond kTailStart. The constants are Marsaglia and Tsang's.
constexpr std::size_t kLayers = 128;
constexpr double kTailStart = 3.442619855899;
constexpr double kArea = 9.91256303526217e-3;

double bell(double x) { return std::exp(-0.5 * x * x); }

struct Ziggurat {
  std::array<double, kLayers + 1> width{};  // decreasing; width[0] is that of a box with the area
  std::array<double, kLayers> inside{};     // the part of a layer that lies under the layer above

  Ziggurat() {
    width[0] = kArea / bell(kTailStart);
    width[1] = kTailStart;
    for (std::size_t i = 2; i < kLayers; ++i) {
      width[i] = std::sqrt(-2 * std::log(kArea / width[i - 1] + bell(width[i - 1])));
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
    const double x = -std::log1p(-bits_.uniform()) / kTailStart;
    const double y = -std::log1p(-bits_.uniform());
    if (2 * y > x * x) {
      return negative ? -kTailStart - x : kTailStart + x;
    }
  }
}

}  // namespace residuum
