#include "core/cluster/callback_world.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/cluster/part_world.h"

namespace residuum {
namespace {

/// Carries the messages. A message goes as its length, then its bytes, since the receiver knows
/// only the most that it can have. Collective calls are those of a PartWorld of all processes.
class CallbackLinks final : public World {
 public:
  explicit CallbackLinks(Transport transport)
      : transport_(std::move(transport)), rooms_(static_cast<std::size_t>(transport_.size)) {}

  int rank() const override { return transport_.rank; }
  int size() const override { return transport_.size; }

  void send(int to, std::span<const std::byte> bytes) override {
    const std::uint64_t length = bytes.size();
    call([&] {
      transport_.send(to, std::as_bytes(std::span(&length, 1)));
      if (length > 0) {
        transport_.send(to, bytes);
      }
    });
  }

  void post(int from, std::span<std::byte> room) override { rooms_of(from).push_back(room); }

  std::size_t take(int from) override {
    const std::span<std::byte> room = rooms_of(from).front();
    rooms_of(from).pop_front();
    std::uint64_t length = 0;
    call([&] {
      transport_.receive(from, std::as_writable_bytes(std::span(&length, 1)));
      if (length > room.size()) {
        resource_error("a message from process {} has {} bytes where at most {} fit",
                       from,
                       length,
                       room.size());
      }
      if (length > 0) {
        transport_.receive(from, room.first(length));
      }
    });
    return length;
  }

  void broadcast(int /*root*/, std::span<std::byte> /*bytes*/) override { refuse(); }
  void all_gather(std::span<const std::byte> /*mine*/, Gathered& /*all*/) override { refuse(); }
  std::int64_t minimum(std::int64_t /*mine*/) override { refuse(); }
  void add_up(std::span<float> /*numbers*/) override { refuse(); }
  void add_up(std::span<double> /*numbers*/) override { refuse(); }
  /// The process belongs to somebody else, and goes on.
  [[noreturn]] void abort(ExitCode code) override {
    throw Error(code, "the processes cannot go on together");
  }
  std::string description() const override { return "the processes of a training outside"; }

 private:
  [[noreturn]] static void refuse() { std::abort(); }  // a PartWorld makes no such call

  std::deque<std::span<std::byte>>& rooms_of(int from) {
    return rooms_[static_cast<std::size_t>(from)];
  }

  template <class Action>
  void call(const Action& action) {
    if (lost_) {
      throw Error(*lost_);
    }
    try {
      action();
    } catch (const Error& error) {
      lost_ = error;
      throw;
    }
  }

  Transport transport_;
  std::vector<std::deque<std::span<std::byte>>> rooms_;  // posted and not yet taken, by process
  std::optional<Error> lost_;
};

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

class CallbackWorld final : public World {
 public:
  explicit CallbackWorld(Transport transport)
      : links_(std::move(transport)), all_(links_, all_ranks(links_.size())) {}

  int rank() const override { return links_.rank(); }
  int size() const override { return links_.size(); }
  void send(int to, std::span<const std::byte> bytes) override { links_.send(to, bytes); }
  void post(int from, std::span<std::byte> room) override { links_.post(from, room); }
  std::size_t take(int from) override { return links_.take(from); }
  void broadcast(int root, std::span<std::byte> bytes) override { all_.broadcast(root, bytes); }
  void all_gather(std::span<const std::byte> mine, Gathered& all) override {
    all_.all_gather(mine, all);
  }
  std::int64_t minimum(std::int64_t mine) override { return all_.minimum(mine); }
  void add_up(std::span<float> numbers) override { all_.add_up(numbers); }
  void add_up(std::span<double> numbers) override { all_.add_up(numbers); }
  [[noreturn]] void abort(ExitCode code) override { links_.abort(code); }
  std::string description() const override { return links_.description(); }

 private:
  CallbackLinks links_;
  PartWorld all_;
};

}  // namespace

std::unique_ptr<World> make_callback_world(Transport transport) {
  if (transport.size == 1) {
    return make_single_process();
  }
  return std::make_unique<CallbackWorld>(std::move(transport));
}

}  // namespace residuum
