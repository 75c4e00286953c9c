#include "core/vectors/cuda/warm_bound.h"

#include <algorithm>
#include <bit>

namespace residuum::cuda {
namespace {

constexpr std::size_t kSpare = 4096;  // below that, room costs nothing
constexpr float kLeastSlack = 1e-5F;  // near the last bit of a float's magnitude
constexpr float kMostSlack = 0.5F;
constexpr float kDriftWeight = 0.25F;        // the weight of the newest ratio of cuts in the drift
constexpr std::uint32_t kAnyNonZero = 1;     // the bits of the smallest magnitude
constexpr std::uint32_t kMost = 0x7F800000;  // the bits of infinity

}  // namespace

std::size_t WarmBound::capacity(std::size_t k, std::size_t d) {
  return std::min(d, 8 * k + kSpare);
}

bool WarmBound::complete(std::size_t noted, std::size_t k, std::size_t capacity) const {
  return noted <= capacity && (noted >= k || bits_ == kAnyNonZero);
}

/// The slack grows fast and shrinks slowly, because a bound that is too high costs several more
/// passes over the vector, one that is too low only a longer list.
void WarmBound::learn(std::size_t noted, std::size_t k, std::uint32_t cut) {
  if (bits_ != kNothing) {
    if (noted < k) {
      slack_ *= 4;
    } else if (noted - k < k / 2) {
      slack_ *= 1.5F;
    } else if (noted - k > 2 * k + 64) {
      slack_ *= 0.75F;
    }
    slack_ = std::clamp(slack_, kLeastSlack, kMostSlack);
  }
  const auto magnitude = std::bit_cast<float>(cut);
  if (last_cut_ > 0) {
    drift_ += kDriftWeight * (std::clamp(magnitude / last_cut_, 0.5F, 2.0F) - drift_);
  }
  last_cut_ = magnitude;
  const float expected = magnitude * drift_ * (1 - slack_);
  bits_ = std::clamp(std::bit_cast<std::uint32_t>(expected), kAnyNonZero, kMost);
}

}  // namespace residuum::cuda
