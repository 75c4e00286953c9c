#pragma once
// The processes a run has, and how bytes move between them. Algorithms are not written against
// this, but against Cluster, which speaks of workers.

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

/// What every process had to say, one part after the other.
struct Gathered {
  Bytes bytes;
  std::vector<std::size_t> begins;  // of the parts, and the end of the last

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

  /// Point to point; a pair of processes sees its messages in the order they were sent. Both sides
  /// go through all messages of a run in one global order, so blocking calls cannot deadlock.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  /// Where the next message from that process may arrive while this one does something else. Room
  /// for messages from one process is used in the order it was posted in; a message must fit.
  virtual void post(int from, std::span<std::byte> room) = 0;
  /// Waits for the message in the room that was posted first of what has not been taken; its
  /// length.
  virtual std::size_t take(int from) = 0;

  /// A message of exactly so many bytes.
  void receive(int from, std::span<std::byte> bytes);

  // Collective: all processes make the same calls in the same order.
  /// As many bytes on every process.
  virtual void broadcast(int root, std::span<std::byte> bytes) = 0;
  virtual void all_gather(std::span<const std::byte> mine, Gathered& all) = 0;
  virtual std::int64_t minimum(std::int64_t mine) = 0;
  /// numbers := their sum over all processes, in an order that is the library's.
  virtual void add_up(std::span<float> numbers) = 0;
  virtual void add_up(std::span<double> numbers) = 0;

  /// Ends every process of the job; the others may be waiting for this one.
  [[noreturn]] virtual void abort(ExitCode code) = 0;

  /// Name and version of what moves the bytes.
  virtual std::string description() const = 0;
};

/// Bytes of which only the root knows how many there are.
void broadcast(World& world, int root, Bytes& bytes);

/// One process, no messages.
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
