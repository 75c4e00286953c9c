// InHAD: the guarantees S1 to S3 of theory 10.3 on random configurations, and its special cases.

#include "core/protocols/actors/inhad.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/protocols/actors/simulation.h"
#include "tests/core/protocols/actors/by_hand.h"
#include "tests/core/protocols/actors/witness.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::ByHand;
using test::error_of;
using test::Witness;

std::string inhad_name(const InhadOptions& options) {
  return fmt::format("N = {}, M = {}, C = {}, s = {}, h = {}",
                     options.nodes,
                     options.workers,
                     options.quota,
                     options.staleness,
                     options.cap);
}

/// Returns the options whose values have these indices, mixed radix, in the lists of theory 10.3.
InhadOptions inhad_options(std::size_t index) {
  constexpr std::array<int, 2> kNodes{2, 4};
  constexpr std::array<int, 2> kWidths{1, 4};
  constexpr std::array<std::uint64_t, 5> kStaleness{0, 1, 2, 5, kUnlimited};
  constexpr std::array<std::uint64_t, 3> kCaps{1, 3, kUnlimited};
  constexpr std::array<int, 3> kParts{1, 2, 4};
  const auto digit = [&index](const auto& values) {
    const auto value = values[index % values.size()];
    index /= values.size();
    return value;
  };
  InhadOptions options{.nodes = digit(kNodes)};
  options.workers = options.nodes * digit(kWidths);
  options.staleness = digit(kStaleness);
  options.cap = digit(kCaps);
  options.quota = static_cast<std::uint64_t>(std::max(1, options.workers / digit(kParts)));
  return options;
}

/// Returns all those options but the ones that make_inhad refuses: s = 0 without a cap.
std::vector<InhadOptions> all_inhad_options(std::uint64_t versions) {
  std::vector<InhadOptions> all;
  for (std::size_t index = 0; index < std::size_t{2} * 2 * 5 * 3 * 3; ++index) {
    InhadOptions options = inhad_options(index);
    options.versions = versions;
    if (options.staleness > 0 || options.cap < kUnlimited) {
      all.push_back(options);
    }
  }
  return all;
}

/// Expects S1, S2 and the end of every gradient; the witness has looked at S3 all along.
void expect_guarantees(const Witness& witness, const InhadOptions& options) {
  ASSERT_EQ(witness.versions(), options.versions) << inhad_name(options);
  ASSERT_LE(witness.largest_staleness(), options.staleness) << inhad_name(options);
  ASSERT_EQ(witness.unfinished(), 0U) << inhad_name(options);
}

TEST(Inhad, KeepsItsGuaranteesUnderHeavyTailsAndMessagesThatOvertake) {
  std::uint64_t runs = 0;
  for (const auto& options : all_inhad_options(40)) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed, ++runs) {
      Witness witness;
      Simulation simulation(make_inhad(options),
                            {.seed = seed,
                             .compute = TimeLaw::pareto(1, 1.5),
                             .jitter = TimeLaw::pareto(0.1 * static_cast<double>(seed), 1.5)},
                            witness);

      while (simulation.advance()) {
      }

      expect_guarantees(witness, options);
    }
  }
  EXPECT_GE(runs, 500U);
}

TEST(Inhad, KeepsItsGuaranteesInAnyOrderOfMessages) {
  std::uint32_t runs = 0;
  for (const auto& options : all_inhad_options(20)) {
    for (std::uint32_t repetition = 0; repetition < 5; ++repetition, ++runs) {
      RandomStream random(2, Purpose::test, runs, repetition);
      Witness witness;
      ByHand hand(make_inhad(options), witness);

      hand.deliver_randomly(random);

      expect_guarantees(witness, options);
    }
  }
  EXPECT_GE(runs, 500U);
}

TEST(Inhad, AttainsItsStalenessLimit) {
  for (const std::uint64_t s : {1, 2, 5}) {
    Witness witness;
    Simulation simulation(
        make_inhad({.nodes = 2, .workers = 2, .quota = 1, .staleness = s, .versions = 50}),
        {.speeds = {1, 0.01}},
        witness);

    while (simulation.advance()) {
    }

    EXPECT_EQ(witness.largest_staleness(), s);
  }
}

