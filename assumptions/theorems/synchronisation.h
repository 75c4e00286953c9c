#pragma once
// Theorems about dense gradients, one for each way in which workers stay in step, share these
// preconditions and terms.

#include <vector>

#include "assumptions/theorems/examination.h"
#include "core/messages/laws.h"

namespace residuum {

struct DenseConstants {
  double smoothness = 0;  // L
  double gap = 0;         // Delta
  double variance = 0;    // sigma^2 of a worker
};

/// Asks for plain updates by a constant step along unbiased gradients that are sent whole.
DenseConstants need_dense_constants(Examination& exam);

void protocol_is(Examination& exam, Synchrony synchrony);

/// 2 Delta/(eta T), and terms that do not depend on T.
Examination::Terms start_and(double gap, std::vector<BoundTerm> rest);

}  // namespace residuum
