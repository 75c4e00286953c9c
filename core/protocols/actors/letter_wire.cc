#include "core/protocols/actors/letter_wire.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace residuum {
namespace {

/// Takes `to.size()` bytes from the front of `bytes`.
void take_bytes(std::span<const std::byte>& bytes, std::span<std::byte> to) {
  check_letter(to.size() <= bytes.size());
  if (!to.empty()) {
    std::memcpy(to.data(), bytes.data(), to.size());
  }
  bytes = bytes.subspan(to.size());
}

ActorId unpack_actor(std::span<const std::byte>& bytes, const Roster& roster) {
  const std::uint64_t actor = unpack_number(bytes);
  check_letter(actor < roster.actors());
  return static_cast<ActorId>(actor);
}

}  // namespace

void check_letter(bool is_sound) {
  if (!is_sound) {
    throw Error(ExitCode::internal,
                "a letter between processes is damaged; run the same build of the program on all "
                "of them");
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
  check_letter(size <= bytes.size() / sizeof(GradientId));
  std::vector<GradientId> gradients(size);
  take_bytes(bytes, std::as_writable_bytes(std::span(gradients)));
  check_letter(std::all_of(gradients.begin(), gradients.end(), [&](const GradientId& gradient) {
    return gradient.worker < roster.workers;
  }));
  return gradients;
}

void pack(const AddressedLetter& addressed, Bytes& bytes) {
  const Letter& letter = addressed.letter;
  for (const std::uint64_t number : {std::uint64_t{addressed.to},
                                     static_cast<std::uint64_t>(letter.kind),
                                     std::uint64_t{letter.from},
                                     letter.iteration,
                                     letter.version,
                                     letter.base}) {
    pack(number, bytes);
  }
  pack(letter.gradients, bytes);
}

AddressedLetter unpack_letter(std::span<const std::byte>& bytes, const Roster& roster) {
  AddressedLetter addressed;
  Letter& letter = addressed.letter;
  addressed.to = unpack_actor(bytes, roster);
  const std::uint64_t kind = unpack_number(bytes);
  check_letter(kind <= static_cast<std::uint64_t>(LetterKind::computed));
  letter.kind = static_cast<LetterKind>(kind);
  letter.from = unpack_actor(bytes, roster);
  letter.iteration = unpack_number(bytes);
  letter.version = unpack_number(bytes);
  letter.base = unpack_number(bytes);
  letter.gradients = unpack_gradients(bytes, roster);
  check_letter(bytes.empty() || has_payload(letter.kind));
  return addressed;
}

}  // namespace residuum
