#pragma once
// A machine gives a simulation the seconds that a gradient and a message take. Times are pure
// functions of (seed, worker, iteration) or (seed, sender, message), so they do not depend on the
// order of events.

#include <cstdint>
#include <functional>
#include <vector>

#include "core/cluster/link_model.h"
#include "core/protocols/actors/actor.h"
#include "core/protocols/actors/actor_message.h"
#include "core/protocols/actors/actor_state.h"
#include "core/random/random.h"

namespace residuum {

/// A TimeLaw is a distribution of seconds.
class TimeLaw {
 public:
  static TimeLaw constant(double seconds) { return {Kind::constant, seconds, 0}; }
  static TimeLaw exponential(double mean) { return {Kind::exponential, mean, 0}; }
  /// Returns the law of exp(mu + sigma Z), Z ~ N(0, 1); its median is exp(mu) seconds.
  static TimeLaw log_normal(double mu, double sigma) { return {Kind::log_normal, mu, sigma}; }
  /// Returns the law with P(X > x) = (scale / x)^alpha for x >= scale; its mean is infinite for
  /// alpha <= 1.
  static TimeLaw pareto(double scale, double alpha) { return {Kind::pareto, scale, alpha}; }

  double draw(RandomStream& random) const;
  /// Returns true if every draw is 0.
  bool is_zero() const { return kind_ == Kind::constant && first_ == 0; }
  /// Reports a usage error that names `what` if the parameters are out of range.
  void check(const char* what) const;

 private:
  enum class Kind : std::uint8_t { constant, exponential, log_normal, pareto };
  TimeLaw(Kind kind, double first, double second) : kind_(kind), first_(first), second_(second) {}

  Kind kind_;
  double first_;   // seconds, mean, mu or scale
  double second_;  // sigma or alpha
};

/// Stragglers come and go: each worker alternates between normal and slow windows of exponential
/// length, and computes `factor` times as slowly in the slow ones.
struct Stragglers {
  double factor = 1;          // 1 turns them off
  double normal_seconds = 1;  // mean length of a normal window, which comes first
  double slow_seconds = 1;    // mean length of a slow window
};

/// Returns the seconds that a message of `bytes` bytes takes on the link between two actors.
/// Messages inside a node take none and are not asked for.
using LinkDelay = std::function<double(ActorId from, ActorId to, std::uint64_t bytes)>;

/// Returns the delay alpha + beta * bytes, the same on every link.
LinkDelay linear_delay(double alpha_seconds, double beta_seconds_per_byte);

struct MachineOptions {
  std::uint64_t seed = 1;
  TimeLaw compute = TimeLaw::constant(1);  // of one gradient, on a worker of speed 1
  std::vector<double> speeds = {};         // of each worker; empty: all have speed 1
  Stragglers stragglers = {};
  LinkDelay delay = linear_delay(0, 0);
  TimeLaw jitter = TimeLaw::constant(0);  // added to each delay; messages may then overtake others
  /// Seconds that a byte takes on a link besides the delay. Each node, each worker without a node
  /// and the server has one link, which sends one message at a time and receives one at a time.
  double link_s_per_byte = 0;
};

class Machine {
 public:
  /// Reports a usage error if an option is out of range.
  Machine(MachineOptions options, const Roster& roster);

  /// Returns when a gradient that a worker begins at `start` is ready. The starts of one worker
  /// must not decrease.
  double compute_end(std::uint32_t worker, std::uint64_t iteration, double start);
  /// Returns when a message arrives that is sent at `now`; `number` counts the messages of its
  /// sender. Messages are sent in the order of their times.
  double arrival(ActorId from, ActorId to, std::uint64_t bytes, std::uint64_t number, double now);

  void save_or_load(ActorState& state);

 private:
  /// The window of a worker's alternation that its last gradient began in; odd windows are slow.
  struct Window {
    std::uint64_t number = 0;
    double end = 0;
  };

  double window_length(std::uint32_t worker, std::uint64_t number) const;
  double delay(ActorId from, ActorId to, std::uint64_t bytes, std::uint64_t number) const;
  std::size_t link_of(ActorId actor) const;

  MachineOptions options_;
  Roster roster_;
  std::vector<Window> windows_;  // of the workers; empty without stragglers
  std::vector<Port> ports_;      // of the links, by their actor
};

}  // namespace residuum
