#pragma once
// A sleeper is asked how long a real run waits for a gradient that a study makes last.

#include <cstdint>

namespace residuum {

/// A sleeper may let a real run wait for less than the study says; tests put in one that only
/// records.
class Sleeper {
 public:
  Sleeper() = default;
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  Sleeper(Sleeper&&) = delete;
  Sleeper& operator=(Sleeper&&) = delete;
  virtual ~Sleeper() = default;

  /// Returns for how many seconds, from its beginning, the gradient of this number of a worker is
  /// to last at least, where the study says `seconds`.
  virtual double asked(int worker, std::uint64_t number, double seconds) = 0;
};

}  // namespace residuum
