#include "core/vectors/cuda/warm_bound.h"

#include <algorithm>
#include <bit>

namespace residuum::cuda {
namespace {

constexpr std::size_t kSpare = 4096;  // below that, room costs nothing
constexpr float kLeastSlack = 1.0F / 1024;
constexpr float kMostSlack = 0.5F;
constexpr std::uint32_t kAnyNonZero = 1;  // the bits of the smallest magnitude

}  // namespace

std::size_t WarmBound::capacity(std::size_t k, std::size_t d) {
  return std::min(d, 4 * k + kSpare);
}

bool WarmBound::complete(std::size_t noted, std::size_t k, std::size_t capacity) const {
  return noted <= capacity && (noted >= k || bits_ == kAnyNonZero);
}

/// A bound that is too high costs two more passes over the vector, one that is too low only a
/// longer list: the slack grows fast and shrinks slowly.
void WarmBound::learn(std::size_t noted, std::size_t k, std::uint32_t cut) {
  if (bits_ != kNothing) {
    if (noted < k) {
      slack_ *= 2;
    } else if (noted - k < k / 8) {
      slack_ *= 1.5F;
    } else if (noted - k > k / 2 + 64) {
      slack_ *= 0.75F;
    }
    slack_ = std::clamp(slack_, kLeastSlack, kMostSlack);
  }
  const float lowered = std::bit_cast<float>(cut) * (1 - slack_);
  bits_ = std::max(kAnyNonZero, std::bit_cast<std::uint32_t>(lowered));
}

}  // namespace residuum::cuda
