#pragma once
// Payloads moves the numbers that the actors' messages only name, where a protocol runs on real
// processes (parallel.h). Each process has one such object, beside its Effects. The object holds
// the models that its workers compute at, their gradients and the sums of its nodes, and on the
// server's process the model.
//
// One gradient goes through these steps, each on the process beside it:
//   Effects::compute       worker's process  the model of version `base` is the gradient's from now
//                                            on, also when a newer one arrives
//   Payloads::calculate    compute thread    the gradient is computed at that model
//   Effects::hand_in       worker's process  it is sent (node < 0) or added to its node's sum
//   Effects::collect       node's process    the sum that is about to be packed is set aside
//   Payloads::pack, unpack both ends         the gradient (push) or the sum (sum) travels
//   Effects::make_version  server's process  what was unpacked and is listed makes the version
//   Effects::discard       worker's process  no version lists it; see Parallel::finish
//
// All calls but `calculate` come from the thread that calls Parallel, one at a time.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/cluster/world.h"
#include "core/protocols/actors/actor_message.h"

namespace residuum {

class Payloads {
 public:
  Payloads() = default;
  Payloads(const Payloads&) = delete;
  Payloads& operator=(const Payloads&) = delete;
  Payloads(Payloads&&) = delete;
  Payloads& operator=(Payloads&&) = delete;
  virtual ~Payloads() = default;

  /// Appends the payload of a message that has_payload() to `bytes`; the message goes to an actor,
  /// possibly one of the same process. The payload is the model of message.version, the gradient of
  /// worker message.from, or the sum that node message.from has collected last. Returns how many of
  /// the bytes are its numbers; the others count as control bytes.
  virtual std::uint64_t pack(const ActorMessage& message, ActorId to, Bytes& bytes) = 0;

  /// Takes the payload of a message before the actor receives the message, and returns the same
  /// count. The bytes come from another process and must be checked.
  virtual std::uint64_t unpack(const ActorMessage& message,
                               ActorId to,
                               std::span<const std::byte> bytes) = 0;

  /// Computes the gradient, on the compute thread of this process, in the order of
  /// Effects::compute. An Error that it throws ends the run on all processes.
  virtual void calculate(const GradientId& gradient) = 0;
};

}  // namespace residuum
