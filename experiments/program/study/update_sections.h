#pragma once
// These functions read how workers step between exchanges, and what happens to the update between
// the exchange and the model.

#include "core/config/section.h"
#include "core/messages/laws.h"
#include "core/training/method.h"

namespace residuum {

/// Reads momentum, weight decay and clipping of [step], all off by default.
void read_update(const Section& step,
                 const Section& feedback,
                 const ProtocolLaw& protocol,
                 Method& method);

/// Reads [local], the optimiser by which workers step on models of their own. Without the section
/// they step along their gradients.
void read_local(const Section& local,
                const ProtocolLaw& protocol,
                const Section& feedback,
                Method& method);

/// Reads [outer], the outer step and momentum of local methods, or that the model moves by signs or
/// polar factors.
/// Without the section the model takes the update as it is.
void read_outer(const Section& outer, const Section& step, const Section& feedback, Method& method);

}  // namespace residuum
