#pragma once
// These functions read the [budget] of a study and check it against the training that it is for.

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "core/config/section.h"
#include "core/protocols/protocol.h"
#include "core/training/training.h"

namespace residuum {

/// Returns the product of sizes that a study gives; nothing if it is above `most`. Plain products
/// of such sizes may wrap.
std::optional<std::uint64_t> product_within(std::initializer_list<std::uint64_t> factors,
                                            std::uint64_t most);

/// Random streams are keyed by the number of the batch, which has 32 bits.
void check_batches(const Section& budget, const Training& training, std::uint64_t local_steps);

/// In lockstep every iteration takes so many gradients of each worker. How many a late worker gives
/// shows in the run.
void check_recorded(const Section& budget, const Training& training, const ProtocolLaw& law);

/// A training outside hands over one gradient of each worker, then waits for the update.
void check_source(const Section& protocol, const Training& training, const ProtocolLaw& law);

/// Reads the loss from which a run counts as diverged.
std::optional<double> read_loss_bound(const Section& section, const Objective& objective);

}  // namespace residuum
