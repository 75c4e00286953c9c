#pragma once
// Sections of a study that say what its method is.

#include <optional>
#include <span>

#include "core/config/section.h"
#include "core/messages/laws.h"
#include "core/training/method.h"
#include "core/training/training.h"

namespace residuum {

// These functions read how workers step between exchanges, and what happens to the update between
// the exchange and the model.

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

/// Reads [quantiser], which is off by default. It is a usage error where the aggregator would have
/// to sum its messages on their way. `layers` are those of the objective.
void read_quantiser(const Section& section,
                    const Section& aggregator,
                    const ProtocolLaw& protocol,
                    std::span<const Segment> layers,
                    Method& method);

// These functions read how many workers take part in a version, and check what cannot do without
// the others.

/// Reads `participation` of [workers]: "all", a fraction of the workers, or how many. It is
/// absent for "all", which is the default.
std::optional<int> read_participation(const Section& workers, int count);

/// Reports a usage error where workers are left out under a protocol that needs all of them, with
/// virtual clocks, or with a feedback that must know what the estimates of all workers miss. `law`
/// is that of the run.
void check_participation(const Section& workers,
                         const Training& training,
                         const ProtocolLaw& law,
                         const Method& method);

/// Reports a usage error where memories are averaged of workers that may be absent, or while layers
/// are exchanged one by one.
void check_memory_periods(const Section& local, const Training& training, const Method& method);

/// Reports a usage error where a server sends more changes than the model has parameters, or sends
/// those of a training outside.
void check_shift(const Section& aggregator, const Training& training, const Method& method);

}  // namespace residuum
