#pragma once
// Actors are the workers, node aggregators and servers of an asynchronous protocol, as state
// machines without a clock, a thread or MPI: they receive a message and answer with messages, and
// never wait. A driver delivers the messages: simulation.h in virtual time, or a mailbox between
// processes. Messages may overtake one another; each arrives exactly once. Actors of one node share
// memory, so a driver lets only one of them act at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/protocols/actors/actor_message.h"
#include "core/protocols/actors/actor_state.h"
#include "core/protocols/actors/effects.h"

namespace residuum {

/// A roster numbers the actors of a run: workers first, then nodes, then one server. Worker p of M
/// belongs to node p / (M / N).
struct Roster {
  std::uint32_t workers = 1;  // M
  std::uint32_t nodes = 0;    // N, 0 where the workers talk to the server themselves

  static ActorId worker(std::uint32_t p) { return p; }
  ActorId node(std::uint32_t n) const { return workers + n; }
  ActorId server() const { return workers + nodes; }
  std::uint32_t actors() const { return workers + nodes + 1; }
  std::uint32_t workers_of_node() const { return workers / nodes; }
};

/// Work that takes time; what it does is up to the Effects.
enum class Work : std::uint8_t { gradient };

/// An outbox is what a driver offers to the actor that acts.
class Outbox {
 public:
  Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  Outbox(Outbox&&) = delete;
  Outbox& operator=(Outbox&&) = delete;
  virtual ~Outbox() = default;

  /// Sends a message and returns at once.
  virtual void send(ActorId to, ActorMessage message) = 0;
  /// Begins work; the actor sends itself the message once the work is over.
  virtual void work(Work kind, ActorMessage when_done) = 0;
  /// Returns virtual or wall seconds. Actors report waits with it and decide nothing by it.
  virtual double now() const = 0;
  virtual Effects& effects() = 0;
};

class Actor {
 public:
  Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  Actor(Actor&&) = delete;
  Actor& operator=(Actor&&) = delete;
  virtual ~Actor() = default;

  /// Acts before any message arrives.
  virtual void begin(Outbox& /*outbox*/) {}
  /// Acts on one message.
  virtual void receive(const ActorMessage& message, Outbox& outbox) = 0;
  /// Returns the version of the model that the actor keeps for gradients that are still to begin.
  virtual std::optional<std::uint64_t> kept_version() const { return std::nullopt; }
  /// Passes all that the actor needs in order to go on, between two versions.
  virtual void visit(ActorState& state) = 0;
};

/// A cast is all actors of one run, by ActorId. Its protocol ends when version `versions` is made.
struct Cast {
  Roster roster;
  std::uint64_t versions = 0;  // T
  std::vector<std::unique_ptr<Actor>> actors;
};

}  // namespace residuum
