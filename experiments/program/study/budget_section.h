#pragma once
// These functions read the [budget] of a study and check it against the training that it is for.

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "core/config/section.h"
#include "core/protocols/protocol.h"
#include "core/training/training.h"

namespace residuum {

/// The number of iterations where something else decides when the run ends: the most there can be.
inline constexpr std::uint64_t kOpenEnd = (std::uint64_t{1} << 32U) - 1;

/// An iteration takes so much; absent where iterations have more gradients or fewer, as it happens.
struct IterationCosts {
  std::optional<std::uint64_t> gradients;  // of all workers together
  std::optional<double> samples;
};

/// Reads how long a run is into its iterations and its budget. The section has one of
///   iterations  their number;
///   epochs      passes over the data;
///   gradients   of all workers together;
///   virtual_s   seconds of virtual time, on the first network.
/// If iterations take the same number of gradients, epochs and gradients are a number of
/// iterations, too, the last of which may pass them by a quarter. Otherwise the run ends at the
/// first iteration by which the budget is spent. A training outside may have none of them.
void read_length(const Section& budget,
                 const IterationCosts& iteration,
                 const ProtocolLaw& law,
                 Training& training);

/// Refuses pilot runs for a threshold where nobody knows how long they are, or workers wait.
void check_pilot_length(const Section& sparsifier,
                        const Training& training,
                        const ProtocolLaw& law);

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
