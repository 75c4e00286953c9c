// The race of theory 10.3: an idle worker may be woken by a MODEL that was long under way, while
// its START travels to a server that has moved on. The server must therefore count an idle worker
// as u = m_n + 1; "no constraint" breaks the staleness limit.

#include <gtest/gtest.h>

#include "core/protocols/actors/inhad.h"
#include "tests/core/protocols/actors/by_hand.h"
#include "tests/core/protocols/actors/witness.h"

namespace residuum {
namespace {

using test::ByHand;
using test::Witness;

/// Announces idle worker 1 without a constraint, which is the fault that the theory warns of. At a
/// cap of 1, and with newer models held back, every IN of worker 1 says that it is idle.
void forget_idle_worker(ByHand::Packet& packet) {
  if (packet.message.kind == ActorMessageKind::progress && packet.message.from == 1) {
    packet.message.base = kUnlimited;
  }
}

struct RaceOutcome {
  std::uint64_t before_waking = 0;  // versions made while worker 1 was idle
  std::uint64_t largest_staleness = 0;
};

/// Two nodes with a worker each, C = 1, h = 1. Worker 1 hands in a message at version 0 and is
/// idle; every MODEL to its node is held back while worker 0 drives the server as far as it goes.
/// Then MODEL 1 alone arrives and wakes worker 1, whose START is held back too.
RaceOutcome play_race(std::uint64_t s, const std::function<void(ByHand::Packet&)>& tamper) {
  Witness witness;
  const std::uint64_t versions = 4 * s + 20;
  ByHand hand(
      make_inhad(
          {.nodes = 2, .workers = 2, .quota = 1, .staleness = s, .cap = 1, .versions = versions}),
      witness,
      tamper);
  const ActorId slow_node = hand.roster().node(1);
  const auto is_held = [&](const ByHand::Packet& packet) {
    const bool is_late_model =
        packet.message.kind == ActorMessageKind::model && packet.to == slow_node;
    const bool is_start_of_1 =
        packet.message.kind == ActorMessageKind::start && packet.message.from == 1;
    return is_late_model || is_start_of_1;
  };

  // Worker 1 is first: its late message is in version 1 at the latest.
  hand.deliver_all(
      [](const ByHand::Packet& packet) { return packet.to == 1 || packet.message.from == 1; }, 2);
  hand.deliver_all([&](const ByHand::Packet& packet) {
    return !is_held(packet) && witness.versions() < versions - 5;
  });
  RaceOutcome outcome{.before_waking = witness.versions()};
  EXPECT_TRUE(hand.deliver_one([&](const ByHand::Packet& packet) {
    return packet.to == slow_node && packet.message.kind == ActorMessageKind::model &&
           packet.message.version == 1;
  }));
  hand.deliver_all([&](const ByHand::Packet& packet) {
    return !is_held(packet) && (packet.to == 1 || packet.message.from == 1);
  });
  hand.deliver_all([&](const ByHand::Packet& packet) { return !is_held(packet); });
  outcome.largest_staleness = witness.largest_staleness();
  return outcome;
}

TEST(InhadRace, AnIdleWorkerHoldsTheServerUntilItIsHeardOf) {
  for (const std::uint64_t s : {1, 2, 5}) {
    const RaceOutcome outcome = play_race(s, {});

    EXPECT_EQ(outcome.before_waking, s + 1);  // u = 1 admits the pulls of versions 0 to s
    EXPECT_EQ(outcome.largest_staleness, s);
  }
}

TEST(InhadRace, TheSameScheduleBreaksTheLimitWhenAnIdleWorkerIsForgotten) {
  for (const std::uint64_t s : {1, 2, 5}) {
    const RaceOutcome outcome = play_race(s, forget_idle_worker);

    EXPECT_GT(outcome.before_waking, s + 1);
    EXPECT_GT(outcome.largest_staleness, s);
  }
}

}  // namespace
}  // namespace residuum
