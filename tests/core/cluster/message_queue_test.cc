// Message queues between threads: messages keep their order, a silent process is named on all
// others, and every message queue closes.

#include "core/cluster/message_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/core/support.h"
#include "tests/core/thread_message_queue.h"

namespace residuum {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::error_of;
using test::PacketHub;
using test::with_message_queues;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr milliseconds kShort{500};
constexpr milliseconds kLonger{1500};               // where signs must not be late
constexpr auto kEnough = std::chrono::seconds(20);  // for a machine that does other work

Bytes number_message(std::uint32_t number) {
  Bytes bytes(sizeof(number));
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::uint32_t number_of(const Bytes& bytes) {
  std::uint32_t number = 0;
  EXPECT_EQ(bytes.size(), sizeof(number));
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

/// Receives one message; fails the test if none comes.
Incoming receive(MessageQueue& queue) {
  auto incoming = queue.next(kEnough);
  EXPECT_TRUE(incoming.has_value());
  return incoming ? *std::move(incoming) : Incoming{.from = 0, .bytes = number_message(0)};
}

TEST(MessageQueue, KeepsTheOrderOfMessagesFromOneProcessToAnother) {
  constexpr std::uint32_t kMessages = 300;
  PacketHub hub(4, microseconds(500), 1);
  const auto errors = with_message_queues(hub, {}, [](MessageQueue& queue) {
    const auto size = static_cast<std::uint32_t>(queue.size());
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      for (int to = 0; to < queue.size(); ++to) {  // also to itself
        queue.send(to, number_message(i));
      }
    }
    std::vector<std::uint32_t> expected(size);
    for (std::uint32_t i = 0; i < kMessages * size; ++i) {
      const Incoming incoming = receive(queue);
      EXPECT_EQ(number_of(incoming.bytes), expected[static_cast<std::size_t>(incoming.from)]++);
    }
    EXPECT_FALSE(queue.next(milliseconds(0)).has_value());
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_EQ(hub.packets_left(), 0U);
}

TEST(MessageQueue, WaitsNoLongerThanItIsAsked) {
  PacketHub hub(2, microseconds(0), 1);
  const auto errors = with_message_queues(hub, {}, [](MessageQueue& queue) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(queue.next(milliseconds(30)).has_value());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(30));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(MessageQueue, IsTakenForAliveWhileItsOwnerComputes) {
  PacketHub hub(3, microseconds(100), 1);
  const auto errors = with_message_queues(hub, {.patience = kLonger}, [](MessageQueue& queue) {
    if (queue.rank() == 0) {
      std::this_thread::sleep_for(3 * kLonger);  // makes no call of the message queue
      queue.send(1, number_message(7));
      queue.send(2, number_message(7));
      return;
    }
    EXPECT_EQ(number_of(receive(queue).bytes), 7U);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(MessageQueue, NamesASilentProcessOnAllOthersInTime) {
  for (const int silent : {0, 2}) {
    PacketHub hub(4, microseconds(100), 1);
    std::array<double, 4> seconds{};
    const auto errors = with_message_queues(hub, {.patience = kShort}, [&](MessageQueue& queue) {
      if (queue.rank() == silent) {
        hub.freeze(silent);
      }
      const auto begin = std::chrono::steady_clock::now();
      try {
        queue.next(kEnough);
        ADD_FAILURE() << "no loss is reported on process " << queue.rank();
      } catch (const LostPeer& lost) {
        const auto time = std::chrono::steady_clock::now() - begin;
        seconds[static_cast<std::size_t>(queue.rank())] =
            std::chrono::duration<double>(time).count();
        if (queue.rank() != silent) {
          EXPECT_EQ(lost.rank(), silent);
        }
        throw;
      }
    });

    for (int rank = 0; rank < hub.size(); ++rank) {
      if (rank != silent) {
        EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                    HasSubstr("process " + std::to_string(silent) + " is lost: "));
        // 563 ms are promised where the machine is free.
        EXPECT_LT(seconds[static_cast<std::size_t>(rank)], 15) << "on process " << rank;
      }
    }
  }
}

TEST(MessageQueue, TellsAProcessThatTheOthersHaveGivenItUp) {
  PacketHub hub(3, microseconds(100), 1);
  const auto errors = with_message_queues(hub, {.patience = 4 * kShort}, [&](MessageQueue& queue) {
    if (queue.rank() == 1) {
      hub.mute(1);
    }
    queue.next(kEnough);
  });

  EXPECT_THAT(errors, Each(HasSubstr("process 1 is lost: ")));
  EXPECT_THAT(errors[1], HasSubstr("has not heard of it for too long"));
}

TEST(MessageQueue, TellsTheOthersAtOnceThatItsOwnerHasFailed) {
  PacketHub hub(3, microseconds(100), 1);
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = with_message_queues(hub, {}, [](MessageQueue& queue) {
    if (queue.rank() == 2) {
      resource_error("the disk is full");
    }
    queue.next(kEnough);
  });

  EXPECT_EQ(errors[2], "the disk is full");
  EXPECT_EQ(errors[0], "process 2 has failed and left the run; its own message says why");
  EXPECT_EQ(errors[0], errors[1]);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9))
      << "nobody waits for the patience of 10 s";
}

TEST(MessageQueue, ClosesWithMessagesThatNobodyHasRead) {
  PacketHub hub(3, microseconds(300), 1);
  const auto errors = with_message_queues(hub, {}, [](MessageQueue& queue) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      queue.send((queue.rank() + 1) % queue.size(), number_message(i));
    }
  });

  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_EQ(hub.packets_left(), 0U);
}

TEST(MessageQueue, DoesNotMissAProcessThatHasClosedWhileOthersStillWork) {
  PacketHub hub(3, microseconds(100), 1);
  const auto errors = with_message_queues(hub, {.patience = kLonger}, [](MessageQueue& queue) {
    if (queue.rank() == 0) {
      EXPECT_FALSE(queue.next(3 * kLonger).has_value());
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(MessageQueue, ReportsALossWhileItCloses) {
  for (const milliseconds look_every : {milliseconds(0), milliseconds(50)}) {
    PacketHub hub(3, microseconds(100), 1);
    const MessageQueueOptions options{.patience = kShort, .look_every = look_every};
    const auto errors = with_message_queues(hub, options, [&](MessageQueue& queue) {
      if (queue.rank() == 1) {
        hub.freeze(1);
      }
    });
    EXPECT_THAT(errors[0], HasSubstr("process 1 is lost"));
    EXPECT_THAT(errors[2], HasSubstr("process 1 is lost"));
  }
}

TEST(MessageQueue, ResortsToTheLastWhereItsOwnerWaitsForTheLostProcessElsewhere) {
  PacketHub hub(2, microseconds(100), 1);
  std::atomic<int> resorts = 0;
  std::atomic<int> lost_rank = -1;
  const MessageQueueOptions options{.patience = kShort, .last_resort = [&](const LostPeer& lost) {
                                      lost_rank = lost.rank();
                                      ++resorts;
                                    }};
  const auto errors = with_message_queues(hub, options, [&](MessageQueue& queue) {
    if (queue.rank() == 1) {
      hub.freeze(1);
      EXPECT_THROW(queue.next(kEnough), LostPeer);  // so it is told
    }
    const auto begin = std::chrono::steady_clock::now();
    while (resorts == 0 && std::chrono::steady_clock::now() - begin < kEnough) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  });

  EXPECT_EQ(resorts, 1);
  EXPECT_EQ(lost_rank, 1);
}

/// The transport of process 0 of three. Process 1 is silent and process 2 gives signs all the time.
class HalfSilentTransport final : public PacketTransport {
 public:
  explicit HalfSilentTransport(std::vector<Packet>& sent) : sent_(sent) {}
  int rank() const override { return 0; }
  int size() const override { return 3; }
  void send(Packet packet) override { sent_.push_back(std::move(packet)); }
  std::optional<Packet> poll() override {
    ++polls_;
    return polls_ % 2 == 0
               ? std::nullopt
               : std::optional(Packet{.peer = 2, .kind = Packet::Kind::heartbeat, .bytes = {}});
  }
  std::size_t unsent() override { return 0; }

 private:
  std::vector<Packet>& sent_;
  int polls_ = 0;
};

TEST(MessageQueue, SendsTheNoticesOfALossHoweverFastItsOwnerLeaves) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    std::vector<Packet> sent;
    EXPECT_THROW(
        {
          MessageQueue queue(std::make_unique<HalfSilentTransport>(sent),
                             {.patience = milliseconds(8)});
          queue.next(kEnough);
        },
        LostPeer);

    std::vector<int> told;
    for (const Packet& packet : sent) {
      if (packet.kind == Packet::Kind::loss) {
        told.push_back(packet.peer);
      }
    }
    ASSERT_THAT(told, ElementsAre(1, 2)) << "in repetition " << repetition;
  }
}

/// The transport of process 0 of two. The other gives signs and leaves after 600 ms.
class LateTransport final : public PacketTransport {
 public:
  explicit LateTransport(std::vector<Packet::Kind>& sent) : sent_(sent) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void send(Packet packet) override { sent_.push_back(packet.kind); }
  std::optional<Packet> poll() override {
    ++polls_;
    const bool is_late = std::chrono::steady_clock::now() - begin_ >= milliseconds(600);
    return polls_ % 2 == 0 ? std::nullopt
                           : std::optional(Packet{
                                 .peer = 1,
                                 .kind = is_late ? Packet::Kind::leaving : Packet::Kind::heartbeat,
                                 .bytes = {}});
  }
  std::size_t unsent() override { return 0; }

 private:
  std::vector<Packet::Kind>& sent_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int polls_ = 0;
};

/// Counts how often it is polled; no packet ever arrives.
class CountingTransport final : public PacketTransport {
 public:
  explicit CountingTransport(std::atomic<int>& polls) : polls_(polls) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void send(Packet /*packet*/) override {}
  std::optional<Packet> poll() override {
    ++polls_;
    return std::nullopt;
  }
  std::size_t unsent() override { return 0; }

 private:
  std::atomic<int>& polls_;
};

TEST(MessageQueue, PollsForSignsAloneAsSeldomAsItIsTold) {
  std::atomic<int> polls = 0;
  try {
    const MessageQueue queue(std::make_unique<CountingTransport>(polls),
                             {.patience = kLonger, .look_every = milliseconds(100)});
    std::this_thread::sleep_for(milliseconds(1000));
    EXPECT_LE(polls, 11);
    throw std::runtime_error("the other process never leaves");
  } catch (const std::runtime_error&) {
    EXPECT_GE(polls, 1);
  }
}

TEST(MessageQueue, SendsNothingAfterItHasLeft) {
  std::vector<Packet::Kind> sent;
  MessageQueue queue(std::make_unique<LateTransport>(sent), {.patience = kShort});
  std::this_thread::sleep_for(kShort);
  queue.close();

  ASSERT_GE(sent.size(), 2U);
  EXPECT_EQ(sent.front(), Packet::Kind::heartbeat);
  EXPECT_EQ(sent.back(), Packet::Kind::leaving);
}

/// Keeps sent packets until it is told to pass them on; the other process gives signs.
class KeepingTransport final : public PacketTransport {
 public:
  explicit KeepingTransport(std::atomic<bool>& lets_go) : lets_go_(lets_go) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void send(Packet /*packet*/) override { ++kept_; }
  std::optional<Packet> poll() override {
    ++polls_;
    return polls_ % 2 == 0
               ? std::nullopt
               : std::optional(Packet{.peer = 1, .kind = Packet::Kind::heartbeat, .bytes = {}});
  }
  std::size_t unsent() override { return lets_go_ ? 0 : kept_; }

 private:
  std::atomic<bool>& lets_go_;
  std::size_t kept_ = 0;
  int polls_ = 0;
};

TEST(MessageQueue, LetsASenderWaitWhileItsMessagesDoNotLeave) {
  std::atomic<bool> lets_go = false;
  std::atomic<int> sent = 0;
  try {
    MessageQueue queue(std::make_unique<KeepingTransport>(lets_go), {.patience = 4 * kLonger});
    const std::jthread sender([&] {
      for (; sent < 1000; ++sent) {
        queue.await_room();
        queue.send(1, number_message(0));
      }
    });
    while (sent < 200) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    std::this_thread::sleep_for(kShort);
    EXPECT_LT(sent, 300) << "of messages that do not leave";
    lets_go = true;
    while (sent < 1000) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    throw std::runtime_error("the other process never leaves");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(sent, 1000);
  }
}

/// A transport that fails when it is polled the third time.
class BreakingTransport final : public PacketTransport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void send(Packet /*packet*/) override {}
  std::optional<Packet> poll() override {
    if (++polls_ == 3) {
      resource_error("the network is down");
    }
    return std::nullopt;
  }
  std::size_t unsent() override { return 0; }

 private:
  int polls_ = 0;
};

TEST(MessageQueue, PassesOnWhatItsTransportThrows) {
  MessageQueue queue(std::make_unique<BreakingTransport>());

  EXPECT_EQ(error_of([&] { queue.next(kEnough); }), "the network is down");
  EXPECT_EQ(error_of([&] { queue.close(); }), "the network is down");
}

TEST(MessageQueue, OfAProcessThatIsAloneDeliversItsOwnMessages) {
  const auto queue = make_single_message_queue();
  EXPECT_EQ(queue->size(), 1);
  queue->send(0, number_message(3));

  EXPECT_EQ(number_of(receive(*queue).bytes), 3U);
  EXPECT_FALSE(queue->next(milliseconds(1)).has_value());
  queue->close();
}

}  // namespace
}  // namespace residuum
