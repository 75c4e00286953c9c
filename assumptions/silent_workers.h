#pragma once
// A worker is silent if it takes part in a run and has sent no entry so far. What is measured of
// its empty messages says nothing of the method.

#include <cstdint>
#include <vector>

#include "core/cluster/run_state.h"
#include "core/measurement/step_view.h"
#include "core/record/record.h"

namespace residuum {

class SilentWorkers {
 public:
  /// Takes the next measured iteration. Adds the check "every-worker-sends", the number of silent
  /// workers against 0, while there are any, and once more when there are none any longer.
  void observe(const StepView& view, std::vector<Check>& checks);

  /// Returns how many workers were silent after the last iteration that was measured.
  std::uint64_t count() const { return count_; }

  /// Passes what one iteration leaves for the next.
  void visit(RunState& state);

 private:
  void note_who_takes_part(const StepView& view);

  std::vector<std::uint8_t> takes_part_;  // of every worker, in an iteration that was measured
  std::uint64_t count_ = 0;
};

}  // namespace residuum
