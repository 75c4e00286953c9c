#pragma once
// These functions read how many workers take part in a version, and check what cannot do without
// the others.

#include <optional>

#include "core/config/section.h"
#include "core/messages/laws.h"
#include "core/training/method.h"
#include "core/training/training.h"

namespace residuum {

/// Reads `participation` of [workers]: "all", a fraction of the workers, or how many. It is
/// absent for "all", which is the default.
std::optional<int> read_participation(const Section& workers, int count);

/// Reports a usage error where workers are left out under a protocol that needs all of them, with
/// virtual clocks, or with a feedback whose update is made of all workers' estimates. `law` is that
/// of the run.
void check_participation(const Section& workers,
                         const Training& training,
                         const ProtocolLaw& law,
                         const Method& method);

}  // namespace residuum
