#include "core/protocols/actors/actor_message.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/protocols/actors/actor.h"

namespace residuum {
namespace {

/// Takes `to.size()` bytes from the front of `bytes`.
void take_bytes(std::span<const std::byte>& bytes, std::span<std::byte> to) {
  check_actor_message(to.size() <= bytes.size());
  if (!to.empty()) {
    std::memcpy(to.data(), bytes.data(), to.size());
  }
  bytes = bytes.subspan(to.size());
}

ActorId unpack_actor(std::span<const std::byte>& bytes, const Roster& roster) {
  const std::uint64_t actor = unpack_number(bytes);
  check_actor_message(actor < roster.actors());
  return static_cast<ActorId>(actor);
}

}  // namespace

void check_actor_message(bool is_sound) {
  if (!is_sound) {
    throw Error(ExitCode::internal,
                "a message between processes is damaged; run the same build of the program on all "
                "processes");
  }
}

void pack(std::uint64_t number, Bytes& bytes) {
  const auto view = std::as_bytes(std::span(&number, 1));
  bytes.insert(bytes.end(), view.begin(), view.end());
}

std::uint64_t unpack_number(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  take_bytes(bytes, std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

void pack(std::span<const GradientId> gradients, Bytes& bytes) {
  static_assert(std::has_unique_object_representations_v<GradientId>);
  pack(gradients.size(), bytes);
  const auto view = std::as_bytes(gradients);
  bytes.insert(bytes.end(), view.begin(), view.end());
}

std::vector<GradientId> unpack_gradients(std::span<const std::byte>& bytes, const Roster& roster) {
  const std::uint64_t size = unpack_number(bytes);
  check_actor_message(size <= bytes.size() / sizeof(GradientId));
  std::vector<GradientId> gradients(size);
  take_bytes(bytes, std::as_writable_bytes(std::span(gradients)));
  check_actor_message(
      std::all_of(gradients.begin(), gradients.end(), [&](const GradientId& gradient) {
        return gradient.worker < roster.workers;
      }));
  return gradients;
}

void pack(const AddressedMessage& addressed, Bytes& bytes) {
  const ActorMessage& message = addressed.message;
  for (const std::uint64_t number : {std::uint64_t{addressed.to},
                                     static_cast<std::uint64_t>(message.kind),
                                     std::uint64_t{message.from},
                                     message.iteration,
                                     message.version,
                                     message.base}) {
    pack(number, bytes);
  }
  pack(message.gradients, bytes);
}

AddressedMessage unpack_actor_message(std::span<const std::byte>& bytes, const Roster& roster) {
  AddressedMessage addressed;
  ActorMessage& message = addressed.message;
  addressed.to = unpack_actor(bytes, roster);
  const std::uint64_t kind = unpack_number(bytes);
  check_actor_message(kind <= static_cast<std::uint64_t>(ActorMessageKind::computed));
  message.kind = static_cast<ActorMessageKind>(kind);
  message.from = unpack_actor(bytes, roster);
  message.iteration = unpack_number(bytes);
  message.version = unpack_number(bytes);
  message.base = unpack_number(bytes);
  message.gradients = unpack_gradients(bytes, roster);
  check_actor_message(bytes.empty() || has_payload(message.kind));
  return addressed;
}

}  // namespace residuum
