#pragma once
// The objective of a training outside of this program, which hands over its gradients.

#include "objectives/registry.h"

namespace residuum {

/// Returns the registry's entry. It has no example: a study with it is run by attaching it to a
/// training (residuum_live.h, residuum.py).
const ObjectiveEntry& live_objective();

}  // namespace residuum
