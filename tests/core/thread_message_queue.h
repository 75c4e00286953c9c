#pragma once
// Message queues between threads that play processes. Packets take a random time, so that those of
// one process overtake those of another, and a process can be frozen: it neither gives nor takes.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/cluster/message_queue.h"
#include "core/random/random.h"

namespace residuum::test {

/// The packets between all threads.
class PacketHub {
 public:
  using Clock = std::chrono::steady_clock;

  /// Packets take up to `longest`; the times are drawn from `seed`.
  PacketHub(int size, std::chrono::microseconds longest, std::uint32_t seed)
      : size_(size),
        longest_(longest),
        random_(seed, Purpose::test, 0, 0),
        channels_(static_cast<std::size_t>(size * size)),
        muted_(static_cast<std::size_t>(size)),
        frozen_(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }

  void put(int from, Packet packet) {
    const std::lock_guard lock(mutex_);
    Channel& channel = channels_[static_cast<std::size_t>(from * size_ + packet.peer)];
    const auto delay = longest_ * random_.uniform();
    channel.last =
        std::max(channel.last, Clock::now() + std::chrono::duration_cast<Clock::duration>(delay));
    packet.peer = from;
    channel.packets.emplace_back(channel.last, std::move(packet));
  }

  std::optional<Packet> take(int to) {
    const std::lock_guard lock(mutex_);
    for (int from = 0; from < size_ && !frozen_[static_cast<std::size_t>(to)]; ++from) {
      auto& packets = channels_[static_cast<std::size_t>(from * size_ + to)].packets;
      const bool is_muted = muted_[static_cast<std::size_t>(from)];
      if (!is_muted && !packets.empty() && packets.front().first <= Clock::now()) {
        Packet packet = std::move(packets.front().second);
        packets.pop_front();
        return packet;
      }
    }
    return std::nullopt;
  }

  /// Holds back everything from that process from now on.
  void mute(int rank) { muted_[static_cast<std::size_t>(rank)] = true; }
  /// Holds back everything to and from that process from now on.
  void freeze(int rank) {
    mute(rank);
    frozen_[static_cast<std::size_t>(rank)] = true;
  }

  /// Returns how many packets nobody has received.
  std::size_t packets_left() {
    const std::lock_guard lock(mutex_);
    std::size_t packets = 0;
    for (const Channel& channel : channels_) {
      packets += channel.packets.size();
    }
    return packets;
  }

 private:
  struct Channel {
    std::deque<std::pair<Clock::time_point, Packet>> packets;
    Clock::time_point last;  // at which a packet arrives, so that none overtakes it
  };

  int size_;
  std::chrono::microseconds longest_;
  std::mutex mutex_;
  RandomStream random_;
  std::vector<Channel> channels_;
  std::deque<std::atomic<bool>> muted_;
  std::deque<std::atomic<bool>> frozen_;
};

class ThreadTransport final : public PacketTransport {
 public:
  ThreadTransport(PacketHub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  void send(Packet packet) override { hub_.put(rank_, std::move(packet)); }
  std::optional<Packet> poll() override { return hub_.take(rank_); }
  std::size_t unsent() override { return 0; }

 private:
  PacketHub& hub_;
  int rank_;
};

/// Runs `body` once per process, each in a thread with a message queue of its own, and returns what
/// each threw: the message of an Error, or nothing.
inline std::vector<std::string> with_message_queues(
    PacketHub& hub,
    const MessageQueueOptions& options,
    const std::function<void(MessageQueue&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(hub.size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < hub.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        MessageQueue queue(std::make_unique<ThreadTransport>(hub, rank), options);
        body(queue);
        queue.close();
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return errors;
}

}  // namespace residuum::test
