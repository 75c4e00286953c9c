#pragma once
// Slowest keeps one counter per worker and the least of them. A counter only grows, so a scan is
// due only when the last of the least has moved: O(1) per step of a counter, amortised.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/protocols/actors/actor_state.h"

namespace residuum {

class Slowest {
 public:
  explicit Slowest(std::size_t workers) : counters_(workers), at_least_(workers) {}

  std::uint64_t operator[](std::size_t worker) const { return counters_[worker]; }
  /// Returns the least counter.
  std::uint64_t least() const { return least_; }

  /// Raises a counter to `value`; a smaller value changes nothing. Returns true if the least of all
  /// counters has grown.
  bool raise(std::size_t worker, std::uint64_t value) {
    const std::uint64_t before = counters_[worker];
    if (value <= before) {
      return false;
    }
    counters_[worker] = value;
    if (before > least_ || --at_least_ > 0) {
      return false;
    }
    find_least();
    return true;
  }

  void visit(ActorState& state) {
    state.row(counters_);
    find_least();
  }

 private:
  void find_least() {
    least_ = *std::min_element(counters_.begin(), counters_.end());
    at_least_ = static_cast<std::size_t>(std::count(counters_.begin(), counters_.end(), least_));
  }

  std::vector<std::uint64_t> counters_;
  std::uint64_t least_ = 0;
  std::size_t at_least_;  // counters that equal the least
};

}  // namespace residuum
