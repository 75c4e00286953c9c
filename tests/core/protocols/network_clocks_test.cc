// Network clocks against the closed forms of theory section 6 and schedules that are solved by
// hand. A message of n bytes takes alpha + beta n, and its two ports are busy for beta n.

#include "core/protocols/network_clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"

namespace residuum {
namespace {

constexpr double kAlpha = 0.5;
constexpr double kBeta = 0.25;  // exact, as all sums below
const NetworkModel kSimple{.name = "simple",
                           .links = {.alpha_s = kAlpha, .beta_s_per_byte = kBeta}};

NetworkClocks clocks_of(int workers, const NetworkModel& network = kSimple) {
  return {network, {.compute = TimeLaw::constant(0)}, workers};
}

double time_of(const Transfers& transfers, int workers, const NetworkModel& network = kSimple) {
  NetworkClocks clocks = clocks_of(workers, network);
  clocks.exchange(transfers, /*with_work=*/true);
  return clocks.now();
}

Transfers all_gather(const std::vector<double>& bytes) {
  Transfers transfers;
  const auto amounts = transfers.add_row(Transfer::Kind::all_gather, bytes.size());
  std::copy(bytes.begin(), bytes.end(), amounts.begin());
  return transfers;
}

int rounds_of(int workers) { return static_cast<int>(std::ceil(std::log2(workers))); }

TEST(NetworkClocks, TakeLogPRoundsAndPMinusOneListsForAnAllGather) {
  for (const int workers : {1, 2, 3, 4, 5, 7, 8, 13, 32, 100}) {
    const double bytes = 24;
    const auto transfers =
        all_gather(std::vector<double>(static_cast<std::size_t>(workers), bytes));
    EXPECT_EQ(time_of(transfers, workers),
              kAlpha * rounds_of(workers) + (workers - 1) * bytes * kBeta)
        << workers;
  }
}

// P = 3: worker i sends its list to i - 1, then, in the second round, one list to i - 2. The first
// round takes 0.5 + 0.25 n: worker 2 has list 0 at 1.5, worker 0 list 1 at 2.5, worker 1 list 2 at
// 3.5. Then worker i sends the list of i itself, as it has one of two that are missing: worker 0's
// port is free at 1 and it is ready at 2.5: worker 1 has list 0 at 2.5 + 1.5; worker 1 is ready at
// 3.5 and sends 8 bytes: worker 2 has it at 6; worker 2 is ready at 1.5, but its port is busy until
// 3: worker 0 has list 2 at 3 + 3.5 = 6.5.
TEST(NetworkClocks, GatherListsOfDifferentLengthsAsByHand) {
  EXPECT_EQ(time_of(all_gather({4, 8, 12}), 3), 6.5);
}

TEST(NetworkClocks, TakeOneMessagePerLevelOfTheTree) {
  for (const int workers : {1, 2, 4, 8, 64}) {
    for (const auto kind : {Transfer::Kind::tree_up, Transfer::Kind::tree_down}) {
      Transfers transfers;
      transfers.add(kind, 16);
      EXPECT_EQ(time_of(transfers, workers), rounds_of(workers) * (kAlpha + 16 * kBeta));
    }
  }
}

// P = 5: 4 -> 0 is there at 4.5; 1 -> 0, sent at 0 too, at 8.5, as the port of worker 0 is busy;
// 2 -> 0, sent when 3 -> 2 has arrived at 4.5, at 12.5.
TEST(NetworkClocks, FoldTheWorkersBeyondAPowerOfTwoInARoundOfTheirOwn) {
  Transfers transfers;
  transfers.add(Transfer::Kind::tree_up, 16);
  EXPECT_EQ(time_of(transfers, 5), 12.5);
}

TEST(NetworkClocks, PassAChainForthAndBack) {
  Transfers transfers;
  transfers.add(Transfer::Kind::chain, 100);
  EXPECT_EQ(time_of(transfers, 4), 6 * (kAlpha + 100 * kBeta));
}

Transfers ring_of(const std::vector<double>& chunks, int per_node = 1) {
  Transfers transfers;
  const auto amounts = transfers.add_row(Transfer::Kind::ring, chunks.size(), per_node);
  std::copy(chunks.begin(), chunks.end(), amounts.begin());
  return transfers;
}

TEST(NetworkClocks, TakeTwicePMinusOneChunksForARing) {
  for (const int workers : {1, 2, 3, 4, 7, 32}) {
    const std::vector<double> chunks(static_cast<std::size_t>(workers), 24);
    EXPECT_EQ(time_of(ring_of(chunks), workers), 2 * (workers - 1) * (kAlpha + 24 * kBeta))
        << workers;
    EXPECT_EQ(time_of(ring_of(chunks, 3), 3 * workers), 2 * (workers - 1) * (kAlpha + 24 * kBeta))
        << "over the first workers of nodes of three";
  }
}

// P = 3, chunks of 4, 4 and 8 bytes, whose ports are busy for 1, 1 and 2. First worker i sends
// chunk i-1 at 0: worker 1 has chunk 2 at 2.5, workers 2 and 0 theirs at 1.5. Then chunk i-2:
// worker 0, whose port is busy until 2, sends chunk 1, at 3.5 with worker 1; worker 1 chunk 2, at 5
// with worker 2; worker 2 chunk 0, at 3 with worker 0. Then chunk i: at 4.5 with worker 1; worker
// 1's port is busy until 4.5, at 6 with worker 2; at 7.5 with worker 0. Last chunk i-1: worker 0
// sends chunk 2 at 7.5, there at 10; worker 1's port is busy until 5.5, there at 7; worker 2's
// until 7, there at 8.5.
TEST(NetworkClocks, PassUnevenChunksRoundARingAsByHand) {
  EXPECT_EQ(time_of(ring_of({4, 4, 8}), 3), 10);
}

TEST(NetworkClocks, TakeLogPMessagesForRecursiveDoubling) {
  Transfers transfers;
  transfers.add(Transfer::Kind::doubling, 16);
  for (const int workers : {1, 2, 4, 8, 64}) {
    EXPECT_EQ(time_of(transfers, workers), rounds_of(workers) * (kAlpha + 16 * kBeta)) << workers;
  }
}

// P = 6, a message takes 4.5: workers 4 and 5 are folded into 0 and 1 at 4.5, and these have
// exchanged at 9. Workers 2 and 3 exchanged at 4.5, and what they sent to 0 and 1 then is there at
// 9 too, but the port takes 4 for it after what came at 9: workers 0 and 1 have the sum at 13 and
// send it back to 4 and 5, where it is at 17.5.
TEST(NetworkClocks, FoldWorkersIntoRecursiveDoublingBeforeAndAfter) {
  Transfers transfers;
  transfers.add(Transfer::Kind::doubling, 16);
  EXPECT_EQ(time_of(transfers, 6), 17.5);
}

TEST(NetworkClocks, LetMessagesOfARoundWaitForAPortButNotForEachOther) {
  Transfers transfers;
  transfers.add(Transfer::Kind::message, 4, 1, 0);
  transfers.add(Transfer::Kind::message, 4, 2, 0);  // the port of worker 0 takes one at a time
  transfers.add(Transfer::Kind::message, 8, 0, 3);  // sent at 0, as nothing has arrived yet
  EXPECT_EQ(time_of(transfers, 4), kAlpha + 2 * 4 * kBeta);

  transfers.add_row(Transfer::Kind::end_round, 0);
  transfers.add(Transfer::Kind::message, 4, 0, 3);  // sent at 2.5, when both have arrived
  EXPECT_EQ(time_of(transfers, 4), 2.5 + kAlpha + 4 * kBeta);
}

// On a ring each sends to p + 1, then to p - 1. Worker 0's second message and worker 2's first one
// go to worker 3; the latter is there first, although it stands behind in the list.
TEST(NetworkClocks, ReceiveInTheOrderOfArrival) {
  Transfers transfers;
  for (int p = 0; p < 4; ++p) {
    transfers.add(Transfer::Kind::message, 4, p, (p + 1) % 4);
    transfers.add(Transfer::Kind::message, 4, p, (p + 3) % 4);
  }
  EXPECT_EQ(time_of(transfers, 4), kAlpha + 2 * 4 * kBeta);
}

const NetworkModel kLogGp{.name = "LogGP", .links = LinkModel::log_gp(2, 0.5, 1, 0.25)};

// L = 2, o = 1/2, g = 1, G = 1/4. A message of 9 bytes: o + 8 G + L + o = 5.
TEST(NetworkClocks, TakeTwoOverheadsAndALatencyForAMessageOnLogGP) {
  Transfers transfers;
  transfers.add(Transfer::Kind::message, 9, 0, 1);
  EXPECT_EQ(time_of(transfers, 2, kLogGp), 5);
}

// Two messages of 9 bytes from worker 0, which has handed in the first at 1/2 and the second at 1.
// The last byte of the first leaves at 1/2 + 8 G = 2.5, the first of the second g later, at 3.5,
// and its last at 5.5. That arrives L later, at 7.5, and is taken at 8.
TEST(NetworkClocks, KeepAGapBetweenTheMessagesOfAPortOnLogGP) {
  Transfers transfers;
  transfers.add(Transfer::Kind::message, 9, 0, 1);
  transfers.add(Transfer::Kind::message, 9, 0, 2);
  NetworkClocks clocks = clocks_of(3, kLogGp);
  clocks.exchange(transfers, /*with_work=*/true);
  EXPECT_EQ(std::vector(clocks.times().begin(), clocks.times().end()),
            (std::vector<double>{1, 5, 8}));
}

// Workers 1 and 2 send 9 bytes each to worker 0 at the same time. The last byte of the first
// arrives at 4.5, the first of the second g later, at 5.5, and its last at 7.5. Worker 0 has it
// at 8.
TEST(NetworkClocks, KeepAGapBetweenTheMessagesThatAPortReceivesOnLogGP) {
  Transfers transfers;
  transfers.add(Transfer::Kind::message, 9, 1, 0);
  transfers.add(Transfer::Kind::message, 9, 2, 0);
  EXPECT_EQ(time_of(transfers, 3, kLogGp), 8);
}

// A tree of P = 8 takes three such messages one after the other up, and three down.
TEST(NetworkClocks, TakeSixMessagesOneAfterTheOtherForATreeOnLogGP) {
  Transfers transfers;
  transfers.add(Transfer::Kind::tree_up, 9);
  transfers.add(Transfer::Kind::tree_down, 9);
  EXPECT_EQ(time_of(transfers, 8, kLogGp), 6 * 5);
}

TEST(NetworkClocks, ChargeWorkToTheWorkerThatDoesIt) {
  Transfers transfers(/*times_work=*/true);
  transfers.add(Transfer::Kind::message, 4, 1, 0);  // at 1.5
  transfers.add(Transfer::Kind::work, 10, 0, 0);
  transfers.add_row(Transfer::Kind::end_round, 0);
  transfers.add(Transfer::Kind::message, 4, 0, 1);
  EXPECT_EQ(time_of(transfers, 2), 1.5 + 10 + 1.5);
  transfers.add(Transfer::Kind::work_all, 3);
  EXPECT_EQ(time_of(transfers, 2), 13 + 3);

  NetworkClocks clocks = clocks_of(2);
  clocks.exchange(transfers, /*with_work=*/false);
  EXPECT_EQ(clocks.now(), 3);
}

TEST(NetworkClocks, WaitForTheSlowestWorkerWhereAllNeedIt) {
  NetworkClocks clocks(kSimple, {.compute = TimeLaw::constant(4), .speeds = {1, 2, 0.5, 4}}, 4);
  clocks.compute(0, 2);
  EXPECT_EQ(clocks.now(), 16) << "two gradients of 8 s on the worker of half the speed";
  clocks.exchange(all_gather({0, 0, 0, 0}), false);
  EXPECT_EQ(clocks.now(), 16 + 2 * kAlpha);
  clocks.wait(std::vector<double>{5, 0, 0, 1});
  EXPECT_EQ(clocks.now(), 16 + kAlpha + 5) << "worker 0 had all lists after the first round";
}

// Workers 0 and 1 share a node, and so do 2 and 3. In the first round the pairs 1 -> 0 and 3 -> 2
// stay inside: 0.125 + 4/8. In the second 2 -> 0 crosses: 0.5 + 1.
TEST(NetworkClocks, TakeTheLinksOfTheNodeInsideOfIt) {
  NetworkModel network = kSimple;
  network.workers_per_node = 2;
  network.within = {.alpha_s = 0.125, .beta_s_per_byte = 0.125};
  Transfers transfers;
  transfers.add(Transfer::Kind::tree_up, 4);
  EXPECT_EQ(time_of(transfers, 4, network), 0.625 + 1.5);
}

TEST(NetworkClocks, LetWorkersOfANodeShareItsLink) {
  NetworkModel network = kSimple;
  network.workers_per_node = 2;
  Transfers transfers;
  transfers.add(Transfer::Kind::message, 4, 0, 2);
  transfers.add(Transfer::Kind::message, 4, 1, 3);
  EXPECT_EQ(time_of(transfers, 4, network), kAlpha + 2 * 4 * kBeta);
  network.workers_per_node = 1;
  EXPECT_EQ(time_of(transfers, 4, network), kAlpha + 4 * kBeta);
}

// Worker 1 has 8 bytes for worker 0, who works for 2 s once it has them. Half of it begins when
// worker 1 has 3/4 of its gradient (of 4 s) and 1/2 of its selection (of 1 s) behind it, at 1 +
// 3 + 0.5: it is there at 4.5 + 0.5 + 1, and the work done at 7. The other half is sent at 6, when
// all is selected.
TEST(NetworkClocks, BeginPartsOfAnExchangeWhileGradientsAreComputed) {
  Transfers transfers(/*times_work=*/true);
  transfers.add(Transfer::Kind::message, 8, 1, 0);
  transfers.add_row(Transfer::Kind::end_round, 0);
  transfers.add(Transfer::Kind::work, 2, 0, 0);
  const std::vector<ExchangePart> parts{{.ready = 0.75, .selected = 0.5, .share = 0.5},
                                        {.ready = 1, .selected = 1, .share = 0.5}};
  const LocalTimes local{.began = {1, 1}, .computed = {2, 5}, .selected = {2, 6}};
  NetworkClocks clocks = clocks_of(2);
  clocks.exchange_in_parts({parts.data(), 1}, local, transfers, /*with_work=*/true);
  EXPECT_EQ(clocks.times()[0], 7);
  EXPECT_EQ(clocks.times()[1], 6) << "its own gradient goes on";
  clocks = clocks_of(2);
  clocks.exchange_in_parts(parts, local, transfers, /*with_work=*/true);
  EXPECT_EQ(clocks.times()[0], 6 + 0.5 + 1 + 1);
  clocks.exchange(transfers, /*with_work=*/false);
  EXPECT_EQ(clocks.times()[0], 9.5) << "the whole again, sent at 7 when the port is free";
}

TEST(NetworkClocks, TellWhatAShareOfAnExchangeTakesAtRest) {
  const auto transfers = all_gather({24, 24, 24, 24});
  NetworkClocks clocks = clocks_of(4);
  clocks.exchange(transfers, /*with_work=*/false);
  EXPECT_EQ(clocks.seconds_of(0, transfers, false), 2 * kAlpha);
  EXPECT_EQ(clocks.seconds_of(0.5, transfers, false), 2 * kAlpha + 3 * 12 * kBeta);
  EXPECT_EQ(clocks.now(), 2 * kAlpha + 3 * 24 * kBeta) << "these clocks have not moved";
}

TEST(NetworkClocks, GoOnFromTheirSavedNumbers) {
  const MachineOptions machine{.seed = 3,
                               .compute = TimeLaw::exponential(1),
                               .stragglers = {.factor = 4, .normal_seconds = 2, .slow_seconds = 1}};
  const auto step = [](NetworkClocks& clocks, std::uint64_t t) {
    clocks.compute(t, 1);
    clocks.exchange(all_gather({4, 8, 12}), false);
  };
  NetworkClocks whole(kSimple, machine, 3);
  NetworkClocks resumed(kSimple, machine, 3);
  for (std::uint64_t t = 0; t < 5; ++t) {
    step(whole, t);
  }
  std::vector<std::byte> saved;
  ActorState save(saved);
  whole.save_or_load(save);
  ActorState load{std::span<const std::byte>(saved)};
  resumed.save_or_load(load);
  EXPECT_TRUE(load.is_at_end());
  step(whole, 5);
  step(resumed, 5);
  EXPECT_EQ(whole.now(), resumed.now());
}

TEST(NetworkClocks, RefuseTimesBeyondAllNumbers) {
  NetworkModel slow = kSimple;
  slow.links.beta_s_per_byte = 1e308;
  Transfers transfers;
  transfers.add(Transfer::Kind::chain, 100);
  try {
    static_cast<void>(time_of(transfers, 2, slow));
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "virtual time has grown beyond all numbers on network 'simple'; choose a faster "
                 "one");
  }
}

}  // namespace
}  // namespace residuum