TEST(Inhad, IsLockstepWithAFullQuotaACapOfOneAndNoStaleness) {
  Witness witness;
  Simulation simulation(
      make_inhad({.nodes = 3, .workers = 6, .quota = 6, .staleness = 0, .cap = 1, .versions = 30}),
      {.compute = TimeLaw::pareto(1, 1.1), .jitter = TimeLaw::pareto(0.1, 0.8)},
      witness);

  while (const auto notes = simulation.advance()) {
    ASSERT_EQ(notes->gradients.size(), 6U);
    std::vector<bool> has_worker(6);
    for (const auto& gradient : notes->gradients) {
      EXPECT_EQ(gradient.base, notes->version - 1);
      EXPECT_EQ(gradient.iteration, notes->version - 1);
      EXPECT_FALSE(has_worker[gradient.worker]);
      has_worker[gradient.worker] = true;
    }
  }
  EXPECT_EQ(simulation.made(), 30U);
}

TEST(Inhad, GivesEveryWorkerItsCapInEachVersionWithoutStaleness) {
  Witness witness;
  Simulation simulation(
      make_inhad({.nodes = 2, .workers = 4, .quota = 1, .staleness = 0, .cap = 3, .versions = 30}),
      {.compute = TimeLaw::exponential(1), .jitter = TimeLaw::exponential(1)},
      witness);

  while (const auto notes = simulation.advance()) {
    EXPECT_EQ(notes->gradients.size(), 12U);
  }
  EXPECT_EQ(witness.versions(), 30U);
  EXPECT_EQ(witness.largest_staleness(), 0U);
}

TEST(Inhad, MakesNoFurtherVersionOnceItIsAskedToStop) {
  std::uint32_t runs = 0;
  for (const auto& options : all_inhad_options(1000)) {
    for (std::uint32_t repetition = 0; repetition < 3; ++repetition, ++runs) {
      RandomStream random(4, Purpose::test, runs, repetition);
      Witness witness;
      ByHand hand(make_inhad(options), witness);
      hand.deliver_all([](const ByHand::Packet& /*packet*/) { return true; }, random.below(200));
      hand.send(hand.roster().server(), {.kind = ActorMessageKind::stop});
      hand.deliver_one([](const ByHand::Packet& packet) {
        return packet.message.kind == ActorMessageKind::stop;
      });
      const std::uint64_t versions = witness.versions();

      hand.deliver_randomly(random);

      ASSERT_EQ(witness.versions(), versions) << inhad_name(options);
      ASSERT_EQ(witness.unfinished(), 0U) << inhad_name(options);
    }
  }
}

TEST(Inhad, SaysWhichOptionsCouldNotWork) {
  const auto error = [](const InhadOptions& options) {
    return error_of([&] { make_inhad(options); });
  };
  EXPECT_EQ(error({.nodes = 4, .workers = 6}),
            "inhad cannot place 6 workers evenly on 4 nodes; take a number of nodes that divides "
            "the workers");
  EXPECT_EQ(error({.nodes = 0, .workers = 6}), "inhad needs at least 1 node, not 0");
  EXPECT_EQ(error({.nodes = 1, .workers = 0}), "inhad needs at least 1 worker, not 0");
  EXPECT_EQ(error({.quota = 0}), "inhad needs a quota of at least 1 gradient, not 0");
  EXPECT_EQ(error({.cap = 0}), "inhad needs a cap of at least 1 gradient, not 0");
  EXPECT_EQ(error({.versions = 0}), "a protocol makes at least 1 version, not 0");
  EXPECT_EQ(error({.nodes = 2, .workers = 4, .quota = 9, .cap = 2}),
            "inhad would never pull: 4 workers with a cap of 2 gradients reach 8, the quota "
            "is 9; lower the quota or raise the cap");
  EXPECT_EQ(error({.nodes = 2, .workers = 4, .staleness = 0}),
            "inhad would never pull: with a staleness of 0 and no cap no worker becomes idle; "
            "set a cap, or a staleness above 0");
  EXPECT_EQ(error({.nodes = 2, .workers = 4, .quota = 8, .cap = 2}), "");
}

}  // namespace
}  // namespace residuum
