// SSP and ASP: the bound (2s+1)(P-1) on the pushes between a READ and its push (theory 11.2) is
// attained and never exceeded, whatever the order of messages.

#include "core/protocols/actors/parameter_server.h"

#include <gtest/gtest.h>

#include "core/protocols/actors/simulation.h"
#include "tests/core/protocols/actors/by_hand.h"
#include "tests/core/protocols/actors/witness.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::ByHand;
using test::error_of;
using test::Witness;

/// Worker 0 sprints s iterations ahead, READs once more and freezes; the others run until they are
/// held; then worker 0 pushes. Returns the largest staleness.
std::uint64_t staleness_of_the_sprint(int workers, std::uint64_t s) {
  const std::uint64_t others = (2 * s + 1) * static_cast<std::uint64_t>(workers - 1);
  Witness witness;
  ByHand hand(
      make_parameter_server({.workers = workers, .staleness = s, .versions = s + others + 1}),
      witness);
  const auto frozen = [&](const ByHand::Packet& packet) {
    return packet.message.kind == ActorMessageKind::computed && packet.to == 0 &&
           packet.message.iteration == s;
  };

  hand.deliver_all([&](const ByHand::Packet& packet) {
    return (packet.to == 0 || packet.message.from == 0) && !frozen(packet);
  });
  EXPECT_EQ(witness.versions(), s);
  hand.deliver_all([&](const ByHand::Packet& packet) { return !frozen(packet); });
  EXPECT_EQ(witness.versions(), s + others);
  hand.deliver_all([](const ByHand::Packet& /*packet*/) { return true; });
  return witness.largest_staleness();
}

TEST(StaleSynchronousParallel, AttainsItsLargestStalenessWhenASprinterFreezes) {
  for (const int workers : {2, 3, 5, 8}) {
    for (const std::uint64_t s : {0, 1, 2, 5}) {
      const auto bound = (2 * s + 1) * static_cast<std::uint64_t>(workers - 1);
      EXPECT_EQ(staleness_of_the_sprint(workers, s), bound) << "P = " << workers << ", s = " << s;
      EXPECT_EQ(largest_staleness({.workers = workers, .staleness = s}), bound);
    }
  }
}

TEST(StaleSynchronousParallel, NeverExceedsItsBoundInAnyOrderOfMessages) {
  for (const int workers : {2, 3, 6}) {
    for (const std::uint64_t s : {0, 1, 2, 5}) {
      for (std::uint32_t repetition = 0; repetition < 50; ++repetition) {
        const ParameterServerOptions options{.workers = workers, .staleness = s, .versions = 100};
        RandomStream random(s, Purpose::test, static_cast<std::uint32_t>(workers), repetition);
        Witness witness;
        ByHand hand(make_parameter_server(options), witness);

        hand.deliver_randomly(random);

        ASSERT_EQ(witness.versions(), options.versions);
        ASSERT_LE(witness.largest_staleness(), largest_staleness(options));
        ASSERT_EQ(witness.unfinished(), 0U);
      }
    }
  }
}

TEST(StaleSynchronousParallel, NeverExceedsItsBoundUnderHeavyTails) {
  for (const std::uint64_t s : {0, 1, 3}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const ParameterServerOptions options{.workers = 5, .staleness = s, .versions = 200};
      Witness witness;
      Simulation simulation(
          make_parameter_server(options),
          {.seed = seed, .compute = TimeLaw::pareto(1, 1.1), .jitter = TimeLaw::pareto(0.1, 0.8)},
          witness);

      while (simulation.advance()) {
      }

      ASSERT_EQ(witness.versions(), options.versions);
      ASSERT_LE(witness.largest_staleness(), largest_staleness(options));
      ASSERT_EQ(witness.unfinished(), 0U);
    }
  }
}

TEST(StaleSynchronousParallel, ReportsHowLongItHeldFastWorkers) {
  // Worker 1 takes 10 s. With s = 1 worker 0 finishes two gradients by 2 s and is held until 10 s.
  Witness witness;
  Simulation simulation(make_parameter_server({.workers = 2, .staleness = 1, .versions = 4}),
                        {.speeds = {1, 0.1}},
                        witness);

  EXPECT_EQ(simulation.advance()->time, 1);
  EXPECT_EQ(simulation.advance()->time, 2);
  const auto third = simulation.advance();
  EXPECT_EQ(third->time, 10);
  EXPECT_EQ(third->gradients[0], (GradientId{.worker = 1, .iteration = 0, .base = 0}));
  EXPECT_EQ(third->staleness(0), 2U);
  EXPECT_EQ(third->waited(Wait::staleness), 8);
  const auto fourth = simulation.advance();
  EXPECT_EQ(fourth->time, 11);
  EXPECT_EQ(fourth->waited(Wait::idle), 8);  // worker 0 has waited for the model that long
}

TEST(AsynchronousParallel, IsSerialWithOneWorker) {
  for (std::uint32_t repetition = 0; repetition < 50; ++repetition) {
    RandomStream random(1, Purpose::test, 0, repetition);
    Witness witness;
    ByHand hand(make_parameter_server({.workers = 1, .versions = 50}), witness);

    hand.deliver_randomly(random);

    EXPECT_EQ(witness.versions(), 50U);
    EXPECT_EQ(witness.largest_staleness(), 0U);
  }
  EXPECT_EQ(largest_staleness({.workers = 1}), 0U);
}

TEST(AsynchronousParallel, HasNoBoundOnStaleness) {
  // One worker freezes at version 0 while the other makes 99 versions.
  Witness witness;
  ByHand hand(make_parameter_server({.workers = 2, .versions = 100}), witness);
  hand.deliver_all([&](const ByHand::Packet& packet) {
    const bool is_frozen = packet.to == 0 && packet.message.kind == ActorMessageKind::computed;
    return !is_frozen && witness.versions() < 99;
  });
  hand.deliver_all(
      [](const ByHand::Packet& packet) { return packet.to == 0 || packet.message.from == 0; });

  EXPECT_EQ(witness.versions(), 100U);
  EXPECT_EQ(witness.largest_staleness(), 99U);
  EXPECT_EQ(largest_staleness({.workers = 2}), kUnlimited);
}

TEST(ParameterServer, MakesNoFurtherVersionOnceItIsAskedToStop) {
  for (const std::uint64_t s : {std::uint64_t{0}, std::uint64_t{2}, kUnlimited}) {
    for (std::uint32_t repetition = 0; repetition < 50; ++repetition) {
      RandomStream random(s, Purpose::test, 1, repetition);
      Witness witness;
      ByHand hand(make_parameter_server({.workers = 4, .staleness = s, .versions = 1000}), witness);
      hand.deliver_all([](const ByHand::Packet& /*packet*/) { return true; }, random.below(200));
      hand.send(hand.roster().server(), {.kind = ActorMessageKind::stop});
      hand.deliver_one([](const ByHand::Packet& packet) {
        return packet.message.kind == ActorMessageKind::stop;
      });
      const std::uint64_t versions = witness.versions();

      hand.deliver_randomly(random);

      ASSERT_EQ(witness.versions(), versions);
      ASSERT_EQ(witness.unfinished(), 0U);
    }
  }
}

TEST(ParameterServer, SaysWhichOptionIsOutOfRange) {
  EXPECT_EQ(error_of([] { make_parameter_server({.workers = 0}); }),
            "a parameter server needs at least 1 worker, not 0");
  EXPECT_EQ(error_of([] { make_parameter_server({.workers = 2, .versions = 0}); }),
            "a protocol makes at least 1 version, not 0");
}

}  // namespace
}  // namespace residuum
