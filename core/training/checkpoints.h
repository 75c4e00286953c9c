#pragma once

#include <cstdint>
#include <functional>

#include "core/training/run_state.h"

namespace residuum {

/// Keeps where a run stands, so that it can go on there.
class Checkpoints {
 public:
  using Visit = std::function<void(RunState& state)>;

  Checkpoints() = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  Checkpoints(Checkpoints&&) = delete;
  Checkpoints& operator=(Checkpoints&&) = delete;
  virtual ~Checkpoints() = default;

  /// Iterations done: 0, or those of a checkpoint, whose state is then loaded. Collective.
  virtual std::uint64_t load(const Visit& state) = 0;
  /// Whether it is time; asked on the root.
  virtual bool due() = 0;
  /// Collective.
  virtual void save(std::uint64_t iterations, const Visit& state) = 0;
};

}  // namespace residuum
