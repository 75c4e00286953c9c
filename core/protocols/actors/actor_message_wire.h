#pragma once
// Between processes a message is a row of 64-bit numbers (its fields and the number of its
// gradients), its gradients, and the bytes of what travels with it. The numbers have the byte order
// of the machines, which must be of one kind, as for all of core.

#include <cstdint>
#include <span>
#include <vector>

#include "core/cluster/world.h"
#include "core/protocols/actors/actor.h"

namespace residuum {

/// Throws an Error which says that a message between processes is damaged, unless it is sound.
void check_actor_message(bool is_sound);

/// An AddressedMessage is a message on its way to an actor.
struct AddressedMessage {
  ActorId to = 0;
  ActorMessage message;
};

/// Appends the message to `bytes`. What travels with it follows it.
void pack(const AddressedMessage& addressed, Bytes& bytes);

/// Takes a message from the front of `bytes` and leaves what travels with it. Throws an Error if
/// the bytes are no message between actors of this roster.
AddressedMessage unpack_actor_message(std::span<const std::byte>& bytes, const Roster& roster);

/// Appends a list of gradients and its length to `bytes`.
void pack(std::span<const GradientId> gradients, Bytes& bytes);

/// Takes a list of gradients from the front of `bytes`. Throws an Error if it is not all there, or
/// names workers that the roster does not have.
std::vector<GradientId> unpack_gradients(std::span<const std::byte>& bytes, const Roster& roster);

/// Appends a number to `bytes`.
void pack(std::uint64_t number, Bytes& bytes);

/// Takes a number from the front of `bytes`. Throws an Error if it is not all there.
std::uint64_t unpack_number(std::span<const std::byte>& bytes);

}  // namespace residuum
