#pragma once
// ByHand drives actors without time: a test chooses which message arrives next, so that it can play
// any order in which messages overtake one another.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/protocols/actors/actor.h"
#include "core/random/random.h"

namespace residuum::test {

class ByHand final : public ActorContext {
 public:
  struct Packet {
    ActorId to = 0;
    ActorMessage message;
  };
  using Choice = std::function<bool(const Packet&)>;

  /// `tamper` may change each message as it is sent.
  ByHand(Cast cast, Effects& effects, std::function<void(Packet&)> tamper = {})
      : cast_(std::move(cast)), effects_(effects), tamper_(std::move(tamper)) {
    for (acting_ = 0; acting_ < cast_.actors.size(); ++acting_) {
      cast_.actors[acting_]->begin(*this);
    }
  }

  /// Delivers the oldest message that `choice` admits; returns false if there is none.
  bool deliver_one(const Choice& choice) {
    for (std::size_t i = 0; i < under_way_.size(); ++i) {
      if (choice(under_way_[i])) {
        deliver(i);
        return true;
      }
    }
    return false;
  }

  /// Delivers messages that `choice` admits until there is none, at most `limit` of them.
  void deliver_all(const Choice& choice, std::size_t limit = 100000) {
    while (limit-- > 0 && deliver_one(choice)) {
    }
  }

  /// Delivers messages in random order until none is under way.
  void deliver_randomly(RandomStream& random) {
    while (!under_way_.empty()) {
      deliver(random.below(static_cast<std::uint32_t>(under_way_.size())));
    }
  }

  const Roster& roster() const { return cast_.roster; }

  void send(ActorId to, ActorMessage message) override {
    message.from = acting_;
    under_way_.push_back({.to = to, .message = std::move(message)});
    if (tamper_) {
      tamper_(under_way_.back());
    }
  }
  void work(Work /*kind*/, ActorMessage when_done) override { send(acting_, std::move(when_done)); }
  double now() const override { return 0; }
  Effects& effects() override { return effects_; }

 private:
  void deliver(std::size_t i) {
    const Packet packet = std::move(under_way_[i]);
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
    acting_ = packet.to;
    cast_.actors[packet.to]->receive(packet.message, *this);
  }

  Cast cast_;
  Effects& effects_;
  std::function<void(Packet&)> tamper_;
  std::vector<Packet> under_way_;
  ActorId acting_ = 0;
};

}  // namespace residuum::test
