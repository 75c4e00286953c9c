#include "core/sparsifiers/sparsifier.h"

#include <algorithm>

namespace residuum {

SparsifierLaw weaker_of(const SparsifierLaw& a, const SparsifierLaw& b) {
  SparsifierLaw law;
  if (a.contraction && b.contraction) {
    law.contraction = std::min(*a.contraction, *b.contraction);
  }
  if (a.threshold && b.threshold) {
    law.threshold = std::max(*a.threshold, *b.threshold);
  }
  law.pathwise = a.pathwise && b.pathwise;
  law.exact = a.exact && b.exact && a.contraction == b.contraction;
  law.deterministic = a.deterministic && b.deterministic;
  law.keeps_values = a.keeps_values && b.keeps_values;
  law.keeps_largest = a.keeps_largest && b.keeps_largest;
  law.shares_support = a.shares_support && b.shares_support;
  law.unbiased = a.unbiased && b.unbiased;
  law.reuses_threshold = a.reuses_threshold || b.reuses_threshold;
  law.threshold_scales = a.threshold_scales && b.threshold_scales;
  law.claimed = a.claimed || b.claimed;
  return law;
}

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
