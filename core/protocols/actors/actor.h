#pragma once
// Actors are the workers, node aggregators and servers of an asynchronous protocol, as state
// machines without a clock, a thread or MPI: they receive a message and answer with messages, and
// never wait. A driver delivers the messages: simulation.h in virtual time, or a message queue
// between processes. Messages may overtake one another; each arrives exactly once. Actors of one
// node share memory, so a driver lets only one of them act at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/protocols/actors/actor_message.h"
#include "core/protocols/actors/actor_state.h"

namespace residuum {

/// A wait has one of these causes.
enum class Wait : std::uint8_t {
  quota,      // the server lacks contributions for a version (T1 of InHAD)
  staleness,  // InHAD: only T2 holds the server back; SSP: a worker may not start, n_p - min n > s
  pull,       // the server waits for the sums that it pulls
  idle,       // a worker has no gradient in progress: it waits for a model
};

/// Effects tell a driver what the actors decide about gradients and models. The actors keep names
/// and numbers of versions only; the driver computes gradients, keeps the sums of nodes and updates
/// the model when it is told to. Calls come in the order of events, which a simulation repeats.
///
/// Every gradient that is computed is handed in at most once, and either listed by exactly one
/// version or discarded.
class Effects {
 public:
  Effects() = default;
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;
  Effects(Effects&&) = delete;
  Effects& operator=(Effects&&) = delete;
  virtual ~Effects() = default;

  /// A worker READs the model of version `gradient.base` and begins to compute on its next batch.
  virtual void compute(const GradientId& gradient) = 0;

  /// A worker has finished the gradient. It sends it to the server (node < 0), or adds it to the
  /// sum of its node.
  virtual void hand_in(const GradientId& gradient, int node) = 0;

  /// A node sends its sum, which is of these gradients, and goes on with an empty one. The next
  /// version lists the gradients of all nodes, node after node, each in this order.
  virtual void collect(int node, std::span<const GradientId> gradients) = 0;

  /// The server makes `version` (1, 2, ...) of these gradients, each of which counts once. Their
  /// staleness is version - 1 - base.
  virtual void make_version(std::uint64_t version, std::span<const GradientId> gradients) = 0;

  /// No version will list the gradient: it was finished or arrived after the last one.
  virtual void discard(const GradientId& gradient) = 0;

  /// A wait of one actor has ended after `seconds` of ActorContext::now().
  virtual void waited(Wait cause, double seconds) = 0;

  /// Returns the bytes of what travels with a message that has_payload(). The call comes when the
  /// message is sent, for a sum after collect().
  virtual std::uint64_t payload_bytes(const ActorMessage& message) = 0;
};

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

/// An actor context has the actions that a driver offers to the actor that acts.
class ActorContext {
 public:
  ActorContext() = default;
  ActorContext(const ActorContext&) = delete;
  ActorContext& operator=(const ActorContext&) = delete;
  ActorContext(ActorContext&&) = delete;
  ActorContext& operator=(ActorContext&&) = delete;
  virtual ~ActorContext() = default;

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
  virtual void begin(ActorContext& /*context*/) {}
  /// Acts on one message.
  virtual void receive(const ActorMessage& message, ActorContext& context) = 0;
  /// Returns the version of the model that the actor keeps for gradients that are still to begin.
  virtual std::optional<std::uint64_t> kept_version() const { return std::nullopt; }
  /// Saves or loads all that the actor needs in order to go on, between two versions.
  virtual void save_or_load(ActorState& state) = 0;
};

/// A cast is all actors of one run, by ActorId. Its protocol ends when version `versions` is made.
struct Cast {
  Roster roster;
  std::uint64_t versions = 0;  // T
  std::vector<std::unique_ptr<Actor>> actors;
};

/// Slowest keeps one counter per worker and the least of them. A counter only grows, so a scan is
/// due only when the last of the least has moved: O(1) per step of a counter, amortised.
class Slowest {
 public:
  explicit Slowest(std::size_t workers) : counters_(workers), at_least_(workers) {}

  std::uint64_t operator[](std::size_t worker) const { return counters_[worker]; }
  /// Returns the least counter.
  std::uint64_t least() const { return least_; }

  /// Raises a counter to `value`; a smaller value changes nothing. Returns true if the least of all
  /// counters has grown.
  bool raise(std::size_t worker, std::uint64_t value) {
    const std::uint64_t before = counters_[worker];
    if (value <= before) {
      return false;
    }
    counters_[worker] = value;
    if (before > least_ || --at_least_ > 0) {
      return false;
    }
    find_least();
    return true;
  }

  void save_or_load(ActorState& state) {
    state.row(counters_);
    find_least();
  }

 private:
  void find_least() {
    least_ = *std::min_element(counters_.begin(), counters_.end());
    at_least_ = static_cast<std::size_t>(std::count(counters_.begin(), counters_.end(), least_));
  }

  std::vector<std::uint64_t> counters_;
  std::uint64_t least_ = 0;
  std::size_t at_least_;  // counters that equal the least
};

}  // namespace residuum
