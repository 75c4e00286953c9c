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
  virtual Bytes receive(int from) = 0;

  // Collective: all processes make the same calls in the same order.
  virtual void broadcast(int root, Bytes& bytes) = 0;
  virtual std::vector<Bytes> all_gather(std::span<const std::byte> mine) = 0;
  virtual std::int64_t minimum(std::int64_t mine) = 0;

  /// Ends every process of the job; the others may be waiting for this one.
  [[noreturn]] virtual void abort(ExitCode code) = 0;

  /// Name and version of what moves the bytes.
  virtual std::string description() const = 0;
};

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
