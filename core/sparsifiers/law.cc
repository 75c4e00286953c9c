#include <algorithm>

#include "core/sparsifiers/sparsifier.h"

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

}  // namespace residuum
