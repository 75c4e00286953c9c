#pragma once
// A probe turns the view of an iteration into quantities and checks. It watches and never changes a
// run. One file and one registry line per probe.

#include <memory>
#include <span>
#include <vector>

#include "core/config/registry.h"
#include "core/record/record.h"
#include "core/trainer/step_view.h"

namespace residuum {

class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  Probe(Probe&&) = delete;
  Probe& operator=(Probe&&) = delete;
  virtual ~Probe() = default;

  /// Called on the root process for every measured iteration, in order.
  virtual void observe(const StepView& view, Row& row, std::vector<Check>& checks) = 0;
};

/// A probe's example is `{}`: probes take no keys.
std::span<const Entry<Probe>> probes();

}  // namespace residuum
