#pragma once
// How workers keep in step: the rule that makes one version of the model after the other. One file
// and one registry line per protocol. A protocol is a rule without state; a loop is its use in one
// run. Whoever counts versions (the trainer, cadences, checkpoints) knows nothing else of either.

#include <cstdint>
#include <memory>
#include <span>

#include "core/config/registry.h"
#include "core/protocols/stage.h"

namespace residuum {

/// One run of a protocol, of which a stage is the only thing it touches.
class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  Loop(Loop&&) = delete;
  Loop& operator=(Loop&&) = delete;
  virtual ~Loop() = default;

  /// Makes version t + 1; the processes' agreement on how that ends, in which the version is not
  /// made where it diverged. Collective.
  virtual StepEnd advance(std::uint64_t t) = 0;
};

class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  Protocol(Protocol&&) = delete;
  Protocol& operator=(Protocol&&) = delete;
  virtual ~Protocol() = default;

  /// The loop outlives neither the protocol nor the stage.
  virtual std::unique_ptr<Loop> start(Stage<float>& stage) const = 0;
  virtual std::unique_ptr<Loop> start(Stage<double>& stage) const = 0;
};

std::span<const Entry<Protocol>> protocols();

/// Builds what the section's `kind` names; the caller finishes the section.
std::unique_ptr<Protocol> make_protocol(const Section& section);

/// "bsp", for those who do not choose.
const Protocol& bulk_synchronous();

}  // namespace residuum
