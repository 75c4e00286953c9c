#pragma once
// These functions read what happens to the update between the exchange and the model.

#include "core/config/section.h"
#include "core/training/method.h"

namespace residuum {

/// Reads momentum, weight decay and clipping of [step], all off by default.
void read_update(const Section& step, const Section& feedback, Method& method);

/// Reads [outer], the outer step and momentum of local methods. Without the section the model takes
/// the update as it is.
void read_outer(const Section& outer, const Section& step, const Section& feedback, Method& method);

}  // namespace residuum
