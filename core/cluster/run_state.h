#pragma once
// RunState lists the numbers that a run needs to be continued; the same list serves to save and to
// load. Numbers of a worker are stored per worker, so that a run can continue at another number of
// processes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/cluster/cluster.h"

namespace residuum {

/// A stream of bytes in a fixed order, on the root.
class StateStream {
 public:
  StateStream() = default;
  StateStream(const StateStream&) = delete;
  StateStream& operator=(const StateStream&) = delete;
  StateStream(StateStream&&) = delete;
  StateStream& operator=(StateStream&&) = delete;
  virtual ~StateStream() = default;

  /// Writes the bytes, or reads into them.
  virtual void pass(std::span<std::byte> bytes) = 0;
};

/// RunState visits the parts of a run's state; its calls are collective over the cluster.
class RunState {
 public:
  enum class Direction { save, load };

  /// `on_root` is null on the other processes.
  RunState(const Cluster& cluster, StateStream* on_root, Direction direction)
      : cluster_(cluster), stream_(on_root), direction_(direction) {}

  bool is_root() const { return stream_ != nullptr; }
  bool loads() const { return direction_ == Direction::load; }

  /// Passes a number that only the root has.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void root(T& value) { pass_root(std::as_writable_bytes(std::span(&value, 1))); }
  /// Passes numbers that only the root has; the training decides their count, and loading keeps it.
  template <class T>
  void root(std::vector<T>& values) {
    pass_root(std::as_writable_bytes(std::span(values)));
  }

  /// Passes numbers that only the root has, as many as were saved. Memory grows with what has been
  /// read, so that a damaged count reaches the end of the file before it exhausts memory.
  template <class T>
  void root_list(std::vector<T>& values) {
    std::uint64_t size = values.size();
    root(size);
    if (!loads()) {
      root(values);
      return;
    }
    constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 16U;
    values.clear();
    while (is_root() && values.size() < size) {
      const auto begin = values.size();
      values.resize(begin + std::min(kAtOnce, size - begin));
      pass_root(std::as_writable_bytes(std::span(values).subspan(begin)));
    }
  }

  /// Passes a value that is the same on all processes.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void shared(T& value) { pass_shared(std::as_writable_bytes(std::span(&value, 1))); }
  template <class T>
  void shared(std::vector<T>& values) {
    pass_shared(std::as_writable_bytes(std::span(values)));
  }

  /// Passes `length` values of each worker; `of(slot)` returns a span of those of a worker of this
  /// process.
  template <class T, class Of>
  requires std::is_trivially_copyable_v<T>
  void workers(std::size_t length, const Of& of) {
    for (int worker = 0; worker < cluster_.workers(); ++worker) {
      const std::span<T> own = cluster_.here(worker) ? of(cluster_.slot(worker)) : std::span<T>();
      pass_worker(worker, std::as_writable_bytes(own), length * sizeof(T));
    }
  }

 private:
  void pass_root(std::span<std::byte> bytes);
  void pass_shared(std::span<std::byte> bytes);
  void receive(int from, std::span<std::byte> bytes);
  /// Passes the bytes of one worker; `bytes` is used on the process that has the worker.
  void pass_worker(int worker, std::span<std::byte> bytes, std::size_t size);

  const Cluster& cluster_;
  StateStream* stream_;
  Direction direction_;
};

}  // namespace residuum
