#include "core/sparsifiers/subset.h"

#include <algorithm>

namespace residuum {

RandomStream selection_stream(const SelectionContext& context, bool shared) {
  constexpr std::uint32_t kShared = 0xffffffff;  // no worker has this number
  const std::uint32_t worker = shared ? kShared : static_cast<std::uint32_t>(context.worker);
  return {context.seed, Purpose::sparsifier, worker, static_cast<std::uint32_t>(context.iteration)};
}

void draw_subset(std::size_t n, std::size_t k, RandomStream& random, SelectWorkspace& workspace) {
  auto& subset = workspace.subset;
  auto& taken = workspace.taken;
  if (taken.size() < n) {
    taken.resize(n);
  }
  subset.clear();
  for (std::size_t j = n - k; j < n; ++j) {
    const auto drawn = random.below(static_cast<std::uint32_t>(j + 1));
    const auto chosen = taken[drawn] ? static_cast<std::uint32_t>(j) : drawn;
    taken[chosen] = true;
    subset.push_back(chosen);
  }
  for (const std::uint32_t chosen : subset) {
    taken[chosen] = false;
  }
  std::sort(subset.begin(), subset.end());
}

}  // namespace residuum
