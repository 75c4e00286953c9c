#pragma once
// The run: version after version of the model by the run's protocol, until it is done, asked to
// stop or diverged; saved where somebody keeps it, and shown to whoever looks.

#include <cstdint>
#include <optional>
#include <string>

#include "core/measurement/step_observer.h"
#include "core/training/divergence.h"
#include "core/training/training.h"

namespace residuum {

struct Outcome {
  enum class State { finished, diverged, stopped };
  State state = State::finished;
  std::string message;                   // where and why, unless finished
  std::optional<Divergence> divergence;  // the same for programs, if diverged
  std::uint64_t iterations = 0;          // done
  std::optional<Evaluation> evaluation;  // at the last model
  std::optional<TestResult> test;
  double wall_s = 0;
};

/// Collective over the processes of the cluster; the same outcome on all, but for `evaluation` and
/// `test`, which the root has. Same Training, same bits, at any number of processes.
Outcome train(const Training& training, StepObserver& observer);

}  // namespace residuum
