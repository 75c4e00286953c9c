#pragma once

#include <span>

#include "core/config/section.h"
#include "core/messages/laws.h"
#include "core/training/method.h"

namespace residuum {

/// Reads [quantiser], which is off by default. It is a usage error where the aggregator would have
/// to sum its messages on their way. `layers` are those of the objective.
void read_quantiser(const Section& section,
                    const Section& aggregator,
                    const ProtocolLaw& protocol,
                    std::span<const Segment> layers,
                    Method& method);

}  // namespace residuum
