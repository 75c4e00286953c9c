#pragma once
// A MessageSum is what a worker or a node of real processes sends to the server: one message, or
// the sum of the messages that the workers of a node have handed in. It travels as a list, or as a
// whole vector where that is shorter; a single message as its quantiser wrote it, or in the form of
// its indices where they are not listed.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/cluster/world.h"
#include "core/protocols/late_messages.h"
#include "core/quantisers/coded_message.h"

namespace residuum {

template <class Real>
struct MessageSum {
  Message<Real> message;
  std::vector<Real> whole;  // sum of the accumulators, where the messages are everything
};

/// Adds up messages on d numbers, in the order of workers and their gradients. With the weights
/// "per-worker" each worker of the sum has the same part in it.
template <class Real>
MessageSum<Real> sum_of(std::span<const std::unique_ptr<LateMessage<Real>>> messages,
                        Weights weights,
                        std::size_t d);

/// Appends the sum to `bytes` and returns the bytes of its numbers: one more tells its form.
template <class Real>
std::uint64_t pack_sum(const MessageSum<Real>& sum, std::size_t d, Bytes& bytes);

/// Reads a sum that fills `bytes`, and returns the bytes of its numbers. A sum that does not fit a
/// model of d numbers is an Error. A single message that was quantised or has a form of its own is
/// read by the quantiser, if any, in `sum.message.form` as `sum.message.coded_values` values.
template <class Real>
std::uint64_t unpack_sum(std::span<const std::byte> bytes,
                         std::size_t d,
                         const Coding& coding,
                         MessageSum<Real>& sum);

}  // namespace residuum
