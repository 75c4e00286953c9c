#include "core/training/participants.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/random/random.h"

namespace residuum {

Participants::Participants(std::uint64_t seed, int workers, int count)
    : seed_(seed),
      order_(static_cast<std::size_t>(workers)),
      numbers_(static_cast<std::size_t>(count)),
      takes_part_(order_.size()) {
  assert(count >= 1 && count <= workers);
  std::iota(numbers_.begin(), numbers_.end(), 0);
  std::fill_n(takes_part_.begin(), count, true);
}

/// Takes the first m places of a random permutation (Fisher and Yates).
void Participants::draw(std::uint64_t version) {
  if (are_all()) {
    return;
  }
  RandomStream random(seed_, Purpose::participation, 0, static_cast<std::uint32_t>(version));
  std::iota(order_.begin(), order_.end(), 0);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const auto left = static_cast<std::uint32_t>(order_.size() - i);
    std::swap(order_[i], order_[i + random.below(left)]);
    numbers_[i] = order_[i];
  }
  std::sort(numbers_.begin(), numbers_.end());
  std::fill(takes_part_.begin(), takes_part_.end(), false);
  for (const int worker : numbers_) {
    takes_part_[static_cast<std::size_t>(worker)] = true;
  }
}

}  // namespace residuum
