#pragma once
// Mailboxes between threads that play processes. Parcels take a random time, so that those of one
// process overtake those of another, and a process can be frozen: it neither gives nor takes.

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

#include "core/cluster/mailbox.h"
#include "core/random/random.h"

namespace residuum::test {

/// The parcels between all threads.
class ParcelHub {
 public:
  using Clock = std::chrono::steady_clock;

  /// Parcels take up to `longest`; the times are drawn from `seed`.
  ParcelHub(int size, std::chrono::microseconds longest, std::uint32_t seed)
      : size_(size),
        longest_(longest),
        random_(seed, Purpose::test, 0, 0),
        channels_(static_cast<std::size_t>(size * size)),
        muted_(static_cast<std::size_t>(size)),
        frozen_(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }

  void put(int from, Parcel parcel) {
    const std::lock_guard lock(mutex_);
    Channel& channel = channels_[static_cast<std::size_t>(from * size_ + parcel.peer)];
    const auto delay = longest_ * random_.uniform();
    channel.last =
        std::max(channel.last, Clock::now() + std::chrono::duration_cast<Clock::duration>(delay));
    parcel.peer = from;
    channel.parcels.emplace_back(channel.last, std::move(parcel));
  }

  std::optional<Parcel> take(int to) {
    const std::lock_guard lock(mutex_);
    for (int from = 0; from < size_ && !frozen_[static_cast<std::size_t>(to)]; ++from) {
      auto& parcels = channels_[static_cast<std::size_t>(from * size_ + to)].parcels;
      const bool is_muted = muted_[static_cast<std::size_t>(from)];
      if (!is_muted && !parcels.empty() && parcels.front().first <= Clock::now()) {
        Parcel parcel = std::move(parcels.front().second);
        parcels.pop_front();
        return parcel;
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

  /// Returns how many parcels nobody has received.
  std::size_t parcels_left() {
    const std::lock_guard lock(mutex_);
    std::size_t parcels = 0;
    for (const Channel& channel : channels_) {
      parcels += channel.parcels.size();
    }
    return parcels;
  }

 private:
  struct Channel {
    std::deque<std::pair<Clock::time_point, Parcel>> parcels;
    Clock::time_point last;  // at which a parcel arrives, so that none overtakes it
  };

  int size_;
  std::chrono::microseconds longest_;
  std::mutex mutex_;
  RandomStream random_;
  std::vector<Channel> channels_;
  std::deque<std::atomic<bool>> muted_;
  std::deque<std::atomic<bool>> frozen_;
};

class ThreadCarrier final : public Carrier {
 public:
  ThreadCarrier(ParcelHub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  void send(Parcel parcel) override { hub_.put(rank_, std::move(parcel)); }
  std::optional<Parcel> poll() override { return hub_.take(rank_); }
  bool has_sent_all() override { return true; }

 private:
  ParcelHub& hub_;
  int rank_;
};

/// Runs `body` once per process, each in a thread with a mailbox of its own, and returns what each
/// threw: the message of an Error, or nothing.
inline std::vector<std::string> with_mailboxes(ParcelHub& hub,
                                               const MailboxOptions& options,
                                               const std::function<void(Mailbox&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(hub.size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < hub.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Mailbox mailbox(std::make_unique<ThreadCarrier>(hub, rank), options);
        body(mailbox);
        mailbox.close();
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return errors;
}

}  // namespace residuum::test
