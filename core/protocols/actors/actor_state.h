#pragma once
// An ActorState passes the numbers of actors and of the simulation to a row of bytes, or back. One
// list of calls serves both directions, as with RunState (core/cluster/run_state.h); a checkpoint
// stores the bytes as one list.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/error.h"

namespace residuum {

/// Throws a usage error unless the saved value is possible.
inline void check_saved(bool is_sound) {
  require(is_sound, "the saved state of the protocol is damaged");
}

/// Throws a usage error where a message comes that cannot come at this point. No run sends one by
/// itself; one that went on from a damaged checkpoint does.
inline void check_order(bool holds) {
  require(holds,
          "the saved state of the protocol is damaged: a message came that cannot come at this "
          "point; remove the checkpoint to start the run anew");
}

class ActorState {
 public:
  /// Begins to save: values are appended to `bytes`.
  explicit ActorState(std::vector<std::byte>& bytes) : saved_(&bytes) {}
  /// Begins to load: values are taken from the front of `bytes`, which must outlive this object.
  explicit ActorState(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool loads() const { return saved_ == nullptr; }
  /// Returns true if all that was saved has been loaded.
  bool is_at_end() const { return rest_.empty(); }

  /// Saves or loads a value without padding, so that equal states have equal bytes.
  template <class T>
  requires(std::has_unique_object_representations_v<T> ||
           std::is_floating_point_v<T>) void value(T& value) {
    pass(std::as_writable_bytes(std::span(&value, 1)));
  }

  /// Saves or loads a list and its length. `pass_element` passes one element.
  template <class T, class PassElement>
  void list(std::vector<T>& values, const PassElement& pass_element) {
    std::uint64_t size = values.size();
    value(size);
    if (loads()) {
      // An element has at least one byte, so a damaged length does not exhaust memory.
      require(size <= rest_.size(), "the saved state of the protocol is damaged: it ends early");
      values.resize(size);
    }
    for (T& element : values) {
      pass_element(element);
    }
  }
  /// Saves or loads a record of numbers without padding.
  template <class T>
  requires(std::is_trivially_copyable_v<T>) void record(T& record) {
    pass(std::as_writable_bytes(std::span(&record, 1)));
  }
  /// Saves or loads many numbers and their count.
  template <class T>
  requires(std::is_arithmetic_v<T> ||
           std::is_same_v<T, std::byte>) void numbers(std::vector<T>& values) {
    std::uint64_t size = values.size();
    value(size);
    if (loads()) {
      require(size <= rest_.size() / sizeof(T),
              "the saved state of the protocol is damaged: it ends early");
      values.resize(size);
    }
    pass(std::as_writable_bytes(std::span(values)));
  }
  template <class T>
  void list(std::vector<T>& values) {
    list(values, [this](T& element) { value(element); });
  }
  /// Saves or loads a list whose length is decided by the options of the run.
  template <class T>
  void row(std::vector<T>& values) {
    const std::size_t size = values.size();
    list(values);
    require(values.size() == size, "the saved state is of another number of actors");
  }

 private:
  void pass(std::span<std::byte> bytes) {
    if (!loads()) {
      saved_->insert(saved_->end(), bytes.begin(), bytes.end());
      return;
    }
    require(bytes.size() <= rest_.size(),
            "the saved state of the protocol is damaged: it ends early");
    std::copy_n(rest_.begin(), bytes.size(), bytes.begin());
    rest_ = rest_.subspan(bytes.size());
  }

  std::vector<std::byte>* saved_ = nullptr;
  std::span<const std::byte> rest_;
};

}  // namespace residuum
