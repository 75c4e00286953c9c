#pragma once
// RunState lists the numbers that a run needs to be continued; the same list serves to save and to
// load. Numbers of a worker are stored per worker, so that a run can continue at another number of
// processes:
//
//   checkpoint   | shared | worker 0 | worker 1 | ... | worker P - 1 | root | ...
//
//   save   a process that hosts a worker sends its numbers to the root, which writes them; what is
//          shared or the root's own it has itself
//   load   the root reads; shared numbers go to all processes, a worker's to the one that hosts it
//
// Every process goes through the same list, so that each sends and receives in the order of the
// file.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/error.h"

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
  /// Reads `size` bytes and drops them.
  virtual void skip(std::uint64_t size);
};

/// Appends the saved values to bytes in memory.
class StateWriter final : public StateStream {
 public:
  explicit StateWriter(Bytes& bytes) : bytes_(bytes) {}
  void pass(std::span<std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

 private:
  Bytes& bytes_;
};

/// Reads a state from bytes in memory, which must outlive it. Bytes that end too early are an
/// Error.
class StateReader final : public StateStream {
 public:
  explicit StateReader(std::span<const std::byte> bytes) : left_(bytes) {}
  void pass(std::span<std::byte> bytes) override {
    require(bytes.size() <= left_.size(), "the saved state ends too early");
    std::copy_n(left_.begin(), bytes.size(), bytes.begin());
    left_ = left_.subspan(bytes.size());
  }
  bool is_at_end() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

/// RunState saves or loads the parts of a run's state; its calls are collective over the cluster,
/// except to measure. While it loads it throws nothing, because the other processes wait for this
/// one: the first error is kept, and variables passed after it stay as they were.
class RunState {
 public:
  /// To measure is to skip what loading would read: a stream of another length then throws. Only
  /// the root measures, and the values that it saves stay as they are.
  enum class Direction { save, load, measure };

  /// `on_root` is null on the other processes.
  RunState(const Cluster& cluster, StateStream* on_root, Direction direction)
      : cluster_(cluster), stream_(on_root), direction_(direction) {}

  bool is_root() const { return stream_ != nullptr; }
  bool loads() const { return direction_ == Direction::load; }
  bool saves() const { return direction_ == Direction::save; }

  /// Calls `action`, which may find the loaded state damaged; an Error of it is kept.
  void examine(const std::function<void()>& action);
  /// Returns the first error of loading, on this process.
  const std::optional<Error>& damage() const { return damage_; }

  /// Saves or loads a number that only the root has.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void root(T& value) { pass_root(std::as_writable_bytes(std::span(&value, 1))); }
  /// Saves or loads numbers that only the root has; the training decides their count, and loading
  /// keeps it.
  template <class T>
  void root(std::vector<T>& values) {
    pass_root(std::as_writable_bytes(std::span(values)));
  }

  /// Saves or loads numbers that only the root has, as many as were saved. Memory grows with what
  /// has been read, so that a damaged count reaches the end of the file before it exhausts memory.
  template <class T>
  void root_list(std::vector<T>& values) {
    const std::uint64_t size = root_count(values.size());
    if (saves()) {
      root(values);
      return;
    }
    if (!loads()) {
      skip_numbers(size, sizeof(T));
      return;
    }
    constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 16U;
    values.clear();
    while (is_root() && !damage_ && values.size() < size) {
      const auto begin = values.size();
      values.resize(begin + std::min(kAtOnce, size - begin));
      pass_root(std::as_writable_bytes(std::span(values).subspan(begin)));
    }
  }

  /// Saves or loads the number of entries that follow: saves `count`, or returns the one that was
  /// saved, 0 on processes other than the root.
  std::uint64_t root_count(std::uint64_t count);

  /// Saves or loads a value that is the same on all processes.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void shared(T& value) { pass_shared(std::as_writable_bytes(std::span(&value, 1))); }
  template <class T>
  void shared(std::vector<T>& values) {
    pass_shared(std::as_writable_bytes(std::span(values)));
  }

  /// Saves or loads `length` values of each worker; `of(slot)` returns a span of those of a worker
  /// of this process.
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
  void skip_numbers(std::uint64_t count, std::size_t size_of_one);
  void pass_shared(std::span<std::byte> bytes);
  void receive(int from, std::span<std::byte> bytes);
  /// Saves or loads the bytes of one worker; `bytes` is used on the process that has the worker.
  void pass_worker(int worker, std::span<std::byte> bytes, std::size_t size);

  const Cluster& cluster_;
  StateStream* stream_;
  Direction direction_;
  std::optional<Error> damage_;
};

}  // namespace residuum
