#pragma once
// Several processes played by threads of this one, with a queue per pair: what runs over MPI can
// be tried at any number of processes without it.

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/cluster/world.h"

namespace residuum::test {

/// The messages between all ranks.
class MessageQueues {
 public:
  void put(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    queues_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }

  Bytes take(int from, int to) {
    std::unique_lock lock(mutex_);
    auto& queue = queues_[{from, to}];
    arrived_.wait(lock, [&] { return closed_ || !queue.empty(); });
    if (queue.empty()) {
      throw std::runtime_error("another rank has failed");
    }
    Bytes bytes = std::move(queue.front());
    queue.pop_front();
    return bytes;
  }

  /// Wakes everyone who waits: the sender has failed.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
  }

  bool is_empty() {
    const std::lock_guard lock(mutex_);
    return std::all_of(
        queues_.begin(), queues_.end(), [](const auto& queue) { return queue.second.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<Bytes>> queues_;
  bool closed_ = false;
};

class ThreadWorld final : public World {
 public:
  ThreadWorld(MessageQueues& queues, int rank, int size)
      : queues_(queues), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, std::span<const std::byte> bytes) override { queues_.put(rank_, to, bytes); }
  void post(int from, std::span<std::byte> room) override { rooms_[from].push_back(room); }
  std::size_t take(int from) override {
    const auto room = rooms_[from].front();
    rooms_[from].pop_front();
    const Bytes bytes = queues_.take(from, rank_);
    if (bytes.size() > room.size()) {
      throw std::runtime_error("a message is longer than the room for it");
    }
    std::copy(bytes.begin(), bytes.end(), room.begin());
    return bytes.size();
  }

  void broadcast(int root, std::span<std::byte> bytes) override {
    if (rank_ != root) {
      const Bytes sent = queues_.take(root, rank_);
      if (sent.size() != bytes.size()) {
        throw std::runtime_error("a broadcast of different lengths");
      }
      std::copy(sent.begin(), sent.end(), bytes.begin());
      return;
    }
    for (int rank = 0; rank < size_; ++rank) {
      if (rank != root) {
        send(rank, bytes);
      }
    }
  }

  void all_gather(std::span<const std::byte> mine, Gathered& all) override {
    for (int rank = 0; rank < size_; ++rank) {
      send(rank, mine);
    }
    all.bytes.clear();
    all.begins.assign(1, 0);
    for (int rank = 0; rank < size_; ++rank) {
      const Bytes part = queues_.take(rank, rank_);
      all.bytes.insert(all.bytes.end(), part.begin(), part.end());
      all.begins.push_back(all.bytes.size());
    }
  }

  std::int64_t minimum(std::int64_t mine) override {
    Gathered all;
    all_gather(std::as_bytes(std::span(&mine, 1)), all);
    for (std::size_t rank = 0; rank < all.parts(); ++rank) {
      std::int64_t other = 0;
      std::memcpy(&other, all.part(rank).data(), sizeof(other));
      mine = std::min(mine, other);
    }
    return mine;
  }

  void add_up(std::span<float> numbers) override { add_up_backwards(numbers); }
  void add_up(std::span<double> numbers) override { add_up_backwards(numbers); }

  [[noreturn]] void abort(ExitCode /*code*/) override { std::abort(); }
  std::string description() const override { return "threads"; }

 private:
  /// From the last rank to the first, unlike any order that is promised.
  template <class T>
  void add_up_backwards(std::span<T> numbers) {
    Gathered all;
    all_gather(std::as_bytes(numbers), all);
    std::fill(numbers.begin(), numbers.end(), T{0});
    std::vector<T> part(numbers.size());
    for (std::size_t rank = all.parts(); rank-- > 0;) {
      const auto bytes = all.part(rank);
      std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(part)).begin());
      std::transform(numbers.begin(), numbers.end(), part.begin(), numbers.begin(), std::plus<T>());
    }
  }

  MessageQueues& queues_;
  int rank_;
  int size_;
  std::map<int, std::deque<std::span<std::byte>>> rooms_;
};

/// Runs `body` once per rank, each in a thread of its own. A rank that throws fails the test.
inline void on_processes(int size, const std::function<void(World&)>& body) {
  MessageQueues queues;
  std::vector<std::string> failures(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          ThreadWorld world(queues, rank, size);
          body(world);
        } catch (const std::exception& error) {
          failures[static_cast<std::size_t>(rank)] = error.what();
          queues.close();
        }
      });
    }
  }
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    EXPECT_EQ(failures[rank], "") << "on rank " << rank << " of " << size;
  }
  EXPECT_TRUE(queues.is_empty()) << "a message was sent that nobody received";
}

/// A rank among others of which nothing is asked but its number.
class NumberedWorld final : public World {
 public:
  NumberedWorld(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int /*to*/, std::span<const std::byte> /*bytes*/) override { refuse(); }
  void post(int /*from*/, std::span<std::byte> /*room*/) override { refuse(); }
  std::size_t take(int /*from*/) override { refuse(); }
  void broadcast(int /*root*/, std::span<std::byte> /*bytes*/) override { refuse(); }
  void all_gather(std::span<const std::byte> /*mine*/, Gathered& /*all*/) override { refuse(); }
  std::int64_t minimum(std::int64_t /*mine*/) override { refuse(); }
  void add_up(std::span<float> /*numbers*/) override { refuse(); }
  void add_up(std::span<double> /*numbers*/) override { refuse(); }
  [[noreturn]] void abort(ExitCode /*code*/) override { std::abort(); }
  std::string description() const override { return "a number"; }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("no messages here"); }

  int rank_;
  int size_;
};

}  // namespace residuum::test
