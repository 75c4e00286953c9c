#pragma once
// The trainer runs a training: the protocol makes one version of the model after the other until
// the run is done, asked to stop, or diverged. Versions are shown to an observer, and checkpoints
// are saved if the training has them.

#include <cstdint>
#include <optional>
#include <string>

#include "core/measurement/step_view.h"
#include "core/training/divergence.h"
#include "core/training/training.h"

namespace residuum {

struct Outcome {
  enum class State { finished, diverged, stopped };
  State state = State::finished;
  std::string message;                   // where and why, unless finished
  std::optional<Divergence> divergence;  // the same for programs, if diverged
  std::uint64_t iterations = 0;          // iterations done
  std::optional<Evaluation> evaluation;  // at the last model
  std::optional<TestResult> test;
  /// The totals of a run that ended by a budget of gradients or virtual time; else the last row has
  /// them.
  std::optional<RunTotals> totals;
  double wall_s = 0;
};

/// Trains; the call is collective over the processes of the cluster. The outcome is the same on
/// all, except for `evaluation` and `test`, which only the root has. The same Training gives the
/// same bits at any number of processes.
Outcome train(const Training& training, StepObserver& observer);

}  // namespace residuum
