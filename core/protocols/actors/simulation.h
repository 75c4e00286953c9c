#pragma once
// A simulation runs the actors of an asynchronous protocol as discrete events in virtual time. The
// actors' own steps take no time; gradients and messages take what the machine says. Two
// simulations of the same cast, machine and seed call the same effects in the same order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/protocols/actors/actor.h"
#include "core/protocols/actors/actor_message.h"
#include "core/protocols/actors/actor_state.h"
#include "core/protocols/actors/machine.h"
#include "core/protocols/actors/simulated_version.h"

namespace residuum {

/// An event is the arrival of a message.
struct Event {
  double time = 0;  // virtual seconds
  ActorId to = 0;
  ActorMessage message;
};

/// The event queue holds the messages under way, ordered by (virtual time, number of the push).
/// Equal times are thus served in the order in which messages were sent, the same in every run.
/// Messages that take no time, as most do without a network, wait in a line beside the heap.
class EventQueue {
 public:
  bool empty() const { return heap_.empty() && next_ == line_.size(); }

  void push(Event event) {
    const Key key{.time = event.time, .number = pushes_++, .slot = free_slot()};
    events_[key.slot] = std::move(event);
    if (key.time == now_) {  // its number is larger than all others
      line_.push_back(key);
      return;
    }
    heap_.push_back(key);
    std::push_heap(heap_.begin(), heap_.end(), is_later);
  }

  /// Removes and returns the first event of a queue that is not empty.
  Event pop() {
    const Key first = pop_key();
    now_ = first.time;
    free_.push_back(first.slot);
    return std::move(events_[first.slot]);
  }

  /// Calls `look` with every event, in no particular order.
  template <class Look>
  void for_each(const Look& look) const {
    for (const Key& key : heap_) {
      look(events_[key.slot]);
    }
    for (std::size_t i = next_; i < line_.size(); ++i) {
      look(events_[line_[i].slot]);
    }
  }

  /// Saves or loads all events. The heap's own order is not saved, as it does not decide who is
  /// first.
  void save_or_load(ActorState& state) {
    state.value(pushes_);
    heap_.insert(heap_.end(), line_.begin() + static_cast<std::ptrdiff_t>(next_), line_.end());
    line_.clear();
    next_ = 0;
    std::sort(
        heap_.begin(), heap_.end(), [](const Key& a, const Key& b) { return is_later(b, a); });
    if (state.loads()) {
      events_.clear();
      free_.clear();
      heap_.clear();
    }
    state.list(heap_, [&](Key& key) {
      state.value(key.time);
      state.value(key.number);
      if (state.loads()) {
        key.slot = free_slot();
      }
      save_or_load_event(events_[key.slot], state);
      events_[key.slot].time = key.time;
    });
    std::make_heap(heap_.begin(), heap_.end(), is_later);
  }

 private:
  /// Keys are small, so that the heap moves no messages.
  struct Key {
    double time;
    std::uint64_t number;
    std::size_t slot;
  };

  static bool is_later(const Key& a, const Key& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }

  Key pop_key() {
    const bool is_in_line =
        next_ < line_.size() && (heap_.empty() || is_later(heap_.front(), line_[next_]));
    if (is_in_line) {
      const Key first = line_[next_++];
      if (next_ == line_.size()) {
        line_.clear();
        next_ = 0;
      }
      return first;
    }
    std::pop_heap(heap_.begin(), heap_.end(), is_later);
    const Key first = heap_.back();
    heap_.pop_back();
    return first;
  }

  std::size_t free_slot() {
    if (free_.empty()) {
      events_.emplace_back();
      return events_.size() - 1;
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  static void save_or_load_event(Event& event, ActorState& state) {
    state.value(event.to);
    state.value(event.message.kind);
    state.value(event.message.from);
    state.value(event.message.iteration);
    state.value(event.message.version);
    state.value(event.message.base);
    state.list(event.message.gradients);
  }

  std::vector<Key> heap_;
  std::vector<Key> line_;  // events at the time `now_`; those before `next_` are gone
  std::size_t next_ = 0;
  double now_ = 0;                 // the time of the last event that was popped
  std::vector<Event> events_;      // by slot
  std::vector<std::size_t> free_;  // slots that hold no event
  std::uint64_t pushes_ = 0;
};

class Simulation final : private ActorContext {
 public:
  /// Reports a usage error if the machine does not fit the cast. `driver` must outlive this object.
  Simulation(Cast cast, MachineOptions machine, Effects& driver);

  /// Runs events until the next version is made and returns notes about it. After the last version
  /// it runs the events that are left, in which the workers end, and returns nothing.
  std::optional<SimulatedVersion> advance();

  /// Returns the versions that were made.
  std::uint64_t made() const { return log_.made(); }
  /// Returns the virtual time in seconds.
  double time() const { return time_; }

  /// Returns, between two versions, the versions of the model at which gradients may still begin:
  /// the last one, those kept by nodes and those under way; ascending. A driver that computes
  /// gradients in Effects::compute may free all others.
  std::vector<std::uint64_t> needed_versions() const;

  /// Returns, between two versions, all that a simulation of the same cast and machine needs in
  /// order to go on with the same events.
  std::vector<std::byte> save();
  /// Replaces the state by a saved one. Reports a usage error if the bytes do not fit.
  void load(std::span<const std::byte> saved);

 private:
  void send(ActorId to, ActorMessage message) override;
  void work(Work kind, ActorMessage when_done) override;
  double now() const override { return time_; }
  Effects& effects() override { return log_; }

  void begin();
  void run_event();
  void save_or_load(ActorState& state);

  Cast cast_;
  Machine machine_;
  VersionLog log_;
  EventQueue queue_;
  std::vector<std::uint64_t> messages_sent_;  // of each actor
  double time_ = 0;
  ActorId acting_ = 0;
  std::uint8_t has_begun_ = 0;
  bool was_loaded_ = false;  // from a saved state, which somebody may have changed
};

}  // namespace residuum
