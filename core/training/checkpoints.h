#pragma once

#include <cstdint>
#include <functional>

#include "core/cluster/run_state.h"

namespace residuum {

/// Saves the state of a run, so that it can be continued.
class Checkpoints {
 public:
  using Visit = std::function<void(RunState& state)>;

  Checkpoints() = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  Checkpoints(Checkpoints&&) = delete;
  Checkpoints& operator=(Checkpoints&&) = delete;
  virtual ~Checkpoints() = default;

  /// Loads the checkpoint, if there is one, and returns its iterations done, else 0. The call is
  /// collective.
  virtual std::uint64_t load(const Visit& state) = 0;
  /// True if it is time to save; called on the root.
  virtual bool due() = 0;
  /// Saves the state after so many iterations. The call is collective.
  virtual void save(std::uint64_t iterations, const Visit& state) = 0;
};

}  // namespace residuum
