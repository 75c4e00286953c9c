#pragma once
// Actors exchange ActorMessages and nothing else. A message has no gradient and no model: it names
// them, and the driver moves their numbers (Effects).

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/cluster/world.h"

namespace residuum {

/// A staleness, a cap or a number of this value is infinite.
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// An ActorId is the number of an actor in its Roster (actor.h).
using ActorId = std::uint32_t;

/// A GradientId names one gradient of a run.
struct GradientId {
  std::uint32_t worker = 0;
  std::uint32_t iteration = 0;  // gradients that the worker had finished before this one
  std::uint64_t base = 0;       // the version of the model at which it is computed

  bool operator==(const GradientId&) const = default;
};

enum class ActorMessageKind : std::uint8_t {
  read,      // worker to server: the model is wanted; iteration = finished iterations
  push,      // worker to server: one gradient, of `iteration` and `base`
  model,     // server to workers or nodes: the model of `version`
  stop,      // server to workers or nodes: the last version is made;
             // driver to server: make no further version and send STOP
  progress,  // IN, worker to server: iteration = finished iterations, base = bound u_next
  start,     // START, worker to server: an idle worker goes on; fields as in IN
  pull,      // PULL, server to nodes: the sums are wanted for version + 1
  sum,       // AGG, node to server: the sum of the listed gradients
  wake,      // node to its worker, in shared memory: there is a newer model
  computed,  // worker to itself: the gradient is ready
};

struct ActorMessage {
  ActorMessageKind kind = ActorMessageKind::read;
  ActorId from = 0;             // written by the driver
  std::uint64_t iteration = 0;  // see ActorMessageKind
  std::uint64_t version = 0;
  std::uint64_t base = 0;
  std::vector<GradientId> gradients = {};  // of a sum, in the order of their late messages
};

/// Returns true if the message names numbers (a model, a gradient, a sum) that travel with it.
inline bool has_payload(ActorMessageKind kind) {
  return kind == ActorMessageKind::push || kind == ActorMessageKind::model ||
         kind == ActorMessageKind::sum;
}

/// Returns true if the message stays inside a node, where it costs neither bytes nor time on a
/// link.
inline bool stays_in_node(ActorMessageKind kind) {
  return kind == ActorMessageKind::wake || kind == ActorMessageKind::computed;
}

/// Returns the bytes of the message without its payload: 8 for kind and sender, 8 for each number
/// that its kind carries, 16 for each gradient that a sum lists. An IN has 24 (theory 10.1: 16-24).
inline std::uint64_t control_bytes(const ActorMessage& message) {
  constexpr std::uint64_t kWord = 8;
  switch (message.kind) {
    case ActorMessageKind::stop:
      return kWord;
    case ActorMessageKind::read:
    case ActorMessageKind::model:
    case ActorMessageKind::pull:
      return 2 * kWord;
    case ActorMessageKind::push:
    case ActorMessageKind::progress:
    case ActorMessageKind::start:
      return 3 * kWord;
    case ActorMessageKind::sum:
      return 2 * kWord + message.gradients.size() * sizeof(GradientId);
    case ActorMessageKind::wake:
    case ActorMessageKind::computed:
      break;
  }
  return 0;
}

// Between processes a message is a row of 64-bit numbers (its fields and the number of its
// gradients), its gradients, and the bytes of what travels with it. The numbers have the byte order
// of the machines, which must be of one kind, as for all of core.

/// Throws an Error which says that a message between processes is damaged, unless it is sound.
void check_actor_message(bool is_sound);

struct Roster;

/// An AddressedMessage is a message on its way to an actor.
struct AddressedMessage {
  ActorId to = 0;
  ActorMessage message;
};

/// Appends the message to `bytes`. The vectors that travel with it follow it.
void pack(const AddressedMessage& addressed, Bytes& bytes);

/// Takes a message from the front of `bytes` and leaves the vectors that travel with it. Throws an
/// Error if the bytes are no message between actors of this roster.
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
