#pragma once
// A World is the processes of a run, and moves bytes between them. Algorithms use Cluster instead,
// which speaks of workers.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace residuum {

using Bytes = std::vector<std::byte>;

/// Gathered holds the bytes of every process, one part after the other.
struct Gathered {
  Bytes bytes;
  std::vector<std::size_t> begins;  // where each part begins, and the end of the last

  std::size_t parts() const { return begins.size() - 1; }
  std::span<const std::byte> part(std::size_t rank) const {
    return std::span(bytes).subspan(begins[rank], begins[rank + 1] - begins[rank]);
  }
};

class World {
 public:
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  World(World&&) = delete;
  World& operator=(World&&) = delete;
  virtual ~World() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_root() const { return rank() == 0; }
  /// Returns the place of this process among those of the whole job on its machine, from 0. It
  /// decides which of the machine's devices the process takes.
  virtual int local_rank() const { return 0; }

  /// Sends a message; messages from one process to another arrive in the order they were sent. A
  /// process may wait here until the other has posted room for it. All processes go through the
  /// messages of a run in one global order, or post room for a message before they send their own,
  /// so that nobody waits for ever.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  /// Posts room in which the next message from that process may arrive while this one computes.
  /// Rooms for one process are used in the order they were posted; a message must fit.
  virtual void post(int from, std::span<std::byte> room) = 0;
  /// Waits for the message in the oldest posted room that has not been taken, and returns its
  /// length.
  virtual std::size_t take(int from) = 0;

  /// Receives a message of exactly bytes.size() bytes.
  void receive(int from, std::span<std::byte> bytes);

  // These calls are collective: all processes make them in the same order.
  /// Copies the root's bytes to all; the number of bytes is the same on every process.
  virtual void broadcast(int root, std::span<std::byte> bytes) = 0;
  virtual void all_gather(std::span<const std::byte> mine, Gathered& all) = 0;
  virtual std::int64_t minimum(std::int64_t mine) = 0;
  /// numbers := their sum over all processes, in an order that the library chooses.
  virtual void add_up(std::span<float> numbers) = 0;
  virtual void add_up(std::span<double> numbers) = 0;

  /// Ends every process of the job; the others may be waiting for this one.
  [[noreturn]] virtual void abort(ExitCode code) = 0;

  /// True where `send` returns only when the message has been received, however long it is.
  virtual bool sends_wait() const { return false; }

  /// Returns name and version of the library that moves the bytes.
  virtual std::string description() const = 0;
};

/// Broadcasts bytes whose number only the root knows.
void broadcast(World& world, int root, Bytes& bytes);

/// Makes a World of one process, which sends no messages.
std::unique_ptr<World> make_single_process();

/// An Error that every process throws at the same place, so that all can end in order.
class SharedError : public Error {
 public:
  using Error::Error;
};

/// Runs `action` on every process; if it throws an Error (or runs out of memory) on any of them,
/// every process throws the error of the lowest rank that failed, as a SharedError. Collective.
void together(World& world, const std::function<void()>& action);

}  // namespace residuum
