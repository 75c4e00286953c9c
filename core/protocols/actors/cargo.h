#pragma once
// A cargo moves the numbers that the actors' letters only name, where a protocol runs on real
// processes (parallel.h). Each process has one, beside its Effects; it holds the models that its
// workers compute at, their gradients and the sums of its nodes, and on the server's process the
// model.
//
// One gradient goes through these steps, each on the process beside it:
//   Effects::compute      worker's process   the model of version `base` is the gradient's from now
//                                            on, also when a newer one arrives
//   Cargo::calculate      compute thread     the gradient is computed at that model
//   Effects::hand_in      worker's process   it is sent (node < 0) or added to its node's sum
//   Effects::collect      node's process     the sum that is about to be packed is set aside
//   Cargo::pack, unpack   both ends          the gradient (push) or the sum (sum) travels
//   Effects::make_version server's process   what was unpacked and is listed makes the version
//   Effects::discard      worker's process   no version lists it; see Parallel::finish
//
// All calls but `calculate` come from the thread that calls Parallel, one at a time.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/cluster/world.h"
#include "core/protocols/actors/letter.h"

namespace residuum {

class Cargo {
 public:
  Cargo() = default;
  Cargo(const Cargo&) = delete;
  Cargo& operator=(const Cargo&) = delete;
  Cargo(Cargo&&) = delete;
  Cargo& operator=(Cargo&&) = delete;
  virtual ~Cargo() = default;

  /// Appends to `bytes` what travels with a letter that has_payload() to an actor, possibly one of
  /// the same process: the model of letter.version, the gradient of worker letter.from, or the sum
  /// that node letter.from has collected last. Returns how many of the bytes are numbers of it; the
  /// others are booked as control bytes.
  virtual std::uint64_t pack(const Letter& letter, ActorId to, Bytes& bytes) = 0;

  /// Takes what has travelled with a letter, before the actor receives it, and returns the same
  /// count. The bytes come from another process and must be checked.
  virtual std::uint64_t unpack(const Letter& letter,
                               ActorId to,
                               std::span<const std::byte> bytes) = 0;

  /// Computes the gradient, on the compute thread of this process, in the order of
  /// Effects::compute. An Error that it throws ends the run on all processes.
  virtual void calculate(const GradientId& gradient) = 0;
};

}  // namespace residuum
