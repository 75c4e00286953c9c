#pragma once
// Notes about one version that a simulation has made, and the log that takes them while it forwards
// all effects to the driver.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/protocols/actors/actor.h"
#include "core/protocols/actors/actor_state.h"

namespace residuum {

/// All counts and waits are those since the version before. The messages that announce the version
/// are counted with it.
struct SimulatedVersion {
  std::uint64_t version = 0;
  double time = 0;                    // virtual seconds at which it was made
  std::vector<GradientId> gradients;  // that it was made of
  std::uint64_t events = 0;           // messages that arrived
  std::uint64_t control_bytes = 0;    // of messages between nodes, without payloads
  std::uint64_t bytes_up = 0;         // payloads to the server
  std::uint64_t bytes_down = 0;       // payloads from the server
  std::array<double, 4> waits{};      // seconds by Wait, of waits that ended; see waited()

  bool operator==(const SimulatedVersion&) const = default;

  /// Returns the staleness v - u of the i-th gradient.
  std::uint64_t staleness(std::size_t i) const { return version - 1 - gradients[i].base; }
  /// Returns the seconds that all actors together waited for this cause.
  double waited(Wait cause) const { return waits[static_cast<std::size_t>(cause)]; }
};

class VersionLog final : public Effects {
 public:
  explicit VersionLog(Effects& driver) : driver_(driver) {}

  /// Returns the versions that were made.
  std::uint64_t made() const { return made_; }
  /// Returns the notes since the last call and begins new ones.
  SimulatedVersion take() { return std::exchange(notes_, {}); }

  void count_event() { ++notes_.events; }
  void count_message(const ActorMessage& message, std::uint64_t control, std::uint64_t payload) {
    notes_.control_bytes += control;
    (message.kind == ActorMessageKind::model ? notes_.bytes_down : notes_.bytes_up) += payload;
  }
  /// Saves or loads the number of versions; between two of them there are no notes.
  void save_or_load(ActorState& state) { state.value(made_); }

  void compute(const GradientId& gradient) override { driver_.compute(gradient); }
  void hand_in(const GradientId& gradient, int node) override { driver_.hand_in(gradient, node); }
  void collect(int node, std::span<const GradientId> gradients) override {
    driver_.collect(node, gradients);
  }
  void make_version(std::uint64_t version, std::span<const GradientId> gradients) override {
    made_ = version;
    notes_.version = version;
    notes_.gradients.assign(gradients.begin(), gradients.end());
    driver_.make_version(version, gradients);
  }
  void discard(const GradientId& gradient) override { driver_.discard(gradient); }
  void waited(Wait cause, double seconds) override {
    notes_.waits[static_cast<std::size_t>(cause)] += seconds;
    driver_.waited(cause, seconds);
  }
  std::uint64_t payload_bytes(const ActorMessage& message) override {
    return driver_.payload_bytes(message);
  }

 private:
  Effects& driver_;
  SimulatedVersion notes_;
  std::uint64_t made_ = 0;
};

}  // namespace residuum
