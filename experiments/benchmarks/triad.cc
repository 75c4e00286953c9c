#include "experiments/benchmarks/triad.h"

#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "experiments/benchmarks/triad.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                               // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void add_scaled(float* m, const float* g, std::size_t size, float scale) {
  const hn::ScalableTag<float> d;
  const std::size_t width = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);
  const auto add = [&](std::size_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, g + i), hn::LoadU(d, m + i)), d, m + i);
  };
  std::size_t i = 0;
  for (; i + 4 * width <= size; i += 4 * width) {
    add(i);
    add(i + width);
    add(i + 2 * width);
    add(i + 3 * width);
  }
  for (; i < size; ++i) {
    m[i] += scale * g[i];
  }
}

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum {

HWY_EXPORT(add_scaled);

void triad(std::span<float> m, std::span<const float> g, float scale) {
  assert(m.size() == g.size());
  HWY_DYNAMIC_DISPATCH(add_scaled)(m.data(), g.data(), m.size(), scale);
}

}  // namespace residuum
#endif
